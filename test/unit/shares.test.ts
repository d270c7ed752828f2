/** One caller takes no more than a share of what is for all, on every entry: another one is still served. */
import type { ServerResponse } from 'node:http'
import * as fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { createSessions } from '../../adapters/node.ts'
import { startHonoSSE } from '../../adapters/node-mastra.ts'
import { type Auth, bearer } from '../../src/auth.ts'
import { createShares, type Place } from '../../src/definition/shares.ts'
import { fromNode } from '../../src/from-node.ts'
import {
  createMemoryBus,
  createMemoryRendezvous,
  createResource,
  createTool,
  type HttpConfig,
} from '../../src/index.ts'
import type { RequestPlatform } from '../../src/request/platform.ts'
import { fromSdk } from '../../src/sdk.ts'
import { createMemoryTasks } from '../../src/tasks.ts'
import { createServer, initializeRequest, legacyRequest, META, modernRequest, post } from './_client.ts'
import { createV2 } from './sdk/_servers.ts'

/** Who calls: with a token, from a public address, or from behind something that hides the address. */
interface Who {
  readonly token?: string
  readonly address?: string
}

const PAIRS: readonly (readonly [name: string, taker: Who, other: Who])[] = [
  ['two principals', { token: 'ann', address: '192.0.2.1' }, { token: 'bob', address: '192.0.2.1' }],
  ['two addresses', { address: '192.0.2.1' }, { address: '192.0.2.2' }],
  ['two networks of IPv6', { address: '2001:db8:0:1::1' }, { address: '2001:db8:0:2::1' }],
  ['an address and a principal', { address: '192.0.2.1' }, { token: 'bob', address: '192.0.2.1' }],
  ['a principal and one who is not known', { token: 'ann' }, { address: '10.0.0.1' }],
]

/** Called when a request that goes on was accepted. */
let accept = (): void => {}
const accepted = (): Promise<'accepted'> =>
  new Promise((resolve) => {
    accept = () => resolve('accepted')
  })

const never = createTool({
  id: 'never',
  execute: () => {
    accept()
    return new Promise(() => {})
  },
})
const ask = createTool({
  id: 'ask',
  execute: async (_input, ctx) => (await ctx.elicit('Sure?', z.object({ yes: z.boolean() }))).action,
})
const long = createTool({
  id: 'long',
  task: 'required',
  execute: (_input, ctx) => ctx.sleep('a day', 86_400_000),
})
const auth = bearer((token) => ({ clientId: token, scopes: [], extra: { sub: token } }), {
  anonymous: { tools: ['never', 'ask', 'long'], resources: ['note://1'] },
})

const PLACES = 8
const headersOf = ({ token }: Who): Record<string, string> =>
  token === undefined ? {} : { authorization: `Bearer ${token}` }
const platformOf = ({ address }: Who): RequestPlatform => ({ ...(address && { clientAddress: address }) })

/** Takes one more place. Resolves with the HTTP status, once it is known whether there was one. */
type Take = (
  who: Who,
) => Promise<{ readonly status: number; readonly isTaken: boolean; readonly retryAfter: string | null }>
interface Handler {
  handle(request: Request, platform: RequestPlatform): Promise<Response>
}

const DECLARED = {
  [META.clientCapabilities]: { extensions: { 'io.modelcontextprotocol/tasks': {} }, elicitation: {} },
}
const TAKEN = { status: 200, isTaken: true, retryAfter: null }

/** The first event or the text of an answer. */
async function firstOf(response: Response): Promise<string> {
  if (response.headers.get('content-type') !== 'text/event-stream') return response.text()
  const { value } = await response.body!.getReader().read()
  return new TextDecoder().decode(value)
}

