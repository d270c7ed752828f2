/** `refresh` of `client.events.subscribe`: with our server in this process, and with servers that answer otherwise. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { staticTokens } from '../../../src/auth.ts'
import type { EventSubscribeSettings, EventSubscription, MCPClientError } from '../../../src/client.ts'
import { MCPServer } from '../../../src/index.ts'
import { createEvent, createMemoryEvents, type EventSender, events } from '../../../src/mcp-events.ts'
import { settled } from '../../_outside.ts'
import { DISCOVERED } from './_event-servers.ts'
import { createClient } from './_servers.ts'

const SECRET = `whsec_${btoa('01234567890123456789012345678901')}`
const OTHER_SECRET = `whsec_${btoa('abcdefghijklmnopqrstuvwxyz012345')}`
const TOKEN = 'a-token-of-alice-thirty-two-characters'
const URL = 'https://agent.example/events'
const SUBSCRIPTION: EventSubscription = { name: 'a', delivery: { url: URL, secret: SECRET } }
const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

interface Asked {
  readonly method: string
  readonly at: number
  readonly params: { readonly cursor: unknown; readonly delivery: { readonly secret: string } }
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
})
afterEach(() => {
  // First: what a spy restores is the function that it found.
  vi.restoreAllMocks()
  vi.useRealTimers()
})

/** Requests that will be answered. */
let pending = 0

/** Lets requests in this process end, unless they wait for a timer. */
async function settle(): Promise<void> {
  const until = performance.now() + 2000
  let turns = 0
  // On a busy machine the time alone says little.
  const isOver = (): boolean => turns++ > 20_000 && performance.now() > until
  do await settled()
  while (pending > 0 && !isOver())
}

/** Passes as little time as the work needs. */
async function done<T>(work: Promise<T>): Promise<T> {
  let isDone = false
  const end = (): void => {
    isDone = true
  }
  work.then(end, end)
  for (await settle(); !isDone; await settle()) await vi.advanceTimersByTimeAsync(10)
  return work
}

/** In steps of at most `stepMs`. */
async function pass(ms: number, stepMs = 5000): Promise<void> {
  await settle()
  for (let at = 0; at < ms; at += stepMs) {
    await vi.advanceTimersByTimeAsync(Math.min(stepMs, ms - at))
    await settle()
  }
}

/** A client of a server in this process, and what it asks of it about events. */
function connect(answer: (request: Request) => Promise<Response>) {
  const asked: Asked[] = []
  const reported: MCPClientError[] = []
  const fetch = async (url: string | URL, init?: RequestInit): Promise<Response> => {
    const request = new Request(url, init)
    const { method, params } = await request.clone().json()
    if (method.startsWith('events/')) asked.push({ method, params, at: Date.now() })
    pending++
    try {
      return await answer(request)
    } finally {
      pending--
    }
  }
  const client = createClient({
    servers: { notes: { url: 'http://localhost/mcp', token: TOKEN, fetch } },
    timeoutMs: 30_000,
    onError: (error) => void reported.push(error),
  })
  const subscribe = (settings: EventSubscribeSettings = { refresh: true }, changes: object = {}) =>
    done(client.events.subscribe('notes', { ...SUBSCRIPTION, ...changes }, settings))
  return { asked, reported, client, subscribe }
}

/** Our server. */
function start() {
  const delivered: string[] = []
  let mayHave = true
  const a = createEvent({
    id: 'a',
    description: 'A',
    payloadSchema: z.object({}),
    canSubscribe: () => mayHave,
  })
  const deliver: EventSender = {
    post: async (_url, { body }) => {
      delivered.push(JSON.parse(body).eventId)
      return { status: 204 }
    },
  }
  const allowedOrigins = ['https://agent.example']
  const support = events({ types: { a }, store: createMemoryEvents(), allowedOrigins, deliver })
  const server = new MCPServer({
    id: 'notes',
    name: 'Notes',
    version: '1.0.0',
    log: false,
    auth: staticTokens([{ token: TOKEN, clientId: 'alice' }]),
    events: support,
  })
  return {
    ...connect((request) => server.fetch(request)),
    delivered,
    forbid: () => {
      mayHave = false
    },
    emit: (eventId: string) => done(support.emit('a', {}, { eventId })),
  }
}

