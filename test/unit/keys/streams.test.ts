/** The open streams of a key that is revoked, on every path. `test/runtimes/keys/kv.test.ts` has one on workerd. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createSessions } from '../../../adapters/node.ts'
import { startHonoSSE } from '../../../adapters/node-mastra.ts'
import { type Auth, anyOf, bearer } from '../../../src/auth.ts'
import { createMemoryBus, createTool, type MCPServerConfig } from '../../../src/index.ts'
import { apiKeys, createKeyAdmin, type KeyStore } from '../../../src/keys.ts'
import { fromSdk } from '../../../src/sdk.ts'
import { createMemorySubscriptions } from '../../../src/subscriptions.ts'
import { createServer, ENDPOINT, initializeRequest, legacyRequest, modernRequest } from '../_client.ts'
import { ALL, everything } from '../_listen.ts'
import { createV2 } from '../sdk/_servers.ts'
import { counted } from './_keys.ts'

/** Milliseconds between two checks, as the docs say. */
const CHECK_MS = 15_000

/** How many checks were planned. */
let checks = 0
const planned = (): number => checks

let aborted = 0
const waits = createTool({
  id: 'waits',
  execute: (_input, { signal }) =>
    new Promise<string>((resolve) => {
      signal.addEventListener('abort', () => {
        aborted++
        resolve('')
      })
    }),
})

type Fetching = { fetch(request: Request): Promise<Response> | Response }
type Headers = { readonly [name: string]: string }

function withKeys(config: Partial<MCPServerConfig>) {
  return createServer({ ...everything, tools: { waits }, bus: createMemoryBus(), ...config })
}

const LISTEN = ['subscriptions/listen', { notifications: ALL }] as const
const CALL = ['tools/call', { name: 'waits', arguments: {} }] as const
const SSE = { accept: 'text/event-stream' }

async function inSession(server: Fetching, headers: Headers): Promise<Headers> {
  const response = await server.fetch(initializeRequest({}, headers))
  await response.text()
  return { ...headers, 'mcp-session-id': response.headers.get('mcp-session-id')! }
}

const get = (headers: Headers) => new Request(ENDPOINT, { headers: { ...SSE, ...headers } })

const PATHS: [string, (auth: Auth, headers: Headers) => Promise<Response>][] = [
  [
    'subscriptions/listen',
    async (auth, headers) => withKeys({ auth }).fetch(modernRequest(...LISTEN, { headers })),
  ],
  [
    'a long call',
    async (auth, headers) =>
      withKeys({ auth }).fetch(modernRequest(...CALL, { headers: { ...headers, ...SSE } })),
  ],
  [
    'a long call of a legacy client',
    async (auth, headers) =>
      withKeys({ auth }).fetch(legacyRequest(...CALL, { headers: { ...headers, ...SSE } })),
  ],
  [
    'the stream of a stored session',
    async (auth, headers) => {
      const secret = 'a secret of at least 32 characters'
      const server = withKeys({ auth, secret, subscriptions: createMemorySubscriptions() })
      return server.fetch(get(await inSession(server, headers)))
    },
  ],
  [
    'fromSdk',
    async (auth, headers) =>
      fromSdk((context) => createV2(context), { auth, log: false }).fetch(
        modernRequest(...LISTEN, { headers }),
      ),
  ],
  [
    'the stream of a session',
    async (auth, headers) => {
      const sessions = createSessions(withKeys({ auth }))
      return sessions.fetch(get(await inSession(sessions, headers)))
    },
  ],
  [
    'a long call in a session',
    async (auth, headers) => {
      const sessions = createSessions(withKeys({ auth }))
      return sessions.fetch(legacyRequest(...CALL, { headers: await inSession(sessions, headers) }))
    },
  ],
  [
    'HTTP+SSE',
    async (auth, headers) => {
      const url = new URL('http://localhost/sse')
      const context = { req: { raw: new Request(url, { headers }) }, env: {} }
      const server = withKeys({ auth })
      return startHonoSSE({ server, url, ssePath: '/sse', messagePath: '/message', context })
    },
  ],
]

let restore = (): void => {}

beforeEach(() => {
  aborted = 0
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  checks = 0
  const { setTimeout } = globalThis
  globalThis.setTimeout = Object.assign((...args: Parameters<typeof setTimeout>) => {
    if (args[1] === CHECK_MS) checks++
    return setTimeout(...args)
  }, setTimeout)
  restore = () => {
    globalThis.setTimeout = setTimeout
  }
})
afterEach(() => {
  restore()
  vi.useRealTimers()
})