/** Sends a request. It was accepted if it goes on, or if its answer begins like that. */
function takeBy(server: Handler, request: (who: Who) => Request, begins = /^$/): Take {
  return async (who) => {
    const goesOn = accepted()
    const answer = async () => {
      const response = await server.handle(request(who), platformOf(who))
      return { response, text: await firstOf(response) }
    }
    const outcome = await Promise.race([answer(), goesOn])
    if (outcome === 'accepted') return TAKEN
    const { status, headers } = outcome.response
    return { status, isTaken: begins.test(outcome.text), retryAfter: headers.get('retry-after') }
  }
}

const callOf = (name: string, era: 'modern' | 'legacy') => (who: Who) => {
  const params = { name, arguments: {} }
  const headers = headersOf(who)
  return era === 'modern'
    ? modernRequest('tools/call', params, { headers, meta: DECLARED })
    : legacyRequest('tools/call', params, { headers })
}
const batchOf = (who: Who) =>
  post([{ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'never', arguments: {} } }], {
    headers: { ...headersOf(who), 'mcp-protocol-version': '2025-03-26' },
  })
const listenTo = (uris: readonly string[]) => (who: Who) =>
  modernRequest(
    'subscriptions/listen',
    { notifications: uris.length > 0 ? { resourceSubscriptions: uris } : { toolsListChanged: true } },
    { headers: headersOf(who) },
  )
const sent = new WeakSet<object>()
/** A body of 100 KB that never ends. */
const upload = (who: Who) =>
  post(
    new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          // The second time, the first bytes were accepted.
          if (controller.desiredSize === 0 && sent.has(controller)) return accept()
          sent.add(controller)
          controller.enqueue(new Uint8Array(100_000).fill(32))
        },
      },
      { highWaterMark: 0 },
    ),
    { headers: headersOf(who) },
  )

const resources = [createResource({ uri: 'note://1', read: () => '' })]
const ours = (http: HttpConfig, more: Partial<Parameters<typeof createServer>[0]> = {}) =>
  createServer({
    auth,
    http,
    tools: { never, ask, long },
    resources,
    tasks: createMemoryTasks({ maxOpenTasks: PLACES }),
    ...more,
  })
const withBus = (http: HttpConfig) => ours(http, { bus: createMemoryBus() })

const initialize = (who: Who) => initializeRequest({ capabilities: { elicitation: {} } }, headersOf(who))

/** Opens a session, and keeps its stream open. */
function takeSession(sessions: ReturnType<typeof createSessions>): Take {
  return async (who) => {
    const opened = await sessions.handle(initialize(who), platformOf(who))
    const { status, headers } = opened
    await opened.text()
    const id = headers.get('mcp-session-id')
    if (id !== null) {
      const listening = { ...headersOf(who), accept: 'text/event-stream', 'mcp-session-id': id }
      await sessions.handle(new Request('https://mcp.example/mcp', { headers: listening }), platformOf(who))
    }
    return { status, isTaken: id !== null, retryAfter: headers.get('retry-after') }
  }
}

/** A call in a session of its own. */
function takeInSession(sessions: ReturnType<typeof createSessions>, name: string, begins?: RegExp): Take {
  return async (who) => {
    const opened = await sessions.handle(initialize(who), platformOf(who))
    // `initialize` is a call, too.
    if ((await opened.text()).includes('"error"')) return { ...TAKEN, isTaken: false }
    const id = opened.headers.get('mcp-session-id')!
    const headers = { ...headersOf(who), 'mcp-session-id': id }
    const call = () => legacyRequest('tools/call', { name, arguments: {} }, { headers })
    return takeBy(sessions, call, begins)(who)
  }
}

