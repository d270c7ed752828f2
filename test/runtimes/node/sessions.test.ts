/** A long-lived process, with the official clients of both eras. */

import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect as connectSocket } from 'node:net'
import { serve as serveHono } from '@hono/node-server'
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
} from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { Hono } from 'hono'
import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  closeSessions,
  createSessions,
  type Sessions,
  type SessionsOptions,
  serve,
  startHTTP,
} from '../../../adapters/node.ts'
import { startHonoSSE, startSSE } from '../../../adapters/node-mastra.ts'
import { bearer, staticTokens } from '../../../src/auth.ts'
import { createTool, type MCPServerConfig } from '../../../src/index.ts'
import { createTool as createSdkTool } from '../../../src/sdk-context.ts'
import { eventually } from '../../_eventually.ts'
import { secretOf } from '../../_secrets.ts'
import { createFixture, type SessionFixture } from './_session-server.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean()
})

interface Running extends SessionFixture {
  readonly url: URL
  readonly sessions: Sessions
}

async function start(options: SessionsOptions = {}, config: Partial<MCPServerConfig> = {}): Promise<Running> {
  const fixture = createFixture(config)
  const sessions = createSessions(fixture.server, options)
  const { url, close } = await serve(sessions, { port: 0 })
  cleanups.push(close)
  return { ...fixture, sessions, url: new URL(url) }
}

/** A client that can be asked for anything. */
function createClient(): Client {
  const client = new Client(
    { name: 'desktop', version: '1.0.0' },
    { capabilities: { elicitation: {}, sampling: {}, roots: {} } },
  )
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { count: 3 } }))
  client.setRequestHandler(CreateMessageRequestSchema, () => ({
    model: 'none',
    role: 'assistant',
    content: { type: 'text', text: 'Hi' },
  }))
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: 'file:///home' }] }))
  return client
}

async function connect(url: URL, headers: Record<string, string> = {}): Promise<Client> {
  const client = createClient()
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }) as never)
  cleanups.push(() => client.close())
  return client
}

const call = async (client: Client, name: string, args: Record<string, unknown> = {}): Promise<string> => {
  const { content } = (await client.callTool({ name, arguments: args })) as { content: { text: string }[] }
  return content[0]!.text
}

