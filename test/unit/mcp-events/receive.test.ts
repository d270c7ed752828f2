/** `eventsHandler`: the webhook of a client, with our server on the other side, and with forged requests. */
import { afterEach, beforeEach, expect, it, test, vi } from 'vitest'
import { signHeaders } from '../../../src/mcp-events/deliver/sign.ts'
import type { EventSender } from '../../../src/mcp-events.ts'
import { createRecentStore } from '../../../src/webhook/replays.ts'
import { type DeliveredEvent, type EventsHandlerOptions, eventsHandler } from '../../../src/webhook.ts'
import { createEventServer, URL_A } from './_events.ts'

/** Secrets of repeated bytes are refused. */
const [SECRET, OTHER_SECRET] = [1, 101].map(
  (first) =>
    `whsec_${Buffer.from(Array.from({ length: 32 }, (_none, index) => first + index)).toString('base64')}`,
) as [string, string]

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-11-29T12:00:00Z') }))
afterEach(() => void vi.useRealTimers())

function receive(options: Partial<EventsHandlerOptions> = {}) {
  const events: DeliveredEvent[] = []
  const errors: unknown[] = []
  const handle = eventsHandler({
    secret: SECRET,
    onEvent: (event) => void events.push(event),
    onError: (error) => void errors.push(error),
    ...options,
  })
  return { handle, events, errors }
}

/** A request as a server sends it. */
async function signed(
  body: unknown,
  {
    id = 'e1',
    secret = SECRET,
    at = Date.now(),
    subscription = 'sub_1',
    ...headers
  }: Record<string, string> & { at?: number } = {} as never,
) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const own = await signHeaders([secret], id, Math.floor(at / 1000), text)
  return new Request(URL_A, {
    method: 'POST',
    headers: { ...own, 'x-mcp-subscription-id': subscription, ...headers },
    body: text,
  })
}

const EVENT = { eventId: 'e1', name: 'a', timestamp: '2026-11-29T12:00:00Z', data: { n: 1 }, cursor: 'c1' }

it('receives what our server sends, once each, through retries, rotation and the challenge [events.receive]', async () => {
  const seen: string[] = []
  let isDown = true
  const { handle, errors } = receive({
    secret: [OTHER_SECRET, SECRET],
    onEvent(event, { subscriptionId, url }) {
      expect(url).toBe(URL_A)
      expect(subscriptionId).toMatch(/^sub_/)
      if (isDown) throw new Error('the database is down')
      seen.push(event.eventId)
    },
  })
  const deliver: EventSender = {
    async post(url, { headers, body }) {
      const answer = await handle(new Request(url, { method: 'POST', headers, body }))
      return { status: answer.status, body: await answer.text() }
    },
  }
  const { subscribe, emit, server } = createEventServer({ deliver })
  expect((await subscribe({}, 'alice', { secret: SECRET })).error).toBeUndefined()
  await emit({}, 'e1')
  expect(errors).toHaveLength(1)
  isDown = false
  await subscribe({}, 'alice', { secret: OTHER_SECRET })
  vi.setSystemTime(Date.now() + 10_000)
  await server.events.run()
  await emit({}, 'e2')
  expect(seen).toEqual(['e1', 'e2'])
})

it('an event that comes again is accepted, and is not passed on', async () => {
  const { handle, events } = receive()
  expect((await handle(await signed(EVENT))).status).toBe(200)
  expect((await handle(await signed(EVENT))).status).toBe(200)
  expect(events).toEqual([EVENT])
  vi.setSystemTime(Date.now() + 86_400_001)
  await handle(await signed(EVENT))
  expect(events).toHaveLength(2)
})

it('of two subscriptions with secrets of their own, each gets an event that both want', async () => {
  const own: { readonly [id: string]: string } = { sub_1: SECRET, sub_2: OTHER_SECRET }
  const ids: string[] = []
  const { handle } = receive({
    secret: ({ subscriptionId }) => own[subscriptionId],
    onEvent: (_event, { subscriptionId }) => void ids.push(subscriptionId),
  })
  for (const [subscription, secret] of [...Object.entries(own), ...Object.entries(own)])
    expect((await handle(await signed(EVENT, { subscription, secret }))).status).toBe(200)
  expect(ids).toEqual(['sub_1', 'sub_2'])
})

it('an event that comes again while it is processed → 503, so that it is not lost', async () => {
  let reject = (_error: Error): void => {}
  const promise = new Promise<void>((_resolve, given) => {
    reject = given
  })
  let isCalled = false
  const { handle } = receive({
    onEvent() {
      isCalled = true
      return promise
    },
  })
  const first = handle(await signed(EVENT))
  await vi.waitFor(() => expect(isCalled).toBe(true))
  const second = await handle(await signed(EVENT))
  expect(second.status).toBe(503)
  expect(second.headers.get('retry-after')).toBe('5')
  reject(new Error('failed after all'))
  expect((await first).status).toBe(503)
})

it('a process that ends within onEvent → another one gets the event, and nobody says that it is done', async () => {
  const store = createRecentStore(Number.POSITIVE_INFINITY)
  let isCalled = false
  const dead = receive({
    store,
    onEvent() {
      isCalled = true
      return new Promise(() => {})
    },
  })
  void dead.handle(await signed(EVENT))
  await vi.waitFor(() => expect(isCalled).toBe(true))
  const alive = receive({ store })
  expect((await alive.handle(await signed(EVENT))).status).toBe(503)
  expect(alive.events).toEqual([])
  vi.setSystemTime(Date.now() + 32_001)
  expect((await alive.handle(await signed(EVENT))).status).toBe(200)
  expect(alive.events).toEqual([EVENT])
  // Done: for as long as it is remembered, in every process.
  vi.setSystemTime(Date.now() + 86_399_000)
  expect((await receive({ store }).handle(await signed(EVENT))).status).toBe(200)
  expect((await alive.handle(await signed(EVENT))).status).toBe(200)
  expect(alive.events).toHaveLength(1)
})

