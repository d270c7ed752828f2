import { IncomingMessage, ServerResponse } from 'node:http'
import { finished, pipeline, Readable } from 'node:stream'
import { promisify } from 'node:util'
import { describe, expect, it, vi } from 'vitest'
import { staticTokens } from '../../../src/auth.ts'
import { type FromNodeOptions, fromNode } from '../../../src/from-node.ts'
import { eventually } from '../../_eventually.ts'
import { secretOf } from '../../_secrets.ts'
import { legacyRequest } from '../_client.ts'

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown

/** As Express does with every request and response. */
function replacePrototypes(request: IncomingMessage, response: ServerResponse): void {
  Object.setPrototypeOf(request, Object.create(IncomingMessage.prototype))
  Object.setPrototypeOf(response, Object.create(ServerResponse.prototype))
}

const app = (handler: Handler, options: FromNodeOptions = {}) =>
  fromNode<IncomingMessage, ServerResponse>(
    (request, response) => {
      replacePrototypes(request, response)
      return handler(request, response)
    },
    { log: false, onError: () => {}, mcpPath: '/mcp', ...options },
  )

const ask = (handler: Handler, path = '/page', init: RequestInit = {}): Promise<Response> =>
  app(handler).fetch(new Request(`https://shop.example${path}`, init))

const MESSAGE = { jsonrpc: '2.0', id: 1, result: {} }

describe('a response whose prototype is replaced', () => {
  it('is the answer, with its status, headers and each of its cookies', async () => {
    const response = await ask((_request, res) => {
      res.statusCode = 201
      res.setHeader('set-cookie', ['a=1', 'b=2'])
      res.setHeader('connection', 'keep-alive')
      res.write('one ')
      res.end('two')
    })

    expect([response.status, response.headers.getSetCookie()]).toEqual([201, ['a=1', 'b=2']])
    expect([response.headers.get('connection'), await response.text()]).toEqual([null, 'one two'])
  })

  it('answers MCP, and has ended when its prototype is replaced once more', async () => {
    const closed = vi.fn()
    const server = app((request, res) => {
      res.on('finish', () => replacePrototypes(request, res))
      res.on('close', () => closed(res.writableFinished, res.headersSent, res.destroyed))
      res.writeHead(200, { 'content-type': 'application/json' })
      res.end(JSON.stringify(MESSAGE))
    })

    const response = await server.fetch(legacyRequest('ping'))

    expect(await response.json()).toEqual(MESSAGE)
    await eventually(() => expect(closed.mock.calls).toEqual([[true, true, true]]))
  })

  it.each([204, 304, 205])('of status %s has no body', async (status) => {
    const response = await ask((_request, res) => res.writeHead(status, { etag: '"1"' }).end('dropped'))

    expect([response.status, response.body, response.headers.get('etag')]).toEqual([status, null, '"1"'])
  })

  it('to HEAD has the headers alone', async () => {
    const init = { method: 'HEAD' }
    const response = await ask((_request, res) => res.setHeader('content-length', 5).end('12345'), '/', init)

    expect([response.body, response.headers.get('content-length')]).toEqual([null, '5'])
  })

  it('sends its headers before its body', async () => {
    let end = (): void => {}
    const response = await ask((_request, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' })
      res.flushHeaders()
      end = () => res.end('data: 1\n\n')
    })

    expect(response.headers.get('content-type')).toBe('text/event-stream')
    end()
    expect(await response.text()).toBe('data: 1\n\n')
  })

  it('is written as fast as it is read', async () => {
    const chunk = Buffer.alloc(50_000)
    let written = 0
    const response = await ask((_request, res) => {
      const source = Readable.from(
        (function* () {
          for (; written < 100; written++) yield chunk
        })(),
      )
      pipeline(source, res, () => {})
    })

    await new Promise((resolve) => setImmediate(resolve))
    expect(written).toBeLessThan(25)
    expect((await response.arrayBuffer()).byteLength).toBe(5_000_000)
  })

  it('calls back for what is written and ended, and is finished for node:stream', async () => {
    const seen: string[] = []
    let over: Promise<void> | undefined
    const response = await ask((_request, res) => {
      over = promisify(finished)(res)
      res.write('é', 'latin1', () => seen.push('written'))
      res.end('w7Y=', 'base64', () => seen.push('ended'))
    })

    expect(new Uint8Array(await response.arrayBuffer())).toEqual(new Uint8Array([0xe9, 0xc3, 0xb6]))
    await over
    expect(seen).toEqual(['written', 'ended'])
  })

  it('whose reader leaves is closed, with its request and its socket', async () => {
    const closed: string[] = []
    const response = await ask((request, res) => {
      res.on('close', () => closed.push('response'))
      request.on('close', () => closed.push('request'))
      request.socket.on('close', () => closed.push('socket'))
      res.write('some')
    })

    await response.body?.cancel()

    await eventually(() => expect(closed.sort()).toEqual(['request', 'response', 'socket']))
  })

  it('early hints, trailers and cork change nothing', async () => {
    const response = await ask((_request, res) => {
      res.writeEarlyHints({ link: '</a.css>; rel=preload' })
      res.writeContinue()
      res.cork()
      res.write('whole')
      res.uncork()
      res.addTrailers({ 'x-after': '1' })
      res.end()
    })

    expect(await response.text()).toBe('whole')
  })

  it('that the handler destroys → 500 before its headers, an error in the body after', async () => {
    const before = await ask((_request, res) => res.destroy())
    const after = await ask((_request, res) => {
      res.write('some')
      setImmediate(() => res.destroy(new Error('gone')))
    })

    expect(before.status).toBe(500)
    await expect(after.text()).rejects.toThrow()
  })

  it.each(['/mcp', '/page'])('of a status that no Response has → 502 in words on %s', async (path) => {
    const onError = vi.fn()
    const server = app((_request, res) => res.writeHead(101).end(), { onError })
    const init = { method: 'POST', body: legacyRequest('ping').body, headers: legacyRequest('ping').headers }
    const response =
      path === '/mcp'
        ? await server.fetch(legacyRequest('ping'))
        : await server.fetch(new Request(`https://shop.example${path}`, { ...init, body: '{}' }))

    expect([response.status, await response.text()]).toEqual([502, expect.stringContaining('status 101')])
    await eventually(() => expect(String(onError.mock.calls[0]?.[0])).toContain('status 101'))
  })
})