const ASKED = /elicitation\/create/
const LISTENING = /acknowledged/
const calls = { maxConcurrentCalls: PLACES }
const CELLS: { readonly [cell: string]: () => Take } = {
  'calls, modern': () => takeBy(ours(calls), callOf('never', 'modern')),
  'calls, legacy': () => takeBy(ours(calls), callOf('never', 'legacy')),
  'calls, a batch': () => takeBy(ours(calls), batchOf),
  'calls, sessions': () => takeInSession(createSessions(ours(calls)), 'never'),
  'streams, modern': () => takeBy(withBus({ maxListenStreams: PLACES }), listenTo([]), LISTENING),
  'streams, fromSdk': () => {
    const server = fromSdk(createV2, { auth, log: false, http: { maxListenStreams: PLACES } })
    return takeBy(server, listenTo([]), LISTENING)
  },
  'characters of streams': () =>
    takeBy(
      ours({ maxListenCharacters: PLACES * 108 }, { bus: createMemoryBus(), resources }),
      listenTo(['note://1']),
      LISTENING,
    ),
  'questions at a rendezvous': () =>
    takeBy(
      ours({ maxWaitingCalls: PLACES }, { legacy: 'rendezvous', rendezvous: createMemoryRendezvous() }),
      (who) =>
        legacyRequest(
          'tools/call',
          { name: 'ask', arguments: {} },
          { headers: { ...headersOf(who), 'mcp-session-id': SESSION } },
        ),
      ASKED,
    ),
  'questions in sessions': () =>
    takeInSession(createSessions(ours({ maxWaitingCalls: PLACES })), 'ask', ASKED),
  'bodies that arrive': () =>
    takeBy(ours({ maxBodyBytes: 200_000, maxBufferedBytes: PLACES * 34_464 }), upload),
  'open tasks': () => takeBy(ours({}), callOf('long', 'modern'), /"taskId"/),
  sessions: () => takeSession(createSessions(ours({}), { maxSessions: PLACES })),
}
const SESSION = `mayfly1.${btoa(JSON.stringify(['2025-11-25', null, { elicitation: {} }])).replace(/=+$/, '')}`

afterEach(() => vi.useRealTimers())

describe('one caller takes all that it can', () => {
  for (const [cell, create] of Object.entries(CELLS))
    it.each(PAIRS)(`${cell}: of %s the other is served [shares.caller]`, async (_pair, taker, other) => {
      const take = create()
      let taken = 0
      let last = await take(taker)
      for (; last.isTaken && taken <= PLACES; last = await take(taker)) taken++
      expect(taken).toBeGreaterThan(0)
      expect(taken).toBeLessThanOrEqual(PLACES)
      if (last.status >= 400) expect([429, 503]).toContain(last.status)
      if (last.status >= 400) expect(Number(last.retryAfter)).toBeGreaterThan(0)
      expect((await take(other)).isTaken).toBe(true)
    })
})

interface ListenedOptions {
  readonly auth?: Auth
  readonly http: HttpConfig
}
const notes = createResource({ uriTemplate: 'note://{name}', read: () => '' })
const everyone = bearer((token) => ({ clientId: token, scopes: [], extra: { sub: token } }))

/** Servers of each kind, whose streams may together listen to 1000 characters. */
const LISTENED: { readonly [kind: string]: (options: ListenedOptions) => Handler } = {
  'an MCPServer': (options) => createServer({ ...options, bus: createMemoryBus(), resources: [notes] }),
  fromSdk: (options) => fromSdk(createV2, { ...options, log: false }),
  fromNode: (options) =>
    fromNode(
      (_req: unknown, res: ServerResponse) => {
        res.writeHead(200, { 'content-type': 'text/event-stream' })
        res.write('data: {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged"}\n\n')
      },
      { ...options, log: false, mcpPath: '*' },
    ),
}

describe.each(Object.entries(LISTENED))('one stream of %s', (_kind, create) => {
  it.each([
    ['principal', { auth: everyone }, { token: 'ann' }, { token: 'bob' }],
    ['address', {}, { address: '192.0.2.1' }, { address: '192.0.2.2' }],
  ] as const)(
    'of one %s takes no more than a share of the characters [shares.caller]',
    async (_what, options, taker, other) => {
      const server = create({ ...options, http: { maxListenCharacters: 1000 } })
      // 100 more are counted for each URI.
      const listen = (who: Who, length: number) =>
        takeBy(server, listenTo(['note://'.padEnd(length, 'x')]), LISTENING)(who)
      for (const length of [401, 900])
        expect(await listen(taker, length)).toEqual({ status: 429, isTaken: false, retryAfter: '30' })
      expect((await listen(taker, 400)).isTaken).toBe(true)
      expect((await listen(other, 150)).isTaken).toBe(true)
    },
  )
})