describe('a legacy client in a session', () => {
  it('is asked, sampled, and tells its roots', async () => {
    const { url } = await start()
    const client = await connect(url)
    expect(await call(client, 'order', { item: 'apples' })).toBe('3 apples')
    expect(await call(client, 'summarise')).toContain('Hi')
    expect(await call(client, 'roots')).toBe('file:///home')
    expect(JSON.parse(await call(client, 'can')).features).toHaveLength(4)
  })

  it('subscribes, and is told of changes until it unsubscribes', async () => {
    const { url, server } = await start()
    const client = await connect(url)
    expect(client.getServerCapabilities()).toMatchObject({
      tools: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
    })
    const heard: string[] = []
    client.setNotificationHandler(
      ResourceUpdatedNotificationSchema,
      ({ params }) => void heard.push(params.uri),
    )
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => void heard.push('tools'))
    await client.subscribeResource({ uri: 'note://1' })
    // Until its stream is open nothing can be heard.
    await eventually(async () => {
      await server.tools.notifyListChanged()
      expect(heard).toContain('tools')
    })
    await server.resources.notifyUpdated({ uri: 'note://1' })
    await server.resources.notifyUpdated({ uri: 'note://2' })
    await eventually(() => expect(heard).toContain('note://1'))
    await client.unsubscribeResource({ uri: 'note://1' })
    heard.length = 0
    await server.resources.notifyUpdated({ uri: 'note://1' })
    await server.tools.notifyListChanged()
    await eventually(() => expect(heard).toContain('tools'))
    expect(heard.filter((what) => what !== 'tools')).toEqual([])
  })

  it('is told of changes by callbacks written for an SDK, too', async () => {
    const fixture = createFixture()
    const change = createSdkTool({
      id: 'change',
      execute: async (_input, extra) => {
        await extra.sendNotification({ method: 'notifications/tools/list_changed' })
        return 'changed'
      },
    })
    fixture.server.registerTool('change', {}, (ctx) => change.execute({}, ctx))
    const sessions = createSessions(fixture.server)
    const { url, close } = await serve(sessions, { port: 0 })
    cleanups.push(close)
    const client = await connect(new URL(url))
    const heard: string[] = []
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => void heard.push('tools'))
    await eventually(async () => {
      await call(client, 'change')
      expect(heard).toContain('tools')
    })
  })

  it('has its log level remembered, hears progress, and knows its session', async () => {
    const { url } = await start()
    const client = await connect(url)
    const levels: string[] = []
    client.setNotificationHandler(
      LoggingMessageNotificationSchema,
      ({ params }) => void levels.push(params.level),
    )
    const progress: number[] = []
    const work = () =>
      client.callTool({ name: 'work', arguments: {} }, undefined, {
        onprogress: (report) => progress.push(report.progress),
      })
    await work()
    expect(levels).toEqual(['warning'])
    expect(progress).toEqual([1, 2])
    await client.setLoggingLevel('debug')
    const { content } = (await work()) as { content: { text: string }[] }
    expect(levels).toEqual(['warning', 'debug', 'warning'])
    expect(content[0]!.text).toMatch(/^[\da-f-]{36}$/)
  })

  it('cancels a call', async () => {
    const { url, aborted } = await start()
    const client = await connect(url)
    const cancel = new AbortController()
    const waiting = client.callTool({ name: 'wait', arguments: {} }, undefined, { signal: cancel.signal })
    waiting.catch(() => {})
    await call(client, 'can')
    cancel.abort()
    await eventually(() => expect(aborted).toHaveLength(1))
    expect(await call(client, 'can')).toContain('features')
  })

  it('takes up a stream that broke, where events are kept', async () => {
    const { url } = await start({ eventStore: createOrderedStore() })
    const client = await connect(url)
    const tokens: string[] = []
    await client.callTool({ name: 'work', arguments: {} }, undefined, {
      onresumptiontoken: (token) => tokens.push(token),
    })
    expect(tokens.length).toBeGreaterThan(1)
    const id = (client.transport as StreamableHTTPClientTransport).sessionId!
    const replayed = await fetch(url, {
      headers: { accept: 'text/event-stream', 'mcp-session-id': id, 'last-event-id': tokens[0]! },
    })
    const reader = replayed.body!.getReader()
    expect(new TextDecoder().decode((await reader.read()).value)).toContain('id: ')
    await reader.cancel()
  })

  it('two clients hear nothing of each other', async () => {
    const { url, sessions } = await start()
    const [one, two] = await Promise.all([connect(url), connect(url)])
    two.setRequestHandler(ElicitRequestSchema, () => ({ action: 'decline' }))
    expect(await Promise.all([call(one, 'order', { item: 'a' }), call(two, 'order', { item: 'b' })])).toEqual(
      ['3 a', 'decline'],
    )
    expect(sessions.size).toBe(2)
  })
})