describe('what an app reads of its request', () => {
  it('its protocol, address, version and body', async () => {
    const server = app(async (request, res) => {
      let text = ''
      for await (const chunk of request) text += chunk
      const { encrypted, remoteAddress } = request.socket as IncomingMessage['socket'] & {
        encrypted: boolean
      }
      const { url, httpVersion, headers } = request
      const { host, 'transfer-encoding': framing } = headers
      res.end(JSON.stringify([text, encrypted, remoteAddress, url, httpVersion, host, framing]))
    })
    const request = new Request('https://shop.example/prod/form?a=1', { method: 'POST', body: 'a body' })

    const response = await server.handle(request, { clientAddress: '2001:db8::7', prefix: '/prod' })

    expect(await response.json()).toEqual([
      'a body',
      true,
      '2001:db8::7',
      '/form?a=1',
      '1.1',
      'shop.example',
      'chunked',
    ])
  })

  it('an upload that its client gives up ends it with an error', async () => {
    const client = new AbortController()
    const ended = vi.fn()
    const body = new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(10)) })
    const init = { method: 'POST', body, signal: client.signal, duplex: 'half' } as RequestInit
    const served = ask(
      (request) => {
        request.once('data', () => request.pause())
        request.on('error', (error: NodeJS.ErrnoException) => ended(error.code ?? error.name))
      },
      '/upload',
      init,
    )
    await new Promise((resolve) => setImmediate(resolve))
    client.abort()

    expect((await served).status).toBe(499)
    await eventually(() => expect(ended).toHaveBeenCalledOnce())
  })
})

