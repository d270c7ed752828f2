/** The operator's window: deliveries that were given up, listed, shown and made again, through the endpoint and in the process. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createEventAdmin, createEventEndpoint, type DeadLetterSummary } from '../../../src/events-admin.ts'
import { createEventServer, SECRET, URL_A, URL_B } from './_events.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-11-29T12:00:00Z') }))
afterEach(() => void vi.useRealTimers())

const cronSecret = 'a-secret-of-thirty-two-characters!'
const secret = 'another-one-of-thirty-two-characters'
const url = 'https://shop.example/events'
const UNKNOWN = `${'0'.repeat(15)}.sub_${'0'.repeat(32)}.${'0'.repeat(12)}.${'0'.repeat(8)}`

function setUp(...given: Parameters<typeof createEventServer>) {
  const events = createEventServer(...given)
  const admin = createEventAdmin({ secret })
  const endpoint = createEventEndpoint({ server: events.server, secret: cronSecret, admin })
  const send = async (query: string, method = 'GET', authorization: string | null = `Bearer ${secret}`) => {
    const headers = authorization === null ? {} : { authorization }
    const response = await endpoint.fetch(new Request(`${url}?${query}`, { method, headers }))
    return { status: response.status, body: await response.json(), headers: response.headers }
  }
  const letters = async (query = ''): Promise<DeadLetterSummary[]> =>
    (await send(`list${query}`)).body.letters
  return { ...events, admin, endpoint, send, letters, operations: admin.of(events.server) }
}

/** One subscription, whose endpoint refuses events with these titles. */
async function withRefused(titles: readonly string[], status = 413) {
  const events = setUp()
  const { result } = await events.subscribe({ ttlMs: 86_400_000 })
  events.endpoints.answer = ({ body }) => ({ status: titles.includes(body.data.title) ? status : 200 })
  return { ...events, id: result!.id as string }
}

describe('authorization', () => {
  it.each([
    ['nothing', null],
    ['the cron’s secret', `Bearer ${cronSecret}`],
    ['another secret', `Bearer ${'x'.repeat(36)}`],
    ['it as Basic', `Basic ${secret}`],
    ['it alone', secret],
  ])('%s → 401 for each action, and nothing is read', async (_what, authorization) => {
    const { send, store } = setUp()
    const read = vi.spyOn(store, 'read')
    const listed = vi.spyOn(store, 'list')
    for (const [query, method] of [
      ['list', 'GET'],
      [`show=${UNKNOWN}`, 'GET'],
      [`redeliver=${UNKNOWN}`, 'POST'],
      ['list&wrong', 'DELETE'],
    ] as const)
      expect(await send(query, method, authorization)).toMatchObject({ status: 401 })
    expect([read.mock.calls, listed.mock.calls]).toEqual([[], []])
  })

  it('the operator’s secret makes no deliveries, and must not be the cron’s', async () => {
    const { send, admin, server } = setUp()
    expect((await send('')).status).toBe(401)
    expect(() => createEventEndpoint({ server, secret, admin })).toThrow(/must differ/)
  })

  it('secrets that are not set → 503 with the reason, and the server works', async () => {
    const { server, call } = setUp()
    const admin = createEventAdmin({ secret: undefined })
    const endpoint = createEventEndpoint({ server, secret: '', admin })
    for (const query of ['', 'list']) {
      const response = await endpoint.fetch(new Request(`${url}?${query}`))
      expect(response.status).toBe(503)
      expect((await response.json()).error).toMatch(/is not set: set the variable/)
    }
    expect((await call('alice', 'events/list', {})).result).toBeDefined()
  })
})

describe('cron', () => {
  it('makes what is due, by GET and POST, beside the server at its own path', async () => {
    const { server, emit, subscribe, endpoints, titles } = setUp({ runner: { wake() {} } })
    await subscribe()
    endpoints.answer = () => ({ status: 500 })
    const served = createEventEndpoint({ server, secret: cronSecret }).mount('/events')
    await emit()
    const call = async (method: string) => {
      const headers = { authorization: `Bearer ${cronSecret}` }
      const response = await served.fetch(new Request(url, { method, headers }))
      return { status: response.status, body: await response.json() }
    }
    expect(await call('GET')).toMatchObject({ status: 200, body: { delivered: 0 } })
    vi.setSystemTime(Date.now() + 60_000)
    endpoints.answer = () => ({ status: 200 })
    expect(await call('POST')).toEqual({ status: 200, body: { delivered: 1, failed: 0, nextDueAt: null } })
    expect(await call('PUT')).toMatchObject({ status: 405 })
    expect(titles().at(-1)).toBe('Down')
  })

  it('a store that is down → 503, without its error', async () => {
    const { send, store } = setUp()
    store.list = () => Promise.reject(new Error('the password is wrong'))
    const { status, body } = await send('list')
    expect([status, JSON.stringify(body)]).toEqual([503, expect.not.stringContaining('password')])
  })
})