it('two processes that get an event at once pass it on once', async () => {
  const store = createRecentStore(Number.POSITIVE_INFINITY)
  let finish = (): void => {}
  const held = new Promise<void>((resolve) => (finish = resolve))
  const events: DeliveredEvent[] = []
  const onEvent = (event: DeliveredEvent) => {
    events.push(event)
    return held
  }
  const [one, other] = [receive({ store, onEvent }), receive({ store, onEvent })]
  const requests = [await signed(EVENT), await signed(EVENT)] as const
  const answers = [one.handle(requests[0]), other.handle(requests[1])]
  expect((await Promise.race(answers)).status).toBe(503)
  finish()
  expect((await Promise.all(answers)).map(({ status }) => status).toSorted()).toEqual([200, 503])
  expect(events).toEqual([EVENT])
})

test('in memory, the oldest of many events make room, but none that could be sent again', () => {
  const store = createRecentStore(600_000)
  const expiresAt = Date.now() + 86_400_000
  for (let count = 0; count < 100_000; count++) store.claim(String(count), expiresAt)
  expect(() => store.claim('more', expiresAt)).toThrow('More than 100000')
  vi.setSystemTime(Date.now() + 600_001)
  expect(store.claim('99999', expiresAt)).toBe(false)
  expect(store.claim('more', expiresAt)).toBe(true)
  expect(store.claim('0', expiresAt)).toBe(true)
  expect(store.claim('99999', expiresAt)).toBe(false)
})

it('code that fails or never answers → 503, and the event comes again', async () => {
  let isDown = true
  const { handle, errors } = receive({
    timeoutMs: 20,
    onEvent: () => (isDown ? new Promise(() => {}) : undefined),
  })
  expect((await handle(await signed(EVENT))).status).toBe(503)
  expect(errors).toMatchObject([{ name: 'TimeoutError' }])
  isDown = false
  expect((await handle(await signed(EVENT))).status).toBe(200)
})

it('finds the secret of a subscription, also for its verification', async () => {
  const asked: unknown[] = []
  const { handle, errors } = receive({
    secret(delivery) {
      asked.push(delivery)
      if (delivery.subscriptionId === 'sub_3') throw new Error('no database')
      return delivery.subscriptionId === 'sub_1' ? SECRET : undefined
    },
  })
  const challenge = { type: 'verification', challenge: 'abc' }
  const answer = await handle(await signed(challenge, { id: 'msg_verification_1' }))
  expect(answer.status).toBe(200)
  expect(await answer.json()).toEqual({ challenge: 'abc' })
  expect(asked).toEqual([{ subscriptionId: 'sub_1', url: URL_A }])
  expect((await handle(await signed(EVENT, { subscription: 'sub_2' }))).status).toBe(401)
  expect((await handle(await signed(EVENT, { subscription: 'sub_3' }))).status).toBe(503)
  expect(errors).toHaveLength(1)
})

it('tells of gaps and ends, and accepts notices of a later text', async () => {
  const notices: unknown[] = []
  const { handle } = receive({
    onNotice: (notice, { subscriptionId }) => notices.push([subscriptionId, notice]),
  })
  const error = { code: -32012, message: 'Access revoked' }
  for (const body of [{ type: 'gap', cursor: 'c2' }, { type: 'terminated', error }, { type: 'later' }])
    expect((await handle(await signed(body, { id: 'msg_1' }))).status).toBe(200)
  expect(notices).toEqual([
    ['sub_1', { type: 'gap', cursor: 'c2' }],
    ['sub_1', { type: 'terminated', error }],
  ])
})

test.each<[string, () => Promise<Request>, number]>([
  ['a GET', async () => new Request(URL_A), 405],
  ['no signature', async () => new Request(URL_A, { method: 'POST', body: '{}' }), 401],
  ['another secret', () => signed(EVENT, { secret: OTHER_SECRET }), 401],
  ['no subscription', () => signed(EVENT, { subscription: '' }), 401],
  ['an old timestamp', () => signed(EVENT, { at: Date.now() - 301_000 } as never), 401],
  ['a future timestamp', () => signed(EVENT, { at: Date.now() + 301_000 } as never), 401],
  [
    'a challenge of another secret',
    () => signed({ type: 'verification', challenge: 'a' }, { secret: OTHER_SECRET }),
    401,
  ],
  ['another id', () => signed(EVENT, { id: 'e2' }), 400],
  ['no JSON', () => signed('no'), 400],
  ['a list', () => signed([EVENT]), 400],
  ['no data', () => signed({ ...EVENT, data: null }), 400],
  ['a long challenge', () => signed({ type: 'verification', challenge: 'a'.repeat(1025) }), 400],
  ['over 256 KiB', () => signed({ ...EVENT, data: { text: 'x'.repeat(262_144) } }), 413],
])('%s → %i', async (_what, request, status) => {
  const { handle, events } = receive()
  const answer = await handle((await request()) as Request)
  expect(answer.status).toBe(status)
  expect(events).toEqual([])
})

test('unknown and missing options are refused', () => {
  // @ts-expect-error No such option.
  expect(() => receive({ onevent: () => {} })).toThrow(TypeError)
  expect(() => receive({ secret: 'short' })).toThrow(TypeError)
  expect(() => receive({ secret: [] })).toThrow(TypeError)
  expect(() => receive({ timeoutMs: 0 })).toThrow(TypeError)
  // @ts-expect-error Without `release`, an event that failed could not come again.
  expect(() => receive({ store: { claim: () => true } })).toThrow('must have a function "release"')
})