describe('what does not come through', () => {
  it('headers of the app on its MCP answers; other routes keep theirs', async () => {
    const server = app((_request, res) => {
      res.writeHead(200, { 'content-type': 'application/json', 'set-cookie': 'a=1', 'x-app': 'shop' })
      res.end(JSON.stringify(MESSAGE))
    })
    const answer = await server.fetch(legacyRequest('ping'))
    const page = await server.fetch(new Request('https://shop.example/page'))

    expect(await answer.json()).toEqual(MESSAGE)
    expect([answer.headers.get('set-cookie'), answer.headers.get('x-app')]).toEqual([null, null])
    expect([page.headers.get('set-cookie'), page.headers.get('x-app')]).toEqual(['a=1', 'shop'])
  })

  it('the bytes of an MCP request: the message is written anew; other routes get theirs', async () => {
    const read: string[] = []
    const server = app(async (request, res) => {
      read.push(Buffer.concat(await request.toArray()).toString())
      res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(MESSAGE))
    })
    const { headers } = legacyRequest('ping')
    const body = '{ "jsonrpc": "2.0",  "id": 1, "method": "ping" }'
    for (const path of ['/mcp', '/hook'])
      await server.fetch(new Request(`https://shop.example${path}`, { method: 'POST', headers, body }))

    expect(read).toEqual(['{"jsonrpc":"2.0","id":1,"method":"ping"}', body])
  })
})

describe('mcpPath', () => {
  const auth = staticTokens([{ token: secretOf('x'), clientId: 'desk', scopes: [] }])
  const page: Handler = (request, res) => res.end(`page ${request.url}`)

  const spellings = [
    '/mcp',
    '/MCP/',
    '//mcp',
    '/%6dcp',
    '/%256dcp',
    '/%25252525256dcp',
    `/${'%25'.repeat(5000)}6dcp`,
    `/%${'25'.repeat(7000)}6dcp`,
    '/a/..%2fmcp',
    '/mcp;a',
    '/%',
  ]
  // Routers that mount by a prefix, or do not resolve dot segments, or make a URL of the path.
  const begun = ['/mcp.json', '/mcp.', '/mcpx', '/MCP-2', '/mcp%20', '/mcp%00', '/mcp%0a']
  const passed = ['/mcp/..%2fother', '/mcp%2f..%2fother', '/mcp%5c..%5cother', '/a%2f../mcp/..%252fother']
  const hosts = ['//evil.example/mcp', '/.//evil.example/mcp', '/%2fevil.example/mcp', '/%5cevil.example/mcp']

  it.each([...spellings, ...begun, ...passed, ...hosts])('%s is behind auth', async (path) => {
    const server = app(page, { auth })
    const headers = { 'content-type': 'application/json' }
    const request = new Request(`https://shop.example${path}`, { method: 'POST', body: '{}', headers })
    const { status } = await server.handle(request, {})

    expect(status).toBe(401)
  })

  it('an endpoint in a folder is behind auth, also on the way to another path', async () => {
    const server = app(page, { auth, mcpPath: '/api/mcp' })
    const init = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } }
    const statusOf = async (path: string) =>
      (await server.fetch(new Request(`https://shop.example${path}`, init))).status

    expect(
      await Promise.all(['/API/mcp.json', '/api/x/..%2fmcp/..%2fy', '/x;/..%2fapi%2fmcp'].map(statusOf)),
    ).toEqual([401, 401, 401])
    expect(await Promise.all(['/api', '/api/mc', '/mcp', '/api/x/mcp'].map(statusOf))).toEqual([
      200, 200, 200, 200,
    ])
  })

  it.each([
    ['Connect', '/mcp.json', (url: string) => /^\/mcp(?=[/.?]|$)/.test(url)],
    ['h3', '/mcp%20', (url: string) => url.startsWith('/mcp')],
    ['new URL', '//evil.example/mcp', (url: string) => new URL(url, 'http://a').pathname === '/mcp'],
  ])('the endpoint of a router like %s is not reached by %s', async (_router, path, matches) => {
    const tool = vi.fn()
    const server = app(
      (request, res) => {
        if (matches(request.url!)) tool()
        res.end('app')
      },
      { auth },
    )
    await server.fetch(new Request(`https://shop.example${path}`, { method: 'POST' }))

    expect(tool).not.toHaveBeenCalled()
  })

  it('other paths, also of other methods, reach the app without a token', async () => {
    const server = app(page, { auth })
    for (const path of ['/', '/docs/mcp', '/mc', '/healthz', '/.well-known/other'])
      expect(await (await server.fetch(new Request(`https://shop.example${path}`))).text()).toBe(
        `page ${path}`,
      )
    const metadata = new Request('https://shop.example/.well-known/oauth-protected-resource/mcp')
    expect(await (await server.fetch(metadata)).text()).toContain('"resource"')
  })

  it('an app that never answers → 504, in time', async () => {
    const server = app(() => {}, { http: { maxCallMs: 50 } })
    const response = await server.fetch(new Request('https://shop.example/page'))

    expect([response.status, await response.text()]).toEqual([504, expect.stringContaining('/page')])
  })

  it('an app that throws → 500, reported', async () => {
    const onError = vi.fn()
    const server = app(
      () => {
        throw new Error('secret reason')
      },
      { onError },
    )
    const response = await server.fetch(new Request('https://shop.example/page'))

    expect([response.status, await response.text()]).toEqual([500, 'Internal Server Error'])
    expect(String(onError.mock.calls[0]?.[0])).toContain('secret reason')
  })

  it.each(['mcp', '/', '/mcp/', '/mcp?a', 7])('%s → TypeError', (mcpPath) => {
    expect(() => fromNode(() => {}, { mcpPath: mcpPath as string })).toThrow(/mcpPath/)
  })
})

