/** Each message of a batch is held to what it would be held to alone. */
import { describe, expect, it } from 'vitest'
import { bearer } from '../../src/auth.ts'
import {
  type AuditEntry,
  createMemoryRateLimiter,
  createResource,
  createTool,
  type HttpConfig,
  type LogEntry,
  type MCPServerConfig,
  type Rendezvous,
} from '../../src/index.ts'
import { fromSdk } from '../../src/sdk.ts'
import { eventually } from '../_eventually.ts'
import { createServer, deferred, post } from './_client.ts'
import { createV1, createV2 } from './sdk/_servers.ts'

interface Part {
  id?: number
  result?: { isError?: boolean; tools?: { name: string }[]; content?: { text: string }[] }
  error?: { code: number; message: string; data?: { limit?: string } }
}

const message = (id: number, method: string, params: object = {}) => ({ jsonrpc: '2.0', id, method, params })
const callOf = (id: number, name: string, args: object = {}) =>
  message(id, 'tools/call', { name, arguments: args })

const tools = {
  add: createTool({ id: 'add', execute: () => '5' }),
  admin: createTool({ id: 'admin', scopes: ['admin'], execute: () => 'done' }),
}

const auth = bearer((token) => ({ clientId: token, scopes: ['use'], extra: { sub: token } }))

const SCOPES = { tools: { who: ['admin'] } }

type Config = Pick<MCPServerConfig, 'auth' | 'http' | 'log' | 'audit' | 'onError'>

/** The same for a server of ours and for both SDKs' behind our guard. */
const SERVERS = [
  ['MCPServer', (config: Config) => createServer({ tools, auth: 'host', ...config })],
  [
    'fromSdk, v1',
    (config: Config) => fromSdk(createV1, { log: false, auth: 'host', scopes: SCOPES, ...config }),
  ],
  [
    'fromSdk, v2',
    (config: Config) => fromSdk(createV2, { log: false, auth: 'host', scopes: SCOPES, ...config }),
  ],
] as const

async function sendBatch(
  server: { handle: ReturnType<typeof createServer>['handle'] },
  batch: readonly object[],
  headers: Record<string, string> = {},
): Promise<Part[]> {
  const response = await server.handle(post(batch, { headers }), { clientAddress: '192.0.2.1' })
  return (await response.json()) as Part[]
}

const ADD = { a: 2, b: 3 }

describe('messages without an answer, in a batch', () => {
  /** A server whose rendezvous is slow, and counts what is delivered. */
  function slow(http: HttpConfig) {
    const delivered = { all: 0, now: 0, atOnce: 0 }
    const rendezvous: Rendezvous = {
      wait: async () => ({ answer: Promise.resolve(undefined) }),
      deliver: async () => {
        delivered.all++
        delivered.atOnce = Math.max(delivered.atOnce, ++delivered.now)
        await new Promise((resolve) => setTimeout(resolve, 2))
        delivered.now--
      },
    }
    const audit: AuditEntry[] = []
    const lines: LogEntry[] = []
    const server = createServer({
      legacy: 'rendezvous',
      rendezvous,
      http,
      audit: { record: (entry) => void audit.push(entry) },
      log: (line) => void lines.push(line),
    })
    return { server, delivered, audit, lines }
  }

  const answers = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ jsonrpc: '2.0', id: `mayfly-${index}`, result: {} }))
  const notifications = (count: number) =>
    Array.from({ length: count }, () => ({ jsonrpc: '2.0', method: 'notifications/progress' }))
  const five = () => createMemoryRateLimiter({ calls: 5, windowMs: 60_000 })

  it('answers are counted, and delivered one by one [batch.guards]', async () => {
    const { server, delivered, audit, lines } = slow({ maxConcurrentCalls: 3, rateLimiter: five() })
    const response = await server.handle(post(answers(100)), { clientAddress: '192.0.2.1' })
    expect([response.status, response.headers.has('retry-after')]).toEqual([429, true])
    expect(delivered).toEqual({ all: 5, now: 0, atOnce: 1 })
    expect(audit.filter(({ status }) => status === 429)).toHaveLength(95)
    expect(lines).toMatchObject([{ method: 'batch', status: 429 }])
  })

  it('notifications are counted [batch.guards]', async () => {
    const { server, audit } = slow({ rateLimiter: five() })
    const response = await server.handle(post(notifications(8)), { clientAddress: '192.0.2.1' })
    expect(response.status).toBe(429)
    expect(audit.map(({ status }) => status).sort()).toEqual([202, 202, 202, 202, 202, 429, 429, 429])
  })

  it('as many as are allowed are taken: 202 [batch.guards]', async () => {
    const { server, delivered } = slow({ maxConcurrentCalls: 3, rateLimiter: five() })
    const response = await server.handle(post(answers(5)), { clientAddress: '192.0.2.1' })
    expect([response.status, delivered.all]).toEqual([202, 5])
  })

  it('an answer needs no place: who waits for it has it', async () => {
    const { server, delivered } = slow({ maxConcurrentCalls: 0 })
    expect((await server.handle(post(answers(1)[0]!), {})).status).toBe(202)
    expect(delivered.all).toBe(1)
  })
})

