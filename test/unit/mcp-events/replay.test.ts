/** The past of an event, as its upstream has it: `replay` of `createEvent`. */
import { afterEach, expect, it, test, vi } from 'vitest'
import * as z from 'zod'
import {
  createEvent,
  type ReplayContext,
  type ReplayPage,
  type ReplayQuery,
} from '../../../src/mcp-events.ts'
import { modernRequest, StreamReader } from '../_client.ts'
import { createEventServer, TOKENS } from './_events.ts'

afterEach(() => void vi.useRealTimers())

/** An upstream with a numbered history; a cursor is the number of the next event. */
function createUpstream(count = 0) {
  const history = Array.from({ length: count }, (_none, index) => occurrence(index))
  const asked: { query: ReplayQuery; context: ReplayContext }[] = []
  const upstream = {
    history,
    asked,
    /** What `replay` returns instead of a page. */
    instead: undefined as undefined | (() => unknown),
    replay(query: ReplayQuery, context: ReplayContext): ReplayPage<{ title: string }> {
      asked.push({ query, context })
      if (upstream.instead !== undefined) return upstream.instead() as ReplayPage<{ title: string }>
      const { cursor, limit } = query
      if (cursor === null) return { events: [], cursor: String(history.length) }
      const next = Number(cursor) + limit
      return {
        events: history.slice(Number(cursor), next),
        cursor: String(Math.min(next, history.length)),
        hasMore: next < history.length,
      }
    },
  }
  return upstream
}

const occurrence = (index: number) => ({
  eventId: `e${index}`,
  timestamp: new Date(Date.UTC(2026, 10, 29, 12, 0, index)),
  data: { title: `t${index}` },
})

function start(upstream: ReturnType<typeof createUpstream>, options: object = {}) {
  const type = createEvent({
    id: 'incident.created',
    description: 'From the past',
    inputSchema: z.object({ title: z.string().optional() }),
    payloadSchema: z.object({ title: z.string() }),
    index: ['title'],
    replay: upstream.replay,
  })
  const server = createEventServer({ types: { type }, streamIntervalMs: 5, ...options })
  const poll = (params: object = {}) => server.call('alice', 'events/poll', { name: type.id, ...params })
  return {
    ...server,
    poll,
    emit: (index: number) =>
      server.server.events.emit(type.id, { title: `t${index}` }, { eventId: `e${index}` }),
    stream: async (params: object) => {
      const request = modernRequest(
        'events/stream',
        { name: type.id, ...params },
        { id: 'stream', headers: { authorization: `Bearer ${TOKENS.alice}` } },
      )
      return new StreamReader(await server.server.handle(request, {}))
    },
  }
}

type Notified = { params: { eventId?: string; cursor: string; truncated?: boolean } }
const idsIn = (result: unknown) => (result as { events: { eventId: string }[] }).events.map((e) => e.eventId)

it('a poll begins with the cursor of now, and continues with it in the history [events.replay]', async () => {
  const upstream = createUpstream(3)
  const { poll } = start(upstream)
  const { result: first } = await poll({ cursor: null })
  expect(first).toMatchObject({ events: [], truncated: false, hasMore: false })
  for (let index = 3; index < 8; index++) upstream.history.push(occurrence(index))
  const { result: one } = await poll({ cursor: first!.cursor, maxEvents: 2, arguments: { title: 't4' } })
  expect(one).toMatchObject({
    events: [{ eventId: 'e4', timestamp: '2026-11-29T12:00:04.000Z' }],
    hasMore: true,
  })
  const { result: two } = await poll({ cursor: one!.cursor })
  expect(idsIn(two)).toEqual(['e5', 'e6', 'e7'])
  expect(two).toMatchObject({ hasMore: false, truncated: false })
  const { query, context } = upstream.asked[1]!
  expect(query).toEqual({ cursor: '3', args: { title: 't4' }, limit: 2 })
  expect(context).toMatchObject({ principal: '["alice",""]', auth: { clientId: 'alice' } })
  expect(context.signal.aborted).toBe(true)
})

it('a stream begins with the history, has what is emitted after it, and each once', async () => {
  const upstream = createUpstream(2)
  const { poll, stream, emit } = start(upstream)
  const { result } = await poll()
  for (let index = 2; index < 120; index++) upstream.history.push(occurrence(index))
  const reader = await stream({ cursor: result!.cursor })
  const ids: string[] = []
  let last: Notified | undefined
  const read = async () => {
    last = (await reader.next()) as unknown as Notified
    if (last.params.eventId !== undefined) ids.push(last.params.eventId)
  }
  await read()
  expect(last).toMatchObject({ params: { cursor: result!.cursor, truncated: false } })
  while (ids.length < 118) await read()
  await emit(120)
  await read()
  expect(ids).toEqual(Array.from({ length: 119 }, (_none, index) => `e${index === 118 ? 120 : index + 2}`))
  await reader.cancel()

  // The log has the position.
  await emit(121)
  const asked = upstream.asked.length
  const again = await stream({ cursor: last!.params.cursor })
  await again.next()
  expect(await again.next()).toMatchObject({ params: { eventId: 'e121' } })
  expect(upstream.asked).toHaveLength(asked)
  await again.cancel()
})