describe('the handler', () => {
  it('no route → 404, and the log says which path', async () => {
    const onError = vi.fn()
    const server = fromNode<IncomingMessage, ServerResponse>(
      (_request, _response, next) => (next as unknown as () => void)(),
      { log: false, onError },
    )
    const response = await server.fetch(legacyRequest('ping'))

    expect(response.status).toBe(404)
    expect(String(onError.mock.calls[0]?.[0])).toContain('POST /mcp')
  })

  it('an app, which is called with two arguments: it has its own page for what it has no route for', async () => {
    const given = Object.assign(
      (...all: [IncomingMessage, ServerResponse]) =>
        all[1].end(JSON.stringify({ ...MESSAGE, result: { all: all.length } })),
      { handle: () => {}, listen: () => {} },
    )
    const response = await fromNode(given, { log: false }).fetch(legacyRequest('ping'))

    expect(await response.json()).toMatchObject({ result: { all: 2 } })
  })

  it.each([
    ['callback', 'app.callback()'],
    ['routing', 'app.routing(req, res)'],
    ['getHttpAdapter', 'getInstance()'],
    ['fetch', 'toNodeHandler'],
  ])('an object with %s() → TypeError that says what to pass', (member, hint) => {
    expect(() => fromNode({ [member]: () => {} } as never)).toThrow(hint)
  })
})

it.each(['/:tenant/mcp', '/mcp*', '/{*path}', '/m%63p'])('mcpPath %s, a pattern → a TypeError', (mcpPath) => {
  expect(() => fromNode(() => {}, { mcpPath })).toThrow(/without parameters, wildcards and escapes/)
})

it('a buffer that the handler uses again after its callback is sent as it was', async () => {
  const server = fromNode(
    (_request: unknown, response: ServerResponse) => {
      const buffer = Buffer.from('first')
      response.write(buffer, () => {
        buffer.write('other')
        response.end()
      })
    },
    { mcpPath: '/mcp' },
  )
  const response = await server.fetch(new Request('http://localhost/file'))
  await new Promise((resolve) => setTimeout(resolve, 0))
  expect(await response.text()).toBe('first')
})
