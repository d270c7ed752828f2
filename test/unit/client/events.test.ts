/** `client.events`: with our server over HTTP, in both eras, and with answers that are wrong. */
import { inspect } from 'node:util'
import { expect, it, test, vi } from 'vitest'
import * as z from 'zod'
import { staticTokens } from '../../../src/auth.ts'
import type { MCPClientError } from '../../../src/client.ts'
import { createEvent, createMemoryEvents, events } from '../../../src/mcp-events.ts'
import { eventsHandler } from '../../../src/webhook.ts'
import { createClient, startAnswering, startFetchServer, startMayfly } from './_servers.ts'

const SECRET = `whsec_${Buffer.from(Array.from({ length: 32 }, (_none, index) => index)).toString('base64')}`
const TOKEN = 'a-token-of-alice-thirty-two-characters'

const created = createEvent({
  id: 'note.created',
  description: 'A new note',
  inputSchema: z.object({ tag: z.string().optional() }),
  payloadSchema: z.object({ text: z.string(), tag: z.string().optional() }),
  index: ['tag'],
})

async function start() {
  const support = events({ types: { created }, store: createMemoryEvents(), allowLoopback: true })
  const url = await startMayfly({
    auth: staticTokens([{ token: TOKEN, clientId: 'alice' }]),
    events: support,
  })
  const { events: client } = createClient({ servers: { notes: { url, token: TOKEN } } })
  return { support, client }
}

it('lists and polls: pages, arguments and a cursor that continues', async () => {
  const { support, client } = await start()
  expect(await client.list('notes')).toMatchObject([
    { name: 'note.created', description: 'A new note', delivery: ['poll', 'push', 'webhook'] },
  ])
  const { cursor } = await client.poll('notes', { name: 'note.created' })
  for (const tag of ['a', 'b', 'a']) await support.emit('note.created', { text: 'x', tag })
  const select = { name: 'note.created', arguments: { tag: 'a' } }
  const one = await client.poll('notes', { ...select, cursor, maxEvents: 1 })
  expect(one).toMatchObject({
    events: [{ data: { tag: 'a' } }],
    hasMore: true,
    truncated: false,
    nextPollMs: 10_000,
  })
  const two = await client.poll('notes', { ...select, cursor: one.cursor })
  expect(two).toMatchObject({ events: [{ data: { tag: 'a' } }], hasMore: false })
})

it('subscribes, refreshes and unsubscribes a webhook with eventsHandler [events.client]', async () => {
  const { support, client } = await start()
  const received: string[] = []
  const handle = eventsHandler({ secret: SECRET, onEvent: ({ eventId }) => received.push(eventId) })
  const url = await startFetchServer({ fetch: handle })
  const subscription = { name: 'note.created', delivery: { url, secret: SECRET }, ttlMs: 120_000 }
  const granted = await client.subscribe('notes', subscription)
  expect(granted).toMatchObject({ id: expect.stringMatching(/^sub_/), truncated: false })
  expect(Date.parse(granted.refreshBefore!)).toBeGreaterThan(Date.now())
  await support.emit('note.created', { text: 'one' }, { eventId: 'e1' })
  await vi.waitFor(() => expect(received).toEqual(['e1']))
  expect((await client.subscribe('notes', subscription)).id).toBe(granted.id)
  await client.unsubscribe('notes', subscription)
  await support.emit('note.created', { text: 'two' }, { eventId: 'e2' })
  await support.run()
  expect(received).toEqual(['e1'])
  await expect(client.unsubscribe('notes', { ...subscription, name: 'other' })).rejects.toMatchObject({
    code: 'REQUEST_FAILED',
    cause: { code: -32011 },
  })
})

it.each([
  { name: 'note.created', delivery: { url: 'https://a.example/' }, argument: { tag: 'a' } },
  { name: 'note.created', delivery: { url: 'https://a.example/', URL: 'https://b.example/' } },
  { name: 'note.created', delivery: {} },
  { name: 'note.created' },
  { delivery: { url: 'https://a.example/' } },
])('refuses to end what is named in another spelling: %j', async (selection) => {
  const { client } = await start()
  await expect(client.unsubscribe('notes', selection as never)).rejects.toThrow(TypeError)
})

it('a server without events → UNSUPPORTED', async () => {
  const { events: client } = createClient({ servers: { plain: { url: await startMayfly() } } })
  await expect(client.list('plain')).rejects.toMatchObject({ code: 'UNSUPPORTED', operation: 'events/list' })
})