it('what is emitted while the history is read comes once', async () => {
  const upstream = createUpstream(1)
  const { poll, stream, emit } = start(upstream)
  const { result } = await poll()
  upstream.history.push(occurrence(1))
  let isEmitted = false
  const inner = upstream.history.slice.bind(upstream.history)
  upstream.history.slice = (...range) => {
    if (!isEmitted) void emit(1)
    isEmitted = true
    return inner(...range)
  }
  const reader = await stream({ cursor: result!.cursor })
  await reader.next()
  expect(await reader.next()).toMatchObject({ params: { eventId: 'e1' } })
  await emit(2)
  expect(await reader.next()).toMatchObject({ params: { eventId: 'e2' } })
  await reader.cancel()
})

it('a gap of the log is filled from the history', async () => {
  const upstream = createUpstream(1)
  const { poll, stream, emit } = start(upstream, { maxEvents: 2 })
  const reader = await stream({ cursor: (await poll()).result!.cursor })
  await reader.next()
  await emit(1)
  const { params } = (await reader.next()) as unknown as Notified
  await reader.cancel()
  for (let index = 1; index < 6; index++) {
    upstream.history.push(occurrence(index))
    if (index > 1) await emit(index)
  }
  const { result } = await poll({ cursor: params.cursor })
  expect(idsIn(result)).toEqual(['e1', 'e2', 'e3', 'e4', 'e5'])
  expect(result).toMatchObject({ truncated: false })
})

it('a position of a log without a history is a gap, and continues now', async () => {
  const upstream = createUpstream(3)
  const { poll } = start(upstream)
  const { result } = await poll({ cursor: 'other.3' })
  expect(result).toMatchObject({ events: [], truncated: true })
  upstream.history.push(occurrence(3))
  expect(idsIn((await poll({ cursor: result!.cursor })).result)).toEqual(['e3'])
})

it('events of the history that cannot be sent are reported, and hold up no other', async () => {
  const upstream = createUpstream(1)
  const { poll, errors } = start(upstream)
  const { result: first } = await poll()
  const bad = [
    { ...occurrence(1), eventId: 'a.b' },
    { ...occurrence(1), timestamp: 'yesterday' },
    { ...occurrence(1), data: { title: 1 } },
    { ...occurrence(1), data: { title: 'x'.repeat(61_000) } },
    null,
  ]
  upstream.instead = () => ({ events: [...bad, occurrence(2)], cursor: '3', truncated: true })
  const { result } = await poll({ cursor: first!.cursor })
  expect(idsIn(result)).toEqual(['e2'])
  expect(result).toMatchObject({ truncated: true, hasMore: false })
  expect(errors).toHaveLength(bad.length)
})

it('leaves out what is older than maxAgeMs, and says so', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 10, 29, 12, 0, 10) })
  const upstream = createUpstream(0)
  const { poll } = start(upstream)
  const { result: first } = await poll()
  for (let index = 0; index < 8; index++) upstream.history.push(occurrence(index))
  const { result } = await poll({ cursor: first!.cursor, maxAgeMs: 5000 })
  expect(idsIn(result)).toEqual(['e5', 'e6', 'e7'])
  expect(result).toMatchObject({ truncated: true })
})

test.each([
  [
    'throws',
    () => {
      throw new Error('upstream is down: secret-1')
    },
  ],
  ['returns nothing', () => undefined],
  ['has no cursor', () => ({ events: [] })],
  ['has a long cursor', () => ({ events: [], cursor: 'é'.repeat(513) })],
  [
    'returns more than the limit',
    () => ({ events: Array.from({ length: 51 }, (_n, i) => occurrence(i)), cursor: '9' }),
  ],
  ['has more at the same cursor', () => ({ events: [], cursor: '0', hasMore: true })],
  ['has a text as hasMore', () => ({ events: [], cursor: '9', hasMore: 'no' })],
])('a history that %s → -32603, and the reason is reported', async (_what, instead) => {
  const upstream = createUpstream(0)
  const { poll, errors } = start(upstream)
  const { result } = await poll()
  upstream.instead = instead
  const { error } = await poll({ cursor: result!.cursor })
  expect(error).toMatchObject({ code: -32603 })
  expect(error!.message).not.toContain('secret-1')
  expect(errors).toHaveLength(1)
})

it('a history that never answers → -32603 after 10 seconds, and its signal aborts', async () => {
  const upstream = createUpstream(0)
  const { poll, errors } = start(upstream)
  vi.useFakeTimers()
  upstream.instead = () => new Promise(() => {})
  const answer = poll()
  await vi.waitFor(() => expect(upstream.asked).toHaveLength(1))
  await vi.advanceTimersByTimeAsync(10_100)
  expect((await answer).error).toMatchObject({ code: -32603 })
  expect(upstream.asked[0]!.context.signal.aborted).toBe(true)
  expect(errors).toMatchObject([{ name: 'TimeoutError' }])
})

it('is asked for nobody that canSubscribe refuses', async () => {
  const upstream = createUpstream(1)
  const type = createEvent({
    id: 'incident.created',
    description: 'Closed',
    canSubscribe: () => false,
    replay: upstream.replay,
  })
  const { call } = createEventServer({ types: { type } })
  expect((await call('alice', 'events/poll', { name: type.id })).error).toMatchObject({ code: -32012 })
  expect(upstream.asked).toEqual([])
})

test.each(['~*', '~8J-YgA=', 'a.1~gA', '.', ''])('a cursor "%s" → -32602', async (cursor) => {
  const { poll } = start(createUpstream(1))
  expect((await poll({ cursor })).error).toMatchObject({ code: -32602 })
})

test('an unknown kind of replay is refused', () => {
  // @ts-expect-error Not a function.
  expect(() => createEvent({ id: 'a', description: 'A', replay: true })).toThrow(TypeError)
})