describe('dead letters', () => {
  it('what the endpoint will never take is listed with its answer; what it takes later is not', async () => {
    const { emit, letters, id } = await withRefused(['big'])
    await emit({ title: 'big' }, 'e1')
    await emit({ title: 'small' }, 'e2')
    expect(await letters()).toEqual([
      {
        id: expect.stringMatching(/^[\w.-]+$/),
        reason: 'refused',
        name: 'incident.created',
        eventId: 'e1',
        subscriptionId: id,
        tries: 1,
        lastError: 'http_4xx',
        status: 413,
        givenUpAt: '2026-11-29T12:00:00.000Z',
      },
    ])
    for (const [query, count] of [
      ['&reason=refused', 1],
      ['&reason=expired', 0],
      ['&name=incident.created', 1],
      ['&name=other', 0],
      ['&olderThanMs=1', 0],
      ['&youngerThanMs=1', 1],
    ] as const)
      expect([query, (await letters(query)).length]).toEqual([query, count])
  })

  it('show: the event and the subscription, without the secret and the rest of the URL', async () => {
    const { emit, letters, send } = await withRefused(['big'])
    await emit({ title: 'big' }, 'e1')
    const [letter] = await letters()
    const { body } = await send(`show=${letter!.id}`)
    expect(body).toMatchObject({
      ...letter,
      event: { data: { json: '{"title":"big","severity":"P1"}' } },
      subscription: { origin: 'https://a.example.com', clientId: 'alice', active: true, queued: 0 },
    })
    expect(JSON.stringify(body)).not.toContain(SECRET)
    expect(JSON.stringify(body)).not.toContain('key=1')
  })

  it('redeliver: the same eventId, before newer events that wait; then there is no letter', async () => {
    const { emit, letters, send, endpoints, server, titles } = await withRefused(['big'])
    await emit({ title: 'big' }, 'e1')
    endpoints.answer = () => ({ status: 503 })
    await emit({ title: 'new' }, 'e2')
    const [letter] = await letters()
    expect(await send(`redeliver=${letter!.id}`, 'POST')).toMatchObject({
      status: 200,
      body: { eventId: 'e1', isActive: true },
    })
    expect(await letters()).toEqual([])
    endpoints.answer = () => ({ status: 200 })
    endpoints.received.length = 0
    vi.setSystemTime(Date.now() + 3_600_000)
    await server.events.run()
    expect(titles()).toEqual(['big', 'new'])
    expect(endpoints.received.map(({ headers }) => headers['webhook-id'])).toEqual(['e1', 'e2'])
    expect(await send(`redeliver=${letter!.id}`, 'POST')).toMatchObject({
      status: 404,
      body: { code: 'UNKNOWN_LETTER' },
    })
  })

  it('many operators redeliver the same letter at once: one delivery', async () => {
    const { emit, letters, operations, endpoints, server } = await withRefused(['big'])
    await emit({ title: 'big' }, 'e1')
    const [letter] = await letters()
    endpoints.answer = () => ({ status: 200 })
    endpoints.received.length = 0
    const results = await Promise.allSettled(
      Array.from({ length: 5 }, () => operations.redeliver(letter!.id)),
    )
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    await server.events.run()
    expect(endpoints.received).toHaveLength(1)
  })

  it('410: suspended, and delivered when its client has refreshed it', async () => {
    const { emit, letters, operations, endpoints, server, subscribe, titles } = await withRefused(['x'], 410)
    await emit({ title: 'x' }, 'e1')
    const [letter] = await letters()
    endpoints.answer = () => ({ status: 200 })
    expect(await operations.redeliver(letter!.id)).toEqual({ eventId: 'e1', isActive: false })
    await server.events.run()
    expect(titles()).toEqual(['x'])
    await subscribe()
    await server.events.run()
    expect(titles()).toEqual(['x', 'x'])
  })

  it.each([
    ['its subscription was removed', 'SUBSCRIPTION_GONE', 0, true],
    ['its event is not stored any more', 'EVENT_GONE', 86_400_000, false],
  ])('%s → %s, and the letter stays', async (_what, code, afterMs, isRemoved) => {
    const events = setUp({ allowNoExpiry: true })
    const { subscribe, unsubscribe, emit, letters, send, endpoints } = events
    const { result } = await subscribe({ ttlMs: null })
    expect(result!.refreshBefore).toBeNull()
    endpoints.answer = () => ({ status: 413 })
    await emit({}, 'e1')
    const [letter] = await letters()
    if (isRemoved) await unsubscribe()
    vi.setSystemTime(Date.now() + afterMs)
    expect(await send(`redeliver=${letter!.id}`, 'POST')).toMatchObject({ status: 409, body: { code } })
    expect(await letters()).toEqual([letter])
    expect((await send(`show=${letter!.id}`)).body).toMatchObject(
      isRemoved ? { subscription: null } : { event: null },
    )
  })

  it('an event that was deleted while an older one waits for its next try is given up', async () => {
    const { subscribe, emit, letters, endpoints, server } = setUp({ maxEvents: 30 })
    await subscribe({ ttlMs: 86_400_000 })
    endpoints.answer = () => ({ status: 503 })
    for (let number = 0; number < 40; number++) await emit({ title: String(number) }, `e${number}`)
    vi.setSystemTime(Date.now() + 3_600_000)
    endpoints.answer = () => ({ status: 200 })
    await server.events.run()
    const lost = await letters('&reason=expired&limit=200')
    expect(lost.map(({ eventId }) => eventId)).toEqual(lost.map(() => null))
    expect(lost).toHaveLength(10)
  })

  it('a subscription has 20 letters at most, a week long; others have theirs', async () => {
    const { subscribe, emit, letters, endpoints } = setUp()
    await subscribe()
    await subscribe({}, 'bob', { url: URL_B })
    endpoints.answer = ({ url: to, body }) => ({
      status: to === URL_A || body.data.title === '0' ? 413 : 200,
    })
    for (let number = 0; number < 30; number++) {
      await emit({ title: String(number) }, `e${number}`)
      vi.setSystemTime(Date.now() + 1)
    }
    const all = await letters('&limit=200')
    expect(all.map(({ eventId }) => eventId).sort()).toEqual(
      ['e0', ...Array.from({ length: 20 }, (_none, index) => `e${index + 10}`)].sort(),
    )
    vi.setSystemTime(Date.now() + 604_800_000)
    expect(await letters()).toEqual([])
  })

  it('over 5000 in all, the oldest are deleted after a run', async () => {
    const { subscribe, emit, letters, endpoints, store, errors } = setUp()
    await subscribe()
    const own = (await store.list({ prefix: '', limit: 1 })).keys[0]!.slice(0, 17)
    const key = (number: number) =>
      `${own}l:${String(number).padStart(15, '0')}:sub_${String(number).padStart(32, '0')}:${'0'.repeat(12)}:${String(number).padStart(8, '0')}`
    const value = JSON.stringify({ subscription: 'x', type: 'x', seq: 1, tries: 1, reason: 'refused' })
    for (let first = 0; first < 5010; first += 10) {
      const keys = Array.from({ length: 10 }, (_none, index) => key(first + index))
      await store.commit(
        `v${first}`,
        keys.map((one) => ({ key: one, value })),
      )
    }
    endpoints.answer = () => ({ status: 413 })
    await emit({}, 'new')
    const { keys } = await store.list({ prefix: `${own}l:`, limit: 1 })
    expect([keys[0], errors]).toEqual([key(11), []])
    expect((await letters('&name=x&limit=1'))[0]!.id).toContain('000011.sub_')
  })

  it('pages follow each other, the oldest first', async () => {
    const { emit, operations } = await withRefused(['x'])
    for (let number = 0; number < 7; number++) {
      await emit({ title: 'x' }, `e${number}`)
      vi.setSystemTime(Date.now() + 1)
    }
    const ids: (string | null)[] = []
    let after: string | undefined
    do {
      const page = await operations.list({ limit: 3, after })
      expect(page.letters.length).toBeLessThanOrEqual(3)
      ids.push(...page.letters.map(({ eventId }) => eventId))
      after = page.next
    } while (after !== undefined)
    expect(ids).toEqual(['e0', 'e1', 'e2', 'e3', 'e4', 'e5', 'e6'])
  })

  it.each([
    ['list&limit=0', 'GET', 400],
    ['list&limit=1.5', 'GET', 400],
    ['list&reason=other', 'GET', 400],
    ['list&after=czpzdWI', 'GET', 400],
    ['list&after=%00', 'GET', 400],
    ['list&list', 'GET', 400],
    ['list&secret=x', 'GET', 400],
    ['show=x', 'GET', 404],
    [`show=${UNKNOWN}`, 'GET', 404],
    [`show=${UNKNOWN}&after=x`, 'GET', 400],
    [`redeliver=${UNKNOWN}`, 'GET', 405],
    [`redeliver=${UNKNOWN}`, 'POST', 404],
    ['redeliver=s:sub_1', 'POST', 404],
  ])('%s by %s → %i', async (query, method, status) => {
    const { send } = setUp()
    expect(await send(query, method)).toMatchObject({ status, body: { error: expect.any(String) } })
  })
})