/** Opens a stream, and checks its caller when told. */
async function opened(
  open: (typeof PATHS)[number][1],
  beforeRead = () => {},
  wrap: (auth: Auth) => Auth = (auth) => auth,
) {
  const store = counted()
  const admin = createKeyAdmin(store, { server: 'test' })
  const { key, id } = await admin.create({ name: 'ci' })
  const read: KeyStore['read'] = async (asked) => {
    const row = await store.read(asked)
    beforeRead()
    return row
  }
  const auth = apiKeys({ store: { ...store, read }, cacheMs: 0, server: 'test' })
  let response: Response | undefined
  open(wrap(auth), { authorization: `Bearer ${key}` }).then((answer) => {
    response = answer
  })
  // A call becomes a stream after a while, and its clock starts after real cryptography, however long that takes.
  const startedAt = performance.now()
  while (response === undefined && performance.now() - startedAt < 60_000) {
    await vi.advanceTimersByTimeAsync(1)
    await new Promise((resolve) => setImmediate(resolve))
  }
  if (response === undefined) throw new Error('no response')
  expect(response.status).toBe(200)
  let isEnded = false
  const reader = response.body!.getReader()
  const readAll = async (): Promise<void> => {
    while (!(await reader.read()).done);
    isEnded = true
  }
  readAll().catch(() => {})
  return {
    leave: () => reader.cancel(),
    admin,
    id,
    hasEnded: () => isEnded,
    /** Resolves when the key was read, and the check is over: the next one is planned, or the stream ends. */
    async check() {
      const before = { reads: store.reads.length, planned: planned() }
      await vi.advanceTimersByTimeAsync(CHECK_MS)
      await expect.poll(() => store.reads.length).toBeGreaterThan(before.reads)
      // Real cryptography decides, however long that takes.
      await expect.poll(() => isEnded || planned() > before.planned).toBe(true)
    },
  }
}

describe('when its key is revoked', () => {
  it.each(PATHS)('%s ends with the next check, and not before [keys.streams]', async (name, open) => {
    const { admin, id, check, hasEnded } = await opened(open)
    for (let checks = 0; checks < 3; checks++) await check()
    expect([hasEnded(), aborted]).toEqual([false, 0])
    await admin.revoke(id)
    expect(hasEnded()).toBe(false)
    await check()
    await expect.poll(hasEnded).toBe(true)
    if (name === 'a long call') expect(aborted).toBe(1)
  })
})

describe('beside callers of another kind', () => {
  it.each(PATHS)('%s is judged by the keys alone [auth.any-of]', async (_name, open) => {
    const seen: string[] = []
    let admits = false
    // Another kind that would take the same token later must not keep the stream open.
    const other = bearer((token) => {
      seen.push(token)
      return admits ? { clientId: 'somebody' } : undefined
    })
    const { admin, id, check, hasEnded } = await opened(open, undefined, (auth) => anyOf([other, auth]))
    admits = true
    seen.length = 0
    await check()
    expect([hasEnded(), seen]).toEqual([false, []])
    await admin.revoke(id)
    await check()
    await expect.poll(hasEnded).toBe(true)
  })

  it('one whose callers are not checked again adds no check [auth.any-of]', async () => {
    const server = withKeys({
      auth: anyOf([bearer(() => ({ clientId: 'a' })), apiKeys({ store: counted() })]),
    })
    const response = await server.fetch(modernRequest(...LISTEN, { headers: { authorization: 'Bearer a' } }))
    const reader = response.body!.getReader()
    await reader.read()
    expect([response.status, planned()]).toEqual([200, 0])
    await reader.cancel()
  })
})

describe('while the store is down', () => {
  const LISTENING = PATHS[0]![1]

  it('the stream stays for three checks, and ends with the fourth [keys.streams]', async () => {
    let isDown = false
    const { check, hasEnded } = await opened(LISTENING, () => {
      if (isDown) throw new Error('ECONNREFUSED')
    })
    for (let outages = 0; outages < 2; outages++) {
      isDown = true
      for (let checks = 0; checks < 3; checks++) await check()
      isDown = false
      await check()
      expect(hasEnded()).toBe(false)
    }
    isDown = true
    for (let checks = 0; checks < 3; checks++) await check()
    expect(hasEnded()).toBe(false)
    await check()
    await expect.poll(hasEnded).toBe(true)
  })
})

it('a client that leaves ends the checks', async () => {
  const { leave, check } = await opened(PATHS[0]![1])
  await check()
  await leave()
  await expect.poll(() => vi.getTimerCount()).toBe(0)
})