/** Speaks to a session without a client, so that anything can be sent. */
async function openRaw(url: URL, more: Record<string, string> = {}) {
  const base = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...more }
  const send = (body: unknown, headers: Record<string, string> = {}) =>
    fetch(url, {
      method: 'POST',
      headers: { ...base, ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  const params = {
    protocolVersion: '2025-03-26',
    capabilities: {},
    clientInfo: { name: 'raw', version: '1' },
  }
  const opened = await send({ jsonrpc: '2.0', id: 0, method: 'initialize', params })
  await opened.text()
  const id = opened.headers.get('mcp-session-id')!
  return {
    id,
    send: (body: unknown, headers: Record<string, string> = {}) =>
      send(body, { 'mcp-session-id': id, ...headers }),
    listen: (headers: Record<string, string> = {}) =>
      fetch(url, { headers: { accept: 'text/event-stream', 'mcp-session-id': id, ...more, ...headers } }),
  }
}

const request = (id: number, method: string, params: object = {}) => ({ jsonrpc: '2.0', id, method, params })

const TOKENS = { ann: secretOf('a'), bob: secretOf('b') }
const auth = staticTokens([
  { token: TOKENS.ann, clientId: 'ann', scopes: [] },
  { token: TOKENS.bob, clientId: 'bob', scopes: [] },
])

/** Keeps events in the order in which they came, by ids that say of which stream they are. */
function createOrderedStore() {
  const events: { id: string; streamId: string; message: never }[] = []
  return {
    events,
    async storeEvent(streamId: string, message: never) {
      const id = `${streamId}_${events.length}`
      events.push({ id, streamId, message })
      return id
    },
    async replayEventsAfter(
      lastEventId: string,
      { send }: { send: (id: string, message: never) => Promise<void> },
    ) {
      const last = events.findIndex(({ id }) => id === lastEventId)
      const { streamId } = events[last]!
      for (const event of events.slice(last + 1))
        if (event.streamId === streamId) await send(event.id, event.message)
      return streamId
    },
  }
}

describe('what holds for a stateless call holds in a session', () => {
  it('one principal’s notifications are not replayed to another', async () => {
    const eventStore = createOrderedStore()
    const { url, server } = await start({ eventStore }, { auth })
    const ann = await openRaw(url, { authorization: `Bearer ${TOKENS.ann}` })
    const bob = await openRaw(url, { authorization: `Bearer ${TOKENS.bob}` })
    const streams = await Promise.all([ann.listen(), bob.listen()])
    const kept = (list: string) =>
      eventStore.events.filter(
        ({ message }) => (message as { method?: string }).method === `notifications/${list}/list_changed`,
      )
    await server.tools.notifyListChanged()
    await eventually(() => expect(kept('tools')).toHaveLength(2))
    await server.prompts.notifyListChanged()
    await eventually(() => expect(kept('prompts')).toHaveLength(2))
    for (const { body } of streams) await body?.cancel()

    const [first] = kept('tools')
    const answers = await Promise.all(
      [ann, bob].map(async (session) => {
        const response = await session.listen({ 'last-event-id': first!.id })
        const reader = response.body!.getReader()
        const text = new TextDecoder().decode((await reader.read()).value)
        await reader.cancel()
        return { status: response.status, text }
      }),
    )
    const own = answers.filter(({ status }) => status === 200)
    expect(own).toHaveLength(1)
    expect(own[0]?.text).toContain('prompts/list_changed')
    expect(answers.find(({ status }) => status !== 200)?.text).not.toContain('list_changed')
  })

  it('a modern body needs its headers there, too', async () => {
    const session = await openRaw((await start()).url)
    const KEY = 'io.modelcontextprotocol/'
    const _meta = { [`${KEY}protocolVersion`]: '2026-07-28', [`${KEY}clientCapabilities`]: {} }
    const answer = await session.send(request(1, 'tools/list', { _meta }))
    expect(await answer.text()).toContain('-32020')
  })

  it('a body that stops is given up', async () => {
    const { url } = await start({}, { http: { bodyTimeoutMs: 50 } })
    const { id } = await openRaw(url)
    const headers = `Host: ${url.host}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMcp-Session-Id: ${id}\r\nContent-Length: 100\r\n\r\n`
    const socket = connectSocket({ host: url.hostname, port: Number(url.port) })
    const answered = new Promise<string>((resolve) => socket.once('data', (data) => resolve(String(data))))
    socket.write(`POST /mcp HTTP/1.1\r\n${headers}{"jsonrpc":`)
    expect(await answered).toMatch(/^HTTP\/1.1 408/)
    socket.destroy()
  })

  it('JSON limits and batches, too', async () => {
    const { url } = await start({}, { http: { maxJsonDepth: 8 } })
    const session = await openRaw(url)
    const deep = JSON.parse(`${'['.repeat(9)}${']'.repeat(9)}`)
    expect((await session.send(request(1, 'ping', { deep }))).status).toBe(400)
    expect((await session.send('{"jsonrpc"')).status).toBe(400)
    const many = Array.from({ length: 101 }, (_, id) => request(id, 'ping'))
    expect((await session.send(many)).status).toBe(400)
  })

  it('a request without a session is verified and counted once', async () => {
    const limit = vi.fn(async () => ({ ok: true as const }))
    const verify = vi.fn(() => ({ clientId: 'ann', scopes: [] }))
    const { url } = await start({}, { auth: bearer(verify), http: { rateLimiter: { limit } } })
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        authorization: 'Bearer t',
        'mcp-protocol-version': '2025-11-25',
      },
      body: JSON.stringify(request(1, 'ping')),
    })
    expect([response.status, verify.mock.calls.length, limit.mock.calls.length]).toEqual([200, 1, 1])
  })

  it('refusals and messages are logged and audited, each once', async () => {
    const lines: string[] = []
    const entries: string[] = []
    const { url } = await start(
      {},
      {
        auth,
        log: ({ method, status, httpMethod }) => void lines.push(`${httpMethod} ${method} ${status}`),
        audit: { record: ({ method, outcome }) => void entries.push(`${method} ${outcome}`) },
      },
    )
    const ann = await openRaw(url, { authorization: `Bearer ${TOKENS.ann}` })
    await (await ann.send(request(1, 'tools/list'))).text()
    expect((await ann.send(request(2, 'ping'), { authorization: 'Bearer none' })).status).toBe(401)
    expect((await ann.send(request(2, 'ping'), { authorization: `Bearer ${TOKENS.bob}` })).status).toBe(404)
    expect((await ann.send('{')).status).toBe(400)
    expect((await ann.send(request(2, 'ping'), { accept: 'application/json' })).status).toBe(406)
    expect(lines).toEqual([
      'POST initialize 200',
      'POST tools/list 200',
      'POST undefined 401',
      'POST undefined 404',
      'POST undefined 400',
      'POST undefined 406',
    ])
    expect(entries).toHaveLength(6)
    expect(entries.slice(0, 4)).toEqual([
      'initialize done',
      'tools/list done',
      'undefined refused',
      'undefined refused',
    ])
  })

  it('background work that fails is reported, and ends nothing', async () => {
    const rejected: unknown[] = []
    const onRejection = (reason: unknown) => void rejected.push(reason)
    process.on('unhandledRejection', onRejection)
    cleanups.push(() => process.off('unhandledRejection', onRejection))
    const onError = vi.fn()
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const background = createTool({
      id: 'background',
      execute: (_input, ctx) => {
        ctx.waitUntil(Promise.reject(new Error('in the background')))
        return 'done'
      },
    })
    const { server } = createFixture({ tools: { background }, onError })
    // Without what an adapter gives: a platform may have no waitUntil.
    const sessions = createSessions(server)
    const running = await serveHono({ fetch: (request) => sessions.handle(request, {}), port: 0 })
    cleanups.push(() => running.close())
    const { port } = running.address() as AddressInfo
    const session = await openRaw(new URL(`http://127.0.0.1:${port}/mcp`))
    const answer = await session.send(request(1, 'tools/call', { name: 'background', arguments: {} }))
    expect(await answer.text()).toContain('done')
    await eventually(() => expect(onError).toHaveBeenCalledOnce())
    await new Promise((resolve) => setImmediate(resolve))
    expect(rejected).toEqual([])
    vi.restoreAllMocks()
  })
})

