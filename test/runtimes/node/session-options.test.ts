/** What docs/sessions.md promises of the options of `createSessions`, and of its end. */

import { afterEach, describe, expect, it, vi } from 'vitest'
import { closeSessions, createSessions, type Sessions, type SessionsOptions } from '../../../adapters/node.ts'
import { startHonoSSE } from '../../../adapters/node-mastra.ts'
import { createTool, type MCPServerConfig } from '../../../src/index.ts'
import { withServerCard } from '../../../src/server-card.ts'
import { createMemoryTasks, createTaskEndpoint } from '../../../src/tasks.ts'
import { secretOf } from '../../_secrets.ts'
import { createFixture } from './_session-server.ts'

const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: { elicitation: {} },
    clientInfo: { name: 'raw', version: '1' },
  },
}

const running: Sessions[] = []
afterEach(async () => {
  vi.useRealTimers()
  for (const sessions of running.splice(0)) await sessions.close()
})

it.each<SessionsOptions>([
  { idleMs: 2 ** 31 },
  { idleMs: Number.NaN },
  { idleMs: 0 },
  { idleMs: '1000' as never },
  { maxSessions: Number.NaN },
  { maxSessions: 0 },
  { maxSessions: 1.5 },
  { maxSessions: '5' as never },
])('createSessions(server, %o) → TypeError that names the option', (options) => {
  const { server } = createFixture()
  expect(() => createSessions(server, options)).toThrow(
    new RegExp(`^"${Object.keys(options)[0]}"(?: of createSessions)? must be`),
  )
})

/** In this process, without sockets: clocks may be faked. */
async function start(options: SessionsOptions = {}, config: Partial<MCPServerConfig> = {}) {
  const { server } = createFixture(config)
  const sessions = createSessions(server, options)
  running.push(sessions)
  const send = async (body: object, headers: Record<string, string> = {}): Promise<Response> =>
    sessions.fetch(
      new Request('https://mcp.example/mcp', {
        method: 'POST',
        headers: { ...HEADERS, ...headers },
        body: JSON.stringify(body),
      }),
      {},
    )
  const opened = await send(INITIALIZE)
  await opened.text()
  const id = opened.headers.get('mcp-session-id')!
  const inSession = { 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' }
  const call = (name: string, args: object = {}): Promise<Response> =>
    send({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name, arguments: args } }, inSession)
  const listen = async (): Promise<Response> =>
    sessions.fetch(
      new Request('https://mcp.example/mcp', { headers: { accept: 'text/event-stream', ...inSession } }),
      {},
    )
  return { sessions, id, send, call, listen }
}

/** A tool that answers when it is told to. */
function held() {
  let release = (): void => {}
  let signal: AbortSignal | undefined
  const tool = createTool({
    id: 'held',
    execute: (_input, ctx) => {
      signal = ctx.signal
      return new Promise<string>((resolve) => {
        release = () => resolve('released')
      })
    },
  })
  return { tools: { held: tool }, release: () => release(), signal: () => signal }
}