type Answer = object | 'never' | { readonly code: number } | { readonly status: number }

/** A server that answers the request for events with this number, from 0 on, as it is told. */
function startScripted(script: (count: number, method: string) => Answer) {
  let count = 0
  return connect(async (request) => {
    const { id, method } = await request.json()
    const reply = (body: object) => Response.json({ jsonrpc: '2.0', id, ...body })
    if (method === 'server/discover') return reply({ result: DISCOVERED })
    if (!method.startsWith('events/')) return new Response(null, { status: 405 })
    const answer = script(count++, method)
    if (answer === 'never') {
      pending--
      return new Promise<Response>((_resolve, reject) => {
        request.signal.addEventListener('abort', () => {
          pending++
          reject(request.signal.reason)
        })
      })
    }
    if ('status' in answer) return new Response('no', { status: answer.status as number })
    if ('code' in answer) return reply({ error: { message: 'No.', ...answer } })
    return reply({ result: { resultType: 'complete', ...answer } })
  })
}

const granted = (lifetimeMs: number, more: object = {}) => ({
  id: 'sub_1',
  refreshBefore: new Date(Date.now() + lifetimeMs).toISOString(),
  cursor: null,
  truncated: false,
  ...more,
})

describe('refresh, with our server', () => {
  it('a subscription of 2 minutes lasts as long as the client [events.client-refresh]', async () => {
    const server = start()
    const { refreshBefore } = await server.subscribe({ refresh: true }, { ttlMs: 2 * MINUTE })
    expect(Date.parse(refreshBefore!) - Date.now()).toBeLessThanOrEqual(2 * MINUTE)
    await pass(20 * MINUTE)
    expect(server.asked.length).toBeGreaterThanOrEqual(10)
    expect(server.asked.length).toBeLessThan(19)
    await server.emit('e1')
    await vi.waitFor(() => expect(server.delivered).toEqual(['e1']))

    await done(server.client.disconnect())
    const { length } = server.asked
    await pass(20 * MINUTE, MINUTE)
    await server.emit('e2')
    await pass(1000)
    expect(server.asked).toHaveLength(length)
    expect(server.delivered).toEqual(['e1'])
  })

  it('without it nothing is sent again', async () => {
    const server = start()
    await server.subscribe({}, { ttlMs: 2 * MINUTE })
    await pass(20 * MINUTE, MINUTE)
    expect(server.asked).toHaveLength(1)
  })

  it('unsubscribe ends it', async () => {
    const server = start()
    await server.subscribe({ refresh: true }, { ttlMs: 2 * MINUTE, arguments: {} })
    await pass(5 * MINUTE)
    await done(server.client.events.unsubscribe('notes', SUBSCRIPTION))
    const { length } = server.asked
    await pass(10 * MINUTE)
    expect(server.asked).toHaveLength(length)
    expect(server.asked.at(-1)?.method).toBe('events/unsubscribe')
  })

  it('a caller that may no longer have it: onRefreshFailed once, with the error of the server', async () => {
    const server = start()
    const onRefreshFailed = vi.fn()
    await server.subscribe({ refresh: true, onRefreshFailed }, { ttlMs: 2 * MINUTE })
    server.forbid()
    await pass(10 * MINUTE)
    expect(onRefreshFailed.mock.calls).toMatchObject([[{ code: 'REQUEST_FAILED', cause: { code: -32012 } }]])
    expect(server.asked).toHaveLength(2)
    expect(server.reported).toEqual([])
  })
})