describe('sessions', () => {
  it('end by DELETE; afterwards 404', async () => {
    const closed = vi.fn()
    const { url, sessions } = await start({ onsessionclosed: closed })
    const client = await connect(url)
    const transport = client.transport as StreamableHTTPClientTransport
    const id = transport.sessionId!
    await transport.terminateSession()
    expect(sessions.size).toBe(0)
    expect(closed).toHaveBeenCalledWith(id)
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-session-id': id,
      },
      body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
    })
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({ error: { code: -32001 } })
  })

  it('expire when nobody uses them', async () => {
    const { url, sessions } = await start({ idleMs: 1000 })
    const client = await connect(url)
    await call(client, 'can')
    await client.close()
    expect(sessions.size).toBe(1)
    await eventually(() => expect(sessions.size).toBe(0))
  })

  it('are no more than maxSessions', async () => {
    const { url, sessions } = await start({ maxSessions: 1 })
    // Its notification stream is open.
    const client = await connect(url)
    await eventually(() => expect(client.transport?.sessionId).toBeDefined())
    await expect(connect(url)).rejects.toThrow('Too many sessions')
    expect(sessions.size).toBe(1)
  })

  it('what does not initialize opens none, and is served without one', async () => {
    const { url, sessions } = await start()
    const send = (body: string) =>
      fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        body,
      })
    const listed = await send('{"jsonrpc":"2.0","id":1,"method":"tools/list"}')
    expect(listed.status).toBe(200)
    expect(await listed.json()).toMatchObject({ id: 1, result: { tools: expect.any(Array) } })
    expect((await send('{')).status).toBe(400)
    expect((await send(`"${'x'.repeat(5_000_000)}"`)).status).toBe(413)
    expect(sessions.size).toBe(0)
  })

  it('take on no more calls than maxConcurrentCalls, and room comes again', async () => {
    const { url } = await start({}, { http: { maxConcurrentCalls: 1 } })
    const client = await connect(url)
    const cancel = new AbortController()
    const waiting = client.callTool({ name: 'wait', arguments: {} }, undefined, { signal: cancel.signal })
    waiting.catch(() => {})
    await expect(call(client, 'can')).rejects.toThrow('Too many concurrent calls')
    cancel.abort()
    await eventually(async () => expect(await call(client, 'can')).toContain('features'))
  })

  /** Sends messages of a client that is in a session, by hand. */
  async function join(options: SessionsOptions = {}) {
    const running = await start(options)
    const client = await connect(running.url)
    const { sessionId } = client.transport as StreamableHTTPClientTransport
    const send = (body: unknown) =>
      fetch(running.url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-session-id': sessionId!,
        },
        body: JSON.stringify(body),
      })
    const cancel = (requestId: unknown) =>
      send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } })
    return { ...running, client, send, cancel }
  }
  const ping = (id: unknown) => ({ jsonrpc: '2.0', id, method: 'ping' })
  const wait = (id: unknown, name = 'wait') => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name, arguments: {} },
  })

  it('two requests with one id at once → 400 for the second, and the first keeps its stream', async () => {
    const { send, cancel } = await join()

    const waiting = await send(wait(77))
    const [again, inBatch] = [await send(ping(77)), await send([ping(78), ping(77)])]
    expect([again.status, inBatch.status]).toEqual([400, 400])
    expect(await again.json()).toMatchObject({
      error: { code: -32600, message: expect.stringContaining('the id 77 is still running') },
    })
    // What was refused holds no id, and text is another id than a number.
    for (const id of [78, '77']) expect(await (await send(ping(id))).text()).toContain('"result":{}')

    await cancel(77)
    await waiting.text()
    expect(await (await send(ping(77))).text()).toContain('"result":{}')
    const racing = await Promise.all(Array.from({ length: 8 }, () => send(wait(79))))
    expect(racing.filter(({ status }) => status === 200)).toHaveLength(1)
    await cancel(79)
  })

  it.each([
    ['a stream, without an answer', {}, wait(1), 'event', /^(?!.*jsonrpc)/s],
    ['JSON, with an error', { enableJsonResponse: true }, wait(1), 'json', /"id":1,.*cancelled/s],
    ['that of a batch, with the other answers', {}, [wait(1), ping(2)], 'event', /"id":2,"result":\{\}/],
    ['a stream that has begun', {}, wait(1, 'logAndWait'), 'event', /^(?!.*"(result|error)")/s],
  ])('a cancelled call ends its exchange: %s', async (_what, options, body, type, text) => {
    const { sessions, client, send, cancel, aborted } = await join({ idleMs: 200, ...options })
    const answering = send(body)
    await eventually(async () => {
      await cancel(1)
      expect(aborted).toHaveLength(1)
    })
    const response = await answering
    expect(response.headers.get('content-type')).toContain(type)
    expect(await response.text()).toMatch(text)
    // Nothing keeps the session any more but the stream that its client listens on.
    await client.close()
    await eventually(() => expect(sessions.size).toBe(0))
  })

  it('belong to their principal, and the tool knows who calls', async () => {
    const [ann, bob] = [secretOf('a'), secretOf('b')]
    const auth = staticTokens([
      { token: ann, clientId: 'ann', scopes: [] },
      { token: bob, clientId: 'bob', scopes: [] },
    ])
    const { url } = await start({}, { auth })
    await expect(connect(url)).rejects.toThrow()
    const client = await connect(url, { authorization: `Bearer ${ann}` })
    expect(await call(client, 'who')).toBe('ann')
    expect(await call(client, 'order', { item: 'pears' })).toBe('3 pears')
    const foreign = await fetch(url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${bob}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-session-id': (client.transport as StreamableHTTPClientTransport).sessionId!,
      },
      body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
    })
    expect(foreign.status).toBe(404)
  })

  it('of tokens that name no client belong to their token [auth.principal]', async () => {
    const [ann, bob] = [secretOf('a'), secretOf('b')]
    const { url } = await start({}, { auth: staticTokens([{ token: ann }, { token: bob }]) })
    const client = await connect(url, { authorization: `Bearer ${ann}` })
    const { sessionId } = client.transport as StreamableHTTPClientTransport
    const statusAs = async (token: string) => {
      const headers = {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-session-id': sessionId!,
      }
      const body = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
      const response = await fetch(url, { method: 'POST', headers, body })
      await response.text()
      return response.status
    }
    expect([await statusAs(ann), await statusAs(bob)]).toEqual([200, 404])
  })

  it('another Origin → 403, before anything is opened', async () => {
    const { url, sessions } = await start()
    const response = await fetch(url, {
      method: 'POST',
      headers: { origin: 'https://evil.example', 'content-type': 'application/json' },
      body: '{}',
    })
    expect(response.status).toBe(403)
    expect(sessions.size).toBe(0)
  })

  it('end with the process, however long their streams are open', async () => {
    const { server } = createFixture()
    const sessions = createSessions(server)
    const { url, close } = await serve(sessions, { port: 0 })
    await connect(new URL(url))
    const startedAt = Date.now()
    await close()
    expect(sessions.size).toBe(0)
    // Streams that nobody ends are dropped only after 5 seconds.
    expect(Date.now() - startedAt).toBeLessThan(4000)
  })

  it('close waits for what runs, then ends streams; the process is free', async () => {
    const { url, sessions, aborted } = await start()
    const client = await connect(url)
    const order = call(client, 'order', { item: 'plums' })
    await eventually(() => expect(sessions.size).toBe(1))
    const answered = await order
    await sessions.close()
    expect(answered).toBe('3 plums')
    expect(sessions.size).toBe(0)
    expect(aborted).toEqual([])
    await expect(call(client, 'can')).rejects.toThrow()
  })
})