describe('the options of sessions', () => {
  it('sessionIdGenerator makes the ids, and both hooks are told them', async () => {
    const told: [string, string][] = []
    const { id, sessions } = await start({
      sessionIdGenerator: () => 'made-by-me',
      onsessioninitialized: (opened) => void told.push(['opened', opened]),
      onsessionclosed: (closed) => void told.push(['closed', closed]),
    })
    expect(id).toBe('made-by-me')
    const headers = { 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' }
    await sessions.fetch(new Request('https://mcp.example/mcp', { method: 'DELETE', headers }), {})
    expect(told).toEqual([
      ['opened', 'made-by-me'],
      ['closed', 'made-by-me'],
    ])
  })

  it('without one they are random, and no two alike', async () => {
    const ids = await Promise.all([start(), start()].map(async (started) => (await started).id))
    for (const id of ids) expect(id).toMatch(/^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/)
    expect(new Set(ids).size).toBe(2)
  })

  it('enableJsonResponse → JSON, without what is notified during the call', async () => {
    const { call } = await start({ enableJsonResponse: true })
    const response = await call('work')
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(await response.json()).toMatchObject({ id: 7, result: { content: [{ type: 'text' }] } })
  })

  it('enableJsonResponse → a question is lost: the call ends with a typed result, in time', async () => {
    const { call } = await start({ enableJsonResponse: true }, { askTimeoutMs: 50 })
    const { result } = await (await call('order', { item: 'figs' })).json()
    expect(result).toMatchObject({
      isError: true,
      _meta: { 'mayfly/degraded': { feature: 'elicitation.form' } },
    })
  })

  describe.each([true, false])('enableJsonResponse: %s', (enableJsonResponse) => {
    const ends: readonly (readonly [
      how: string,
      end: (sessions: Sessions, headers: Record<string, string>) => unknown,
    ])[] = [
      [
        'DELETE',
        (sessions, headers) =>
          sessions.fetch(new Request('https://mcp.example/mcp', { method: 'DELETE', headers }), {}),
      ],
      ['close()', (sessions) => Promise.all([sessions.close(), vi.advanceTimersByTimeAsync(5000)])],
    ]
    const wait = (id: number) => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name: 'wait', arguments: {} },
    })

    it.each(
      ends.flatMap(
        ([how, end]) =>
          [
            [how, 'a call', wait(7), end],
            [how, 'a batch', [wait(7), wait(8)], end],
          ] as const,
      ),
    )('%s while %s waits → it is answered with a typed error', async (_how, _what, body, end) => {
      let started = 0
      const never = createTool({
        id: 'wait',
        execute() {
          started++
          return new Promise(() => {})
        },
      })
      const { sessions, send, id } = await start({ enableJsonResponse }, { tools: { wait: never } })
      vi.useFakeTimers()
      const headers = { 'mcp-session-id': id, 'mcp-protocol-version': '2025-03-26' }
      const answering = send(body, headers)
      await vi.waitFor(() => expect(started).toBe([body].flat().length))
      await end(sessions, headers)
      const text = await (await answering).text()
      for (const { id: asked } of [body].flat())
        expect(text).toContain(`"id":${asked},"error":{"code":-32001,`)
      expect(sessions.size).toBe(0)
    })
  })

  it('an id of another process → 404, whatever is asked', async () => {
    const { sessions } = await start()
    const foreign = { ...HEADERS, 'mcp-session-id': (await start()).id, 'mcp-protocol-version': '2025-11-25' }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })
    for (const init of [{ method: 'POST', body }, { method: 'GET' }, { method: 'DELETE' }]) {
      const response = await sessions.fetch(
        new Request('https://mcp.example/mcp', { ...init, headers: foreign }),
        {},
      )
      expect(response.status, init.method).toBe(404)
    }
  })
})

it('there may be 1000 sessions, where nothing else is said; one more ends the one that was idle longest', async () => {
  const { sessions, send, call } = await start()
  for (let opened = 1; opened < 1000; opened++) await (await send(INITIALIZE)).text()
  expect(sessions.size).toBe(1000)
  const opened = await send(INITIALIZE)
  expect([opened.status, sessions.size]).toEqual([200, 1000])
  expect((await call('who')).status).toBe(404)
})

it('while each session has a stream, one more → 503 with Retry-After', async () => {
  const { sessions, send, listen } = await start({ maxSessions: 1 })
  const stream = await listen()
  const refused = await send(INITIALIZE)
  expect([refused.status, refused.headers.get('retry-after'), sessions.size]).toEqual([503, '10', 1])
  await stream.body!.cancel()
})

it('a session subscribes to 1000 resources; one more is refused', async () => {
  const { send, id } = await start()
  const inSession = { 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' }
  const subscribe = async (index: number): Promise<string> => {
    const params = { uri: `note://${index}` }
    return (
      await send({ jsonrpc: '2.0', id: index, method: 'resources/subscribe', params }, inSession)
    ).text()
  }
  for (let index = 0; index < 1000; index++) await subscribe(index)
  expect(await subscribe(0)).toContain('"result":{}')
  expect(await subscribe(1000)).toContain('at most 1000 URIs')
})

it('of the deprecated transport 1000 streams are open at once; one more → 503', async () => {
  const { server } = createFixture()
  const url = new URL('http://localhost/sse')
  const open = () => {
    const raw = new Request(url, { headers: { accept: 'text/event-stream' } })
    return startHonoSSE({ server, url, ssePath: '/sse', messagePath: '/message', context: { req: { raw } } })
  }
  const streams: Response[] = []
  for (let stream = 0; stream < 1000; stream++) streams.push(await open())
  expect(new Set(streams.map(({ status }) => status))).toEqual(new Set([200]))
  expect((await open()).status).toBe(503)
  await closeSessions(server)
  const again = await open()
  expect(again.status).toBe(200)
  await closeSessions(server)
})

describe('a session that nobody uses', () => {
  it('ends after idleMs, half an hour by default, and not a moment before', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    for (const [options, idleMs] of [
      [{}, 1_800_000],
      [{ idleMs: 100 }, 100],
    ] as const) {
      const { sessions } = await start(options)
      await vi.advanceTimersByTimeAsync(idleMs - 1)
      expect(sessions.size).toBe(1)
      await vi.advanceTimersByTimeAsync(1)
      expect(sessions.size).toBe(0)
    }
  })

  it('does not end while a stream of it is open, or a call runs', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const { tools, release } = held()
    const { sessions, listen, call } = await start({ idleMs: 100 }, { tools })
    const stream = await listen()
    await vi.advanceTimersByTimeAsync(1000)
    expect(sessions.size).toBe(1)
    // Another request that ends does not end the stream's time.
    await (await call('work')).text()
    await vi.advanceTimersByTimeAsync(1000)
    expect(sessions.size).toBe(1)
    await stream.body!.cancel()
    const answer = (await call('held')).text()
    await vi.advanceTimersByTimeAsync(1000)
    expect(sessions.size).toBe(1)
    release()
    await answer
    await vi.advanceTimersByTimeAsync(100)
    expect(sessions.size).toBe(0)
  })
})