describe('refresh, with another server', () => {
  it('is sent at about two thirds of the lifetime, as at first, with the last cursor of the server', async () => {
    const cursors = [null, 'c1', null, 'c2', 'c3']
    const { asked, subscribe } = startScripted((count) => granted(90 * MINUTE, { cursor: cursors[count] }))
    const args = { tag: 'x' }
    await subscribe({ refresh: true }, { cursor: 'mine', arguments: args, ttlMs: null, maxAgeMs: 5 })
    args.tag = 'y'
    await pass(260 * MINUTE, MINUTE)
    expect(asked.map(({ params }) => params.cursor)).toEqual(['mine', 'mine', 'c1', 'c1', 'c2'])
    for (const [index, { at, params }] of asked.entries()) {
      expect(params).toMatchObject({ name: 'a', arguments: { tag: 'x' }, ttlMs: null, maxAgeMs: 5 })
      expect(params.delivery).toEqual({ mode: 'webhook', url: URL, secret: SECRET })
      if (index === 0) continue
      const waited = at - asked[index - 1]!.at
      expect(waited).toBeGreaterThan(50 * MINUTE)
      expect(waited).toBeLessThan(66 * MINUTE)
    }
  })

  it.each([
    [-32602, 'invalid'],
    [-32011, 'not found'],
    [-32012, 'forbidden'],
    [-32014, 'unsupported'],
    [-32601, 'no such method'],
  ])('%i (%s) → onRefreshFailed once, at once', async (code) => {
    const { asked, reported, subscribe } = startScripted((count) =>
      count === 0 ? granted(90 * MINUTE) : { code },
    )
    const onRefreshFailed = vi.fn(() => {
      throw new Error('mine')
    })
    await subscribe({ refresh: true, onRefreshFailed })
    await pass(DAY, 10 * MINUTE)
    expect(asked).toHaveLength(2)
    expect(onRefreshFailed).toHaveBeenCalledTimes(1)
    expect(reported).toMatchObject([{ code: 'LISTENER_FAILED' }])
  })

  it.each([401, 403, 404])('HTTP %i → reported once, without a listener', async (status) => {
    const { asked, reported, subscribe } = startScripted((count) =>
      count === 0 ? granted(90 * MINUTE) : { status },
    )
    await subscribe()
    await pass(DAY, 10 * MINUTE)
    expect(asked.length).toBeLessThan(4)
    expect(reported).toHaveLength(1)
  })

  it.each([
    ['a failure of the server', { code: -32603 }],
    ['too many subscriptions', { code: -32013 }],
    ['a webhook that does not answer', { code: -32015 }],
    ['HTTP 503', { status: 503 }],
    ['a date that cannot be read', { id: 'sub_1', refreshBefore: 'tomorrow' }],
    ['another kind of answer', { id: 7 }],
    ['no answer, ever', 'never'],
  ] as const)('%s: again with growing pauses, until it has expired', async (_what, answer) => {
    const { asked, subscribe } = startScripted((count) => (count === 0 ? granted(90 * MINUTE) : answer))
    const onRefreshFailed = vi.fn()
    const begun = Date.now()
    await subscribe({ refresh: true, onRefreshFailed })
    await pass(89 * MINUTE, 10_000)
    expect(onRefreshFailed).not.toHaveBeenCalled()
    const { length } = asked
    expect(length).toBeGreaterThan(4)
    expect(length).toBeLessThan(25)
    await pass(3 * MINUTE, 10_000)
    expect(onRefreshFailed).toHaveBeenCalledTimes(1)
    expect(onRefreshFailed.mock.calls[0]![0]).toMatchObject({ server: 'notes' })
    expect(asked.at(-1)!.at).toBeLessThanOrEqual(begun + 90 * MINUTE + 1000)
    await pass(DAY, 10 * MINUTE)
    expect(onRefreshFailed).toHaveBeenCalledTimes(1)
  })

  it('goes on after failures that pass', async () => {
    const { asked, reported, subscribe } = startScripted((count) =>
      count === 0 || count > 3 ? granted(90 * MINUTE) : { code: -32603 },
    )
    await subscribe()
    await pass(200 * MINUTE, 10_000)
    expect(asked.length).toBeGreaterThanOrEqual(7)
    expect(reported).toEqual([])
  })

  it.each([
    ['in the past', () => '2001-01-01T00:00:00Z'],
    ['now', () => new Date().toISOString()],
    ['in 10 ms', () => new Date(Date.now() + 10).toISOString()],
  ])(
    'refreshBefore %s: never more than one request a second, and soon one in 5 minutes',
    async (_when, at) => {
      const { asked, subscribe } = startScripted(() => granted(0, { refreshBefore: at() }))
      await subscribe()
      await pass(10 * MINUTE, 500)
      for (const [index, { at: when }] of asked.entries())
        if (index > 0) expect(when - asked[index - 1]!.at).toBeGreaterThanOrEqual(1000)
      expect(asked.length).toBeGreaterThan(5)
      expect(asked.length).toBeLessThan(12)
    },
  )

  it('refreshBefore in the year 9999: within what a timer can wait, no loop', async () => {
    const { asked, subscribe } = startScripted(() => granted(0, { refreshBefore: '9999-12-31T23:59:59Z' }))
    await subscribe()
    await pass(24 * DAY, DAY)
    expect(asked).toHaveLength(1)
    await pass(2 * DAY, DAY)
    expect(asked).toHaveLength(2)
  })

  it('refreshBefore null: it does not expire, so nothing is sent', async () => {
    const { asked, subscribe } = startScripted(() => granted(0, { refreshBefore: null }))
    await subscribe()
    await pass(60 * DAY, DAY)
    expect(asked).toHaveLength(1)
  })

  it('another subscribe replaces it, also while a refresh is under way; one that fails does not', async () => {
    const scripted = startScripted((count) => (count === 3 ? { code: -32602 } : granted(90 * MINUTE)))
    const { asked, subscribe } = scripted
    const secrets = () => asked.map(({ params }) => params.delivery.secret)
    await subscribe()
    const delivery = { url: URL, secret: OTHER_SECRET }
    await subscribe({ refresh: true }, { delivery })
    await pass(70 * MINUTE, MINUTE)
    expect(secrets()).toEqual([SECRET, OTHER_SECRET, OTHER_SECRET])
    await expect(subscribe()).rejects.toMatchObject({ code: 'REQUEST_FAILED' })
    await pass(MINUTE)
    expect(secrets().slice(3)).toEqual([SECRET, OTHER_SECRET])
    await subscribe({}, { arguments: {} })
    await pass(DAY, 10 * MINUTE)
    expect(asked).toHaveLength(6)
  })

  it('the two newest of three at once are refused: the granted one goes on', async () => {
    const { asked, reported, subscribe } = startScripted((count) =>
      count === 1 || count === 2 ? { code: -32602 } : granted(90 * MINUTE),
    )
    await subscribe()
    const delivery = { url: URL, secret: OTHER_SECRET }
    const refused = [subscribe({ refresh: true }, { delivery }), subscribe({ refresh: true }, { delivery })]
    for (const one of await Promise.allSettled(refused))
      expect(one).toMatchObject({ status: 'rejected', reason: { code: 'REQUEST_FAILED' } })
    await pass(200 * MINUTE, MINUTE)
    const secrets = asked.map(({ params }) => params.delivery.secret)
    expect(secrets.slice(0, 4)).toEqual([SECRET, OTHER_SECRET, OTHER_SECRET, SECRET])
    expect(asked.length).toBeGreaterThanOrEqual(6)
    expect(reported).toEqual([])
  })

  it('of several at once while a refresh is under way, the last one counts, and unsubscribe ends it', async () => {
    let release = (): void => {}
    let count = 0
    const secrets: string[] = []
    const { asked, client, subscribe } = connect(async (request) => {
      const { id, method, params } = await request.json()
      const reply = (result: object) => Response.json({ jsonrpc: '2.0', id, result })
      if (method === 'server/discover') return reply(DISCOVERED)
      if (count++ === 1)
        await new Promise<void>((resolve) => {
          pending--
          release = () => {
            pending++
            resolve()
          }
        })
      secrets.push(params.delivery.secret)
      return reply({ resultType: 'complete', ...granted(90 * MINUTE) })
    })
    await subscribe()
    while (count < 2) await pass(5000)
    const delivery = { url: URL, secret: OTHER_SECRET }
    const both = [subscribe(), subscribe({ refresh: true }, { delivery })]
    await settle()
    release()
    await Promise.all(both)
    expect(secrets).toEqual([SECRET, SECRET, SECRET, OTHER_SECRET])
    await pass(70 * MINUTE, MINUTE)
    expect(secrets.slice(4)).toEqual([OTHER_SECRET])
    await done(client.events.unsubscribe('notes', SUBSCRIPTION))
    const { length } = asked
    await pass(DAY, 10 * MINUTE)
    expect(asked).toHaveLength(length)
  })

  it.each(['unsubscribe', 'subscribe'] as const)('%s waits for a refresh under way', async (how) => {
    const order: string[] = []
    let release = (): void => {}
    let count = 0
    const { client, subscribe } = connect(async (request) => {
      const { id, method } = await request.json()
      const reply = (result: object) => Response.json({ jsonrpc: '2.0', id, result })
      if (method === 'server/discover') return reply(DISCOVERED)
      const number = count++
      if (number === 1)
        await new Promise<void>((resolve) => {
          pending--
          release = () => {
            pending++
            resolve()
          }
        })
      order.push(`${number} ${method}`)
      return reply({ resultType: 'complete', ...granted(90 * MINUTE) })
    })
    await subscribe()
    while (count < 2) await pass(5000)
    const done = how === 'subscribe' ? subscribe() : client.events.unsubscribe('notes', SUBSCRIPTION)
    await settle()
    expect(order).toEqual(['0 events/subscribe'])
    release()
    await done
    expect(order).toEqual(['0 events/subscribe', '1 events/subscribe', `2 events/${how}`])
  })

  it.each(['unsubscribe', 'disconnect'] as const)('%s leaves no timer', async (how) => {
    const { client, subscribe } = startScripted(() => granted(90 * MINUTE))
    await subscribe()
    await done(how === 'disconnect' ? client.disconnect() : client.events.unsubscribe('notes', SUBSCRIPTION))
    await pass(MINUTE)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('disconnect() during a refresh: nothing is told', async () => {
    const { asked, client, subscribe } = startScripted((count) =>
      count === 1 ? 'never' : granted(90 * MINUTE),
    )
    const onRefreshFailed = vi.fn()
    await subscribe({ refresh: true, onRefreshFailed })
    while (asked.length < 2) await pass(5000)
    await done(client.disconnect())
    await pass(DAY, 10 * MINUTE)
    expect(onRefreshFailed).not.toHaveBeenCalled()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('a client refreshes 1000 at most; the place of one that ended is free', async () => {
    const { asked, client, subscribe } = startScripted(() => granted(90 * MINUTE))
    const numbered = (number: number) => subscribe({ refresh: true }, { arguments: { number } })
    for (let number = 0; number < 1000; number++) await numbered(number)
    await expect(numbered(1000)).rejects.toMatchObject({
      code: 'REQUEST_FAILED',
      message: expect.stringContaining('already refreshes 1000 subscriptions: '),
    })
    expect(asked).toHaveLength(1000)
    await numbered(7)
    await client.events.unsubscribe('notes', { ...SUBSCRIPTION, arguments: { number: 7 } })
    await numbered(1000)
  })

  it('one that is refused takes no place and is not sent again', async () => {
    const { asked, subscribe } = startScripted(() => ({ code: -32012 }))
    await expect(subscribe()).rejects.toMatchObject({ cause: { code: -32012 } })
    await pass(DAY, 10 * MINUTE)
    expect(asked).toHaveLength(1)
  })

  it('its timer keeps no process alive', async () => {
    const timers = vi.spyOn(globalThis, 'setTimeout')
    const { subscribe } = startScripted(() => granted(90 * MINUTE))
    await subscribe()
    const isNear = (ms = 0): boolean => ms > 50 * MINUTE && ms < 70 * MINUTE
    const own = timers.mock.results.filter((_, index) => isNear(timers.mock.calls[index]![1]))
    expect(own.map(({ value }) => value.hasRef())).toEqual([false])
    timers.mockRestore()
  })

  it('unknown options are refused', async () => {
    const { asked, subscribe } = startScripted(() => granted(90 * MINUTE))
    for (const settings of [
      { refreshed: true },
      { refresh: 'true' },
      { onRefreshFail() {} },
      { onRefreshFailed: 1 },
    ])
      await expect(subscribe(settings as never)).rejects.toThrow(TypeError)
    expect(asked).toEqual([])
  })
})
