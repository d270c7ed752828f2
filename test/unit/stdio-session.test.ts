/** What holds where there is no HTTP: docs/sessions.md and docs/http.md on stdio. */
import { describe, expect, it, vi } from 'vitest'
import { bearer } from '../../src/auth.ts'
import { createMemoryBus, createTool, type MCPServerConfig } from '../../src/index.ts'
import { createSession } from '../../src/protocol/session.ts'
import { eventually } from '../_eventually.ts'
import { createServer, deferred, META, VERSION } from './_client.ts'

const tools = {
  open: createTool({ id: 'open', execute: () => 'opened' }),
  guarded: createTool({ id: 'guarded', scopes: ['vault'], execute: () => 'gold' }),
}

/** As the adapter for stdio connects a server: messages come from nobody’s HTTP request. */
function connect(config: Partial<MCPServerConfig>) {
  const said: { id?: unknown; method?: unknown; result?: unknown; error?: unknown }[] = []
  const parts = createServer({ tools, auth: 'host', ...config }).getSessionParts()
  const session = createSession(parts, {
    id: () => undefined,
    platform: { env: {} },
    send: async (message) => void said.push(message as object),
  })
  return { said, send: (message: object) => session.receive({ jsonrpc: '2.0', ...message }, undefined) }
}

const modern = (id: number, name: string) => {
  const _meta = { [META.protocolVersion]: VERSION, [META.clientCapabilities]: {} }
  return { id, method: 'tools/call', params: { name, arguments: {}, _meta } }
}
const legacy = (id: number, name: string) => ({
  id,
  method: 'tools/call',
  params: { name, arguments: {} },
})

describe.each([
  ['modern', modern],
  ['legacy', legacy],
] as const)('a %s message on stdio', (_era, call) => {
  it('is in no log, even one’s own, and once in the audit trail [log.sink] [audit.entry]', async () => {
    const [log, record] = [vi.fn(), vi.fn()]
    const printed = vi.spyOn(console, 'log').mockImplementation(() => undefined)
    for (const config of [{ log }, {}]) {
      const { send, said } = connect({ ...config, audit: { record } })
      await send(call(1, 'open'))
      await send(call(2, 'nothing'))
      await send({ id: 3, method: 'no/such' })
      expect(said).toHaveLength(3)
    }
    expect([log.mock.calls, printed.mock.calls]).toEqual([[], []])
    expect(record).toHaveBeenCalledTimes(6)
    printed.mockRestore()
  })

  it('needs no token and no scope, and is counted by no limiter: who starts the process is trusted', async () => {
    const limit = vi.fn(() => ({ ok: false as const, retryAfterSeconds: 1 }))
    const verify = vi.fn(() => undefined)
    const { send, said } = connect({
      auth: bearer(verify),
      http: { rateLimiter: { limit }, allowedHosts: ['mcp.example'], allowedOrigins: [] },
    })
    await send(call(1, 'guarded'))
    expect(said).toMatchObject([{ id: 1, result: { content: [{ text: 'gold' }] } }])
    expect([verify.mock.calls, limit.mock.calls]).toEqual([[], []])
  })
})

it.each<[string, object, number | undefined]>([
  ['a request', { id: 7, method: 'tools/list', params: {} }, 7],
  ['a request with invalid params', { id: 7, method: 'tools/list', params: [] }, 7],
  ['a request of another JSON-RPC', { jsonrpc: '1.0', id: 7, method: 'tools/list' }, 7],
  ['a request with an invalid id', { id: {}, method: 'tools/list' }, undefined],
  ['what may be a response', { id: 7 }, undefined],
])('%s over a limit → an error with its id, if it has one [limits.json]', async (_what, message, id) => {
  const { send, said } = connect({ http: { maxJsonMembers: 10 } })
  await send({ ...message, more: Array(20).fill(1) })
  expect(said).toMatchObject([{ error: { code: -32600, message: expect.stringContaining('members') } }])
  expect(said[0]?.id).toBe(id)
})

it('a gap of the bus → one notification for each list that there is, and each subscription [listen.gap]', async () => {
  const bus = createMemoryBus()
  const { send, said } = connect({ bus, resources: [{ uri: 'a://1', read: () => '' }] })
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } }
  await send({ id: 1, method: 'initialize', params })
  await send({ id: 2, method: 'resources/subscribe', params: { uri: 'a://1' } })
  await bus.publish({ type: 'gap' })
  await eventually(() => expect(said).toHaveLength(5))
  expect(said.slice(2)).toMatchObject([
    { method: 'notifications/tools/list_changed' },
    { method: 'notifications/resources/list_changed' },
    { method: 'notifications/resources/updated', params: { uri: 'a://1' } },
  ])
})

it.each(['a call', 'a call that has logged'])(
  '%s that the client cancels is over, without an answer',
  async (what) => {
    const started = deferred<AbortSignal>()
    const wait = createTool({
      id: 'wait',
      execute: (_input, ctx) => {
        if (what !== 'a call') ctx.log('info', 'begun')
        started.resolve(ctx.signal)
        return new Promise(() => {})
      },
    })
    const { send, said } = connect({ tools: { wait } })
    let isOver = false
    void send(legacy(1, 'wait')).then(() => {
      isOver = true
    })
    const signal = await started.promise
    await eventually(() => expect(said).toHaveLength(what === 'a call' ? 0 : 1))
    await send({ method: 'notifications/cancelled', params: { requestId: 1 } })
    await eventually(() => expect(isOver).toBe(true))
    expect(signal.aborted).toBe(true)
    expect(said.map(({ method }) => method)).toEqual(what === 'a call' ? [] : ['notifications/message'])
  },
)