describe('beside sessions', () => {
  it('modern clients need none', async () => {
    const { url, sessions } = await start()
    const client = new ModernClient(
      { name: 'modern', version: '1' },
      { versionNegotiation: { mode: { pin: '2026-07-28' } } },
    )
    await client.connect(new ModernTransport(url))
    cleanups.push(() => client.close())
    const { content } = await client.callTool({ name: 'work', arguments: {} })
    expect(content).toEqual([{ type: 'text', text: 'no session' }])
    expect(sessions.size).toBe(0)
  })

  it('the page and the health check are there', async () => {
    const { url } = await start()
    expect(await (await fetch(new URL('/', url), { headers: { accept: 'text/html' } })).text()).toContain(
      'Lasting',
    )
    expect((await fetch(new URL('/healthz', url))).status).toBe(200)
  })

  it('a preflight allows what sessions need', async () => {
    const { url } = await start()
    const response = await fetch(url, { method: 'OPTIONS', headers: { origin: url.origin } })
    expect(response.headers.get('access-control-allow-methods')).toContain('DELETE')
  })
})

/** A Node server of one's own. */
async function listen(http: Server): Promise<URL> {
  http.listen(0, '127.0.0.1')
  await new Promise((resolve) => http.once('listening', resolve))
  cleanups.push(() => {
    http.closeAllConnections()
    return new Promise((resolve) => http.close(resolve))
  })
  return new URL(`http://127.0.0.1:${(http.address() as AddressInfo).port}`)
}

