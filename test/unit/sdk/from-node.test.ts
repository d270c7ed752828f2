import type { IncomingMessage, ServerResponse } from 'node:http'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { describe, expect, it, vi } from 'vitest'
import { staticTokens } from '../../../src/auth.ts'
import { type FromNodeOptions, fromNode } from '../../../src/from-node.ts'
import { eventually } from '../../_eventually.ts'
import { secretOf } from '../../_secrets.ts'
import { initialize, legacy, legacyRequest, namesIn, post, textOf } from '../_client.ts'
import { createV1, type Seen } from './_servers.ts'

type Request = IncomingMessage & { auth?: { clientId: string }; body?: unknown }

/** As SDK v1 is used with Express. */
const create = (options: FromNodeOptions = {}, seen: Partial<Seen> = {}) =>
  fromNode(
    async (request: Request, response: ServerResponse) => {
      const server = createV1({}, seen)
      const transport = new StreamableHTTPServerTransport({})
      response.on('close', () => void server.close())
      await server.connect(transport as never)
      await transport.handleRequest(request as never, response, request.body)
    },
    { log: false, ...options },
  )

/** A handler with no SDK in it. */
const plain = (
  handler: (request: Request, response: ServerResponse, platform: { env: unknown }) => unknown,
) => fromNode(handler, { log: false })

describe('SDK v1 as it is used with Express', () => {
  it('is served', async () => {
    const server = create()
    expect((await initialize(server)).result?.serverInfo).toMatchObject({ name: 'shop' })
    expect(namesIn(await legacy(server, 'tools/list'))).toContain('add')
    const answer = await legacy(server, 'tools/call', { name: 'add', arguments: { a: 2, b: 3 } })
    expect(answer.isStream).toBe(false)
    expect(textOf(answer)).toBe('5')
  })

  it('the token is in request.auth', async () => {
    const server = create({
      auth: staticTokens([{ token: secretOf('x'), clientId: 'desk', scopes: [] }]),
      mcpPath: '*',
    })
    const headers = { authorization: `Bearer ${secretOf('x')}` }
    const answer = await legacy(server, 'tools/call', { name: 'who', arguments: {} }, { headers })
    expect(textOf(answer)).toContain('desk')
  })

  it('notifications are streamed', async () => {
    const answer = await legacy(create(), 'tools/call', {
      name: 'progress',
      arguments: {},
      _meta: { progressToken: 7 },
    })
    expect(answer.notifications).toHaveLength(3)
    expect(textOf(answer)).toBe('done')
  })

  it('a client that goes away closes the response', async () => {
    const seen: Partial<Seen> = {}
    const client = new AbortController()
    const request = legacyRequest('tools/call', { name: 'wait', arguments: {} }, { signal: client.signal })
    const response = create({}, seen).handle(request, {})
    await eventually(() => expect(seen.waiting).toBe(1))
    client.abort()
    await response
    await eventually(() => expect(seen.aborted).toBe(true))
  })
})