describe.each(SERVERS)('a batch for %s', (_name, create) => {
  it('each message counts for the rate limiter [batch.guards]', async () => {
    const rateLimiter = createMemoryRateLimiter({ calls: 3, windowMs: 60_000 })
    const parts = await sendBatch(
      create({ http: { rateLimiter } }),
      Array.from({ length: 5 }, (_, id) => callOf(id, 'add', ADD)),
    )
    expect(parts.filter(({ result }) => result !== undefined)).toHaveLength(3)
    expect(parts.filter(({ error }) => error?.message.startsWith('Too many requests'))).toHaveLength(2)
  })

  it('each message is in the audit trail, the batch in the log once [batch.guards]', async () => {
    const entries: AuditEntry[] = []
    const lines: LogEntry[] = []
    const server = create({
      auth,
      audit: { record: (entry) => void entries.push(entry) },
      log: (line) => void lines.push(line),
    })
    await sendBatch(server, [callOf(1, 'add', ADD), message(2, 'ping')], { authorization: 'Bearer ann' })
    const kept = entries.map(({ method, target, subject }) => [method, target, subject])
    expect(kept.sort()).toEqual([
      ['ping', undefined, 'ann'],
      ['tools/call', 'add', 'ann'],
    ])
    expect(lines.map(({ method }) => method)).toEqual(['batch'])
  })

  it('a message of method "batch" does not escape the audit trail [batch.guards]', async () => {
    const entries: AuditEntry[] = []
    const server = create({ audit: { record: (entry) => void entries.push(entry) } })
    await (await server.handle(post(message(1, 'batch')), {})).text()
    expect(entries).toHaveLength(1)
  })

  it('what the caller may not use is refused, and left out of lists [batch.guards]', async () => {
    const hidden = _name === 'MCPServer' ? 'admin' : 'who'
    const [called, listed] = await sendBatch(
      create({ auth }),
      [callOf(1, hidden), message(2, 'tools/list')],
      { authorization: 'Bearer ann' },
    )
    expect(called?.error?.message).toContain('scope admin')
    const names = listed?.result?.tools?.map(({ name }) => name)
    expect(names).toContain('add')
    expect(names).not.toContain(hidden)
  })

  it('a hundred messages and no more, and only in 2025-03-26 [batch.guards]', async () => {
    const many = (length: number) => Array.from({ length }, (_, id) => message(id, 'ping'))
    const server = create({})
    expect(await sendBatch(server, many(100))).toHaveLength(100)
    for (const refused of [
      post(many(101)),
      post([...many(2), message(1, 'ping')]),
      post(many(1), { headers: { 'mcp-protocol-version': '2025-11-25' } }),
    ]) {
      expect((await server.handle(refused, {})).status).toBe(400)
    }
  })
})