describe('startHTTP', () => {
  it.each([
    ['sessions', {}, true],
    ['serverless', { serverless: true }, false],
    ['sessionIdGenerator: undefined', { sessionIdGenerator: undefined }, false],
  ])('%s', async (_name, options, hasSession) => {
    const { server } = createFixture()
    const origin = await listen(
      createServer((req, res) => {
        const url = new URL(req.url ?? '', 'http://127.0.0.1')
        void startHTTP({ server, url, httpPath: '/mcp', req, res, options })
      }),
    )
    cleanups.push(() => closeSessions(server))
    const client = await connect(new URL('/mcp', origin))
    const text = await call(client, 'order', { item: 'figs' })
    if (hasSession) expect(text).toBe('3 figs')
    else expect(text).toContain('How many figs?')
    expect((await fetch(new URL('/other', origin))).status).toBe(404)
  })
})

describe('the deprecated HTTP+SSE transport', () => {
  const expectSessionOver = async (url: URL): Promise<void> => {
    const client = createClient()
    await client.connect(new SSEClientTransport(url) as never)
    cleanups.push(() => client.close())
    expect(await call(client, 'order', { item: 'nuts' })).toBe('3 nuts')
    expect(await call(client, 'roots')).toBe('file:///home')
  }

  it('startSSE', async () => {
    const { server } = createFixture()
    const origin = await listen(
      createServer((req, res) => {
        const url = new URL(req.url ?? '', 'http://127.0.0.1')
        void startSSE({ server, url, ssePath: '/sse', messagePath: '/message', req, res })
      }),
    )
    cleanups.push(() => closeSessions(server))
    await expectSessionOver(new URL('/sse', origin))
    const unknown = await fetch(new URL('/message?sessionId=x', origin), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
    })
    expect(unknown.status).toBe(404)
  })

  it('startHonoSSE', async () => {
    const { server } = createFixture()
    const app = new Hono()
    app.all('*', (context) =>
      startHonoSSE({
        server,
        url: new URL(context.req.url),
        ssePath: '/sse',
        messagePath: '/message',
        context,
      }),
    )
    const http = serveHono({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server
    await new Promise((resolve) => http.once('listening', resolve))
    cleanups.push(() => {
      http.closeAllConnections()
      http.close()
      return closeSessions(server)
    })
    await expectSessionOver(new URL(`http://127.0.0.1:${(http.address() as AddressInfo).port}/sse`))
  })
})