describe('any Node handler', () => {
  it('reads the body as a stream or parsed, and knows the bindings', async () => {
    const server = plain(async (request, response, { env }) => {
      let text = ''
      for await (const chunk of request) text += chunk
      response.writeHead(200, { 'content-type': 'application/json' })
      const result = { text, body: request.body, env, method: request.method, url: request.url }
      response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result }))
    })
    const { result } = await legacy(server, 'ping', {}, { platform: { env: { KEY: 'value' } } })
    expect(result).toMatchObject({
      body: { method: 'ping' },
      env: { KEY: 'value' },
      method: 'POST',
      url: '/mcp',
    })
    expect(JSON.parse(String(result?.text))).toEqual(result?.body)
  })

  it('what it streams arrives as it is written', async () => {
    let finish = (): void => {}
    const server = plain((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: {"jsonrpc":"2.0","method":"notifications/message","params":{"data":1}}\n\n')
      finish = () => response.end('data: {"jsonrpc":"2.0","id":1,"result":{}}\n\n')
    })
    const response = await server.fetch(legacyRequest('tools/call', { name: 'x' }))
    const reader = response.body!.getReader()
    const first = new TextDecoder().decode((await reader.read()).value)
    expect(first).toContain('notifications/message')
    finish()
    expect(new TextDecoder().decode((await reader.read()).value)).toContain('"result"')
  })

  it.each<[string, (request: Request, response: ServerResponse) => unknown]>([
    [
      'throws',
      () => {
        throw new Error('secret reason')
      },
    ],
    ['rejects', () => Promise.reject(new Error('secret reason'))],
    ['answers what is no JSON-RPC', (_request, response) => response.end('secret reason')],
    [
      'ends a stream without an answer',
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.end(': secret reason\n\n')
      },
    ],
  ])('that %s → an internal error without its reason', async (_what, handler) => {
    const error = vi.spyOn(console, 'error').mockImplementation(() => {})
    const answer = await legacy(plain(handler), 'tools/list')
    error.mockRestore()
    expect(answer.error).toMatchObject({ code: -32603 })
    expect(JSON.stringify(answer.message)).not.toContain('secret reason')
  })

  it.each<[string, object, FromNodeOptions]>([
    ['its client has left', { id: 1, method: 'tools/call' }, {}],
    ['its time is over', { id: 1, method: 'tools/call' }, { http: { maxCallMs: 200 } }],
    ['who sent the notification has left', { method: 'notifications/roots/list_changed' }, {}],
  ])('that streams when %s → finishes, and ends nothing else', async (what, message, options) => {
    const client = new AbortController()
    let goOn = (): void => {}
    const over = new Promise<void>((resolve) => {
      goOn = resolve
    })
    const finished = new Promise((resolve) => {
      const server = fromNode<Request, ServerResponse>(
        async (_request, response) => {
          response.on('finish', resolve)
          if (what.includes('left')) client.abort()
          await over
          response.writeHead(200, { 'content-type': 'text/event-stream' })
          response.write('data: {"jsonrpc":"2.0","method":"notifications/message","params":{"data":1}}\n\n')
          await new Promise((next) => setTimeout(next, 5))
          response.end('data: {"jsonrpc":"2.0","id":1,"result":{}}\n\n')
        },
        { log: false, ...options },
      )
      void server
        .handle(post({ jsonrpc: '2.0', ...message }, { signal: client.signal }), {})
        .then((response) => response.text())
        .catch(() => {})
        .finally(() => setTimeout(goOn, 20))
    })
    // What it writes is put together in a timer: an error there would end the process, and fails this run.
    await finished
    await new Promise((resolve) => setTimeout(resolve, 20))
  })

  it('both sides have a socket, with the address of the client', async () => {
    const seen: unknown[] = []
    await legacy(
      plain((request, response) => {
        seen.push(request.socket.remoteAddress, request.socket === response.socket, request.socket.writable)
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end('{"jsonrpc":"2.0","id":1,"result":{}}')
      }),
      'ping',
      {},
      { platform: { clientAddress: '203.0.113.7' } },
    )
    expect(seen).toEqual(['203.0.113.7', true, true])
  })

  it('its page asks it once a minute [page.private]', async () => {
    let asked = 0
    const server = plain((_request, response) => {
      asked++
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end('{"jsonrpc":"2.0","id":1,"result":{}}')
    })
    const open = async () =>
      (await server.fetch(new Request('https://mcp.example/', { headers: { accept: 'text/html' } }))).text()
    await open()
    const first = asked
    for (let visit = 0; visit < 5; visit++) await open()
    expect([first > 0, asked]).toEqual([true, first])
  })

  it('that never answers is ended in time', async () => {
    const { error } = await legacy(
      plain(() => {}),
      'tools/list',
      {},
      { platform: { deadline: Date.now() + 1050 } },
    )
    expect(error).toMatchObject({ data: { limit: 'deadline' } })
  })

  it('data of several lines is one event for the client', async () => {
    const pretty = (value: object) =>
      `data: ${JSON.stringify(value, null, 2).replaceAll('\n', '\ndata: ')}\n\n`
    const answer = await legacy(
      plain((_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(pretty({ jsonrpc: '2.0', method: 'notifications/message', params: { data: 'a\nb' } }))
        response.write('data: not a message\n\n')
        response.end(pretty({ jsonrpc: '2.0', id: 1, result: { tools: [] } }))
      }),
      'tools/list',
    )
    expect(answer.notifications).toMatchObject([{ params: { data: 'a\nb' } }])
    expect(answer.result).toEqual({ tools: [] })
  })

  it.each([
    ['a notification', { jsonrpc: '2.0', method: 'notifications/roots/list_changed' }],
    ['a response', { jsonrpc: '2.0', id: 1, result: {} }],
  ])('%s ends in time, and when its client leaves; its place comes back', async (_what, message) => {
    const closed: string[] = []
    let begun = 0
    const never = (_request: Request, response: ServerResponse) => {
      begun++
      response.on('close', () => closed.push('closed'))
    }
    const headers = { 'mcp-protocol-version': '2025-11-25' }
    const hasty = fromNode(never as never, { log: false, http: { maxCallMs: 500, maxConcurrentCalls: 1 } })
    expect((await hasty.handle(post(message, { headers }), {})).status).toBe(504)
    expect((await hasty.handle(post(message, { headers }), {})).status).toBe(504)

    const patient = fromNode(never as never, { log: false, http: { maxConcurrentCalls: 1 } })
    const leave = new AbortController()
    const left = patient.handle(post(message, { headers, signal: leave.signal }), {})
    await eventually(() => expect(begun).toBe(3))
    expect((await patient.handle(post(message, { headers }), {})).status).toBe(503)
    leave.abort()
    expect((await left).status).toBe(499)
    await eventually(() => expect(closed).toHaveLength(3))
  })

  it('no function → TypeError', () => {
    expect(() => fromNode({} as never)).toThrow(TypeError)
  })
})