/** A server of the legacy era that answers what it is asked of events by the number and text of the request. */
async function startLegacy(answer: (count: number, text: string) => object, waitMs = 0) {
  const asked = { count: 0 }
  const serverInfo = { name: 'old', version: '1' }
  const url = await startAnswering(async ({ method, text }) => {
    if (method === 'initialize')
      return { result: { protocolVersion: '2025-06-18', capabilities: { events: {} }, serverInfo } }
    if (!method.startsWith('events/')) return undefined
    await new Promise((resolve) => setTimeout(resolve, waitMs))
    return answer(++asked.count, text)
  })
  return { asked, url }
}

it('polls a legacy server that declares events alone', async () => {
  const result = { events: [], cursor: 'c1', truncated: false, hasMore: false }
  const { url } = await startLegacy(() => ({ result }))
  const { events: client } = createClient({ servers: { old: { url } } })
  expect(await client.poll('old', { name: 'a' })).toEqual({
    events: [],
    cursor: 'c1',
    truncated: false,
    hasMore: false,
  })
})

test.each([
  ['no events', {}],
  ['too many events', { events: Array.from({ length: 1001 }, () => ({})), cursor: null }],
  ['an event without an id', { events: [{ name: 'a', timestamp: 'x', data: {} }], cursor: null }],
  ['a number as cursor', { events: [], cursor: 1 }],
])('a poll with %s → REQUEST_FAILED', async (_what, result) => {
  const { url } = await startLegacy(() => ({ result }))
  const { events: client } = createClient({ servers: { old: { url } } })
  await expect(client.poll('old', { name: 'a' })).rejects.toMatchObject({ code: 'REQUEST_FAILED' })
})

test('unknown options are refused', async () => {
  const { client } = await start()
  // @ts-expect-error No such option.
  await expect(client.poll('notes', { name: 'a', since: 1 })).rejects.toThrow(TypeError)
  // @ts-expect-error No such option.
  await expect(client.list('notes', { timeout: 1 })).rejects.toThrow(TypeError)
  const delivery = { url: 'https://a.example', secret: SECRET, mode: 'poll' }
  await expect(client.subscribe('notes', { name: 'a', delivery })).rejects.toThrow(TypeError)
})

it('a list of events has the limits of other lists, over all its pages', async () => {
  const large = { name: 'a', delivery: ['poll'], description: 'x'.repeat(30_000) }
  const endless = await startLegacy(() => ({ result: { events: [large], nextCursor: 'again' } }))
  const empty = (count: number) => ({ result: { events: [], nextCursor: `${count}` } })
  const many = await startLegacy(empty)
  const slow = await startLegacy(empty, 200)
  const { events: client } = createClient({
    servers: {
      endless: { url: endless.url, maxResponseBytes: 100_000 },
      many: { url: many.url },
      slow: { url: slow.url, timeoutMs: 1000 },
    },
  })

  await expect(client.list('endless')).rejects.toMatchObject({ code: 'RESPONSE_TOO_LARGE' })
  expect(endless.asked.count).toBeLessThan(6)
  await expect(client.list('many')).rejects.toMatchObject({ code: 'REQUEST_FAILED' })
  expect(many.asked.count).toBe(100)
  await expect(client.list('slow')).rejects.toMatchObject({ code: 'TIMEOUT' })
})

it('an event that is malformed is left out of a list, and reported', async () => {
  const offered = { name: 'a', delivery: ['poll'] }
  const listed = [offered, { name: 'b' }, { ...offered, name: 'c\n' }]
  const { url } = await startLegacy(() => ({ result: { events: listed } }))
  const reported: MCPClientError[] = []
  const onError = (error: MCPClientError) => reported.push(error)
  const { events: client } = createClient({ servers: { old: { url } }, onError })

  expect(await client.list('old')).toEqual([offered])
  expect(reported).toMatchObject([{ code: 'MALFORMED', operation: 'events/list' }])
})

it('no error quotes the secret of a subscription', async () => {
  const { url } = await startLegacy((_count, text) => ({
    error: { code: -32602, message: `Not good: ${text}`, data: { given: SECRET } },
  }))
  const { events: client } = createClient({ servers: { old: { url } } })
  const delivery = { url: 'https://a.example/', secret: SECRET }
  const error: unknown = await client.subscribe('old', { name: 'a', delivery }).catch((thrown) => thrown)

  expect(error).toMatchObject({ code: 'REQUEST_FAILED', cause: { code: -32602 } })
  expect(inspect(error, { depth: 10 })).not.toContain(SECRET.slice(10))
})