/** Opens a stream of the deprecated transport. */
function takeSse(): Take {
  const server = ours({})
  const url = new URL('http://localhost/sse')
  return async (who) => {
    const raw = new Request(url, { headers: headersOf(who) })
    const env = { incoming: { socket: { remoteAddress: who.address } } }
    const context = { req: { raw }, env }
    const { status, headers } = await startHonoSSE({
      server,
      url,
      ssePath: '/sse',
      messagePath: '/message',
      context,
    })
    return { status, isTaken: status === 200, retryAfter: headers.get('retry-after') }
  }
}

describe('callers who cannot be told apart', () => {
  const hidden: Who = { address: '10.0.0.1' }
  /** Cells in which a place can be taken back, and how long it is kept (ms). */
  const kept: readonly (readonly [cell: string, create: () => Take, ms: number, places: number])[] = [
    ['streams, modern', CELLS['streams, modern']!, 30_000, PLACES],
    ['streams, fromSdk', CELLS['streams, fromSdk']!, 30_000, PLACES],
    ['characters of streams', CELLS['characters of streams']!, 30_000, PLACES],
    ['streams of HTTP+SSE', takeSse, 30_000, 1000],
  ]

  it.each(kept)(
    '%s: may take all, and lose the oldest to others in time [shares.hidden]',
    async (_cell, create, ms, places) => {
      vi.useFakeTimers()
      const take = create()
      for (let taken = 0; taken < places; taken++) expect((await take(hidden)).isTaken).toBe(true)
      expect(await take({ address: '192.0.2.7' })).toMatchObject({ status: 503, retryAfter: '30' })
      await vi.advanceTimersByTimeAsync(ms)
      expect((await take({ address: '192.0.2.7' })).isTaken).toBe(true)
      expect((await take(hidden)).isTaken).toBe(true)
    },
  )

  it('sessions without a stream: a thousand that are left open harm nobody [shares.hidden]', async () => {
    const sessions = createSessions(ours({}))
    const open = async (who: Who) => {
      const opened = await sessions.handle(initialize(who), platformOf(who))
      await opened.text()
      return opened
    }
    for (let opened = 0; opened < 1000; opened++) expect((await open(hidden)).status).toBe(200)
    for (const who of [hidden, { address: '192.0.2.1' }, { token: 'ann' }])
      expect([(await open(who)).status, sessions.size]).toEqual([200, 1000])
  })
})

describe('places', () => {
  it('are never more than there are, and one who holds none finds one [shares.caller]', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 16, max: 64 }),
        fc.array(fc.tuple(fc.integer({ min: 0, max: 2 }), fc.integer({ min: 1, max: 5 }), fc.boolean())),
        (places, steps) => {
          const shares = createShares(places, 0.5)
          const held: { place: Place; amount: number }[] = []
          const sum = () => held.reduce((all, { amount }) => all + amount, 0)
          for (const [caller, amount, frees] of steps) {
            if (frees) held.shift()?.place.free()
            const place = shares.take(`caller ${caller}`, amount)
            if (typeof place !== 'string') held.push({ place, amount })
            expect(sum()).toBeLessThanOrEqual(places)
          }
          const newcomer = shares.take('newcomer')
          expect(newcomer).toHaveProperty('free')
          for (const { place } of held) for (let times = 0; times < 2; times++) place.free()
          if (typeof newcomer !== 'string') newcomer.free()
          expect(shares.take('newcomer', Math.floor(places / 2) + 1)).toBe('share')
          expect(shares.take('newcomer', Math.floor(places / 2))).toHaveProperty('free')
        },
      ),
    )
  })
})