describe('the end of sessions', () => {
  it('waits for calls that run, and takes no message meanwhile', async () => {
    const { tools, release, signal } = held()
    const { sessions, call, send } = await start({}, { tools })
    const answer = (await call('held')).text()
    const closed = sessions.close()
    expect((await send(INITIALIZE)).status).toBe(503)
    expect((await call('work')).status).toBe(503)
    expect([signal()!.aborted, sessions.size]).toEqual([false, 1])
    release()
    expect(await answer).toContain('released')
    await closed
    expect(sessions.size).toBe(0)
  })

  it('waits no longer than 5 seconds', async () => {
    const { tools, signal } = held()
    const { sessions, call } = await start({}, { tools })
    const answer = (await call('held')).text().catch(() => '')
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const closed = sessions.close()
    await vi.advanceTimersByTimeAsync(4999)
    expect([signal()!.aborted, sessions.size]).toEqual([false, 1])
    await vi.advanceTimersByTimeAsync(1)
    await closed
    await answer
    expect([signal()!.aborted, sessions.size]).toEqual([true, 0])
  })
})

it('every answer forbids sniffing, and none is stored [http.no-sniff]', async () => {
  const { sessions, send, call, listen, id } = await start()
  const json = await start({ enableJsonResponse: true })
  const inSession = { 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' }
  const other = (method: string, headers: Record<string, string>) =>
    sessions.fetch(new Request('https://mcp.example/mcp', { method, headers }), {})
  const answers: Record<string, Response> = {
    'a stream of a call': await call('work'),
    'an answer in JSON': await json.call('work'),
    'a stream of a session': await listen(),
    'an unknown session': await send({ jsonrpc: '2.0', id: 1, method: 'ping' }, { 'mcp-session-id': 'x' }),
    'no message': await send({ nothing: true }, inSession),
    'a notification': await send({ jsonrpc: '2.0', method: 'notifications/initialized' }, inSession),
    'an Accept that is refused': await send(
      { jsonrpc: '2.0', id: 1, method: 'ping' },
      { ...inSession, accept: 'application/json' },
    ),
    'the end of a session': await other('DELETE', inSession),
  }
  const closed = sessions.close()
  answers['a server that is closing'] = await send(INITIALIZE)
  await closed
  for (const [what, { headers }] of Object.entries(answers)) {
    expect([what, headers.get('x-content-type-options')]).toEqual([what, 'nosniff'])
    expect([what, headers.get('cache-control')]).toEqual([what, expect.stringMatching(/no-store|no-cache/)])
  }
  for (const { body } of Object.values(answers)) await body?.cancel()
})

describe('what is around sessions', () => {
  it('a server card and an endpoint of tasks are served beside them', async () => {
    const secret = secretOf('x')
    const { server } = createFixture({ description: 'Sells things', tasks: createMemoryTasks() })
    const sessions = createSessions(server)
    running.push(sessions)
    const mounted = createTaskEndpoint({ server: sessions, secret }).mount()
    const served = withServerCard(mounted, { url: 'https://mcp.example/mcp', name: 'example.mcp/shop' })
    const ask = async (path: string, init: RequestInit = {}): Promise<Response> =>
      served.fetch(new Request(`https://mcp.example${path}`, init))

    const card = await ask('/mcp/server-card')
    const tasks = await ask('/tasks', { method: 'POST', headers: { authorization: `Bearer ${secret}` } })
    const opened = await ask('/mcp', { method: 'POST', headers: HEADERS, body: JSON.stringify(INITIALIZE) })

    expect(await card.json()).toMatchObject({ name: 'example.mcp/shop', description: 'Sells things' })
    expect(await tasks.json()).toEqual({ run: 0 })
    expect(opened.headers.get('mcp-session-id')).not.toBeNull()
    expect(sessions.size).toBe(1)
  })

  it('inside of them → a TypeError that says which goes around which', () => {
    const { server } = createFixture({ description: 'Sells things' })
    const card = withServerCard(server, { url: 'https://mcp.example/mcp', name: 'example.mcp/shop' })
    expect(() => createSessions(card as never)).toThrow(
      new TypeError(
        'createSessions takes an MCPServer: put wrappers around the sessions, as in withServerCard(createSessions(server), …).',
      ),
    )
  })
})