describe('a batch', () => {
  it('each message takes a place of maxConcurrentCalls [batch.guards]', async () => {
    const { promise, resolve } = deferred<string>()
    let started = 0
    const wait = createTool({
      id: 'wait',
      execute: () => {
        started++
        return promise
      },
    })
    let ended = 0
    const audit = { record: () => void ended++ }
    const http = { maxConcurrentCalls: 2, callerShare: 1 }
    const server = createServer({ tools: { wait }, audit, http })
    const sent = sendBatch(
      server,
      [1, 2, 3].map((id) => callOf(id, 'wait')),
    )
    await eventually(() => expect([started, ended]).toEqual([2, 1]))
    expect((await server.handle(post(message(9, 'ping')), {})).status).toBe(503)
    resolve('done')
    const parts = await sent
    expect(parts.filter(({ error }) => error?.message.includes('concurrent'))).toHaveLength(1)
    expect((await server.handle(post(message(9, 'ping')), {})).status).toBe(200)
  })

  it.each([
    ['v1', createV1],
    ['v2', createV2],
  ] as const)(
    'of an SDK %s server ends in time, and when its client leaves [batch.guards]',
    async (_sdk, factory) => {
      const seen: { aborted?: boolean; waiting?: number } = {}
      const server = fromSdk((context) => factory(context, seen), {
        log: false,
        // What is loaded by the first call takes its time.
        http: { maxCallMs: 1000, maxConcurrentCalls: 1 },
      })
      const [part] = await sendBatch(server, [callOf(1, 'wait')])
      expect(part?.error?.data?.limit).toBe('deadline')
      await eventually(() => expect(seen.aborted).toBe(true))

      const patient = fromSdk((context) => factory(context, seen), {
        log: false,
        http: { maxConcurrentCalls: 1 },
      })
      seen.aborted = false
      const leave = new AbortController()
      const left = patient.handle(post([callOf(1, 'wait')], { signal: leave.signal }), {})
      await eventually(() => expect(seen.waiting).toBe(2))
      expect((await patient.handle(post(message(9, 'ping')), {})).status).toBe(503)
      leave.abort()
      await left
      await eventually(() => expect(seen.aborted).toBe(true))
      expect((await patient.handle(post(message(9, 'ping')), {})).status).toBe(200)
    },
  )
})

describe('answers that are too large in all', () => {
  const MB = 1_000_000
  const read = (id: number) => message(id, 'resources/read', { uri: 'docs://manual' })
  const bodyOf = (count: number) => JSON.stringify(Array.from({ length: count }, (_, id) => read(id)))
  const ask = async (body: string, readManual: () => string | Promise<string>) => {
    const manual = createResource({ uri: 'docs://manual', read: readManual })
    const response = await createServer({ resources: [manual] }).fetch(batchOf(body))
    return (await response.json()) as Part[]
  }
  const batchOf = (body: string) => post(body, { headers: { 'mcp-protocol-version': '2025-03-26' } })

  it('are no more than 4 MiB, and the requests after them are not run [batch.guards]', async () => {
    let reads = 0
    const parts = await ask(bodyOf(100), () => {
      reads++
      return 'x'.repeat(MB)
    })
    expect(parts).toHaveLength(100)
    expect(parts.filter(({ result }) => result !== undefined)).toHaveLength(4)
    expect(parts[99]).toMatchObject({ id: 99, error: { code: -32_603, data: { limit: 'responseBytes' } } })
    expect(reads).toBe(5)
  })

  it('of requests that wait: all run at once, and what arrives too late is refused [batch.guards]', async () => {
    const all = deferred()
    let reads = 0
    const parts = await ask(bodyOf(10), async () => {
      if (++reads === 10) all.resolve()
      await all.promise
      return 'x'.repeat(MB)
    })
    expect(parts.filter(({ result }) => result !== undefined)).toHaveLength(4)
    expect(parts.filter(({ error }) => error?.data?.limit === 'responseBytes')).toHaveLength(6)
  })
})
