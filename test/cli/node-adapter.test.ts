/** `adapters/node.ts` over real sockets. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Hono } from 'hono'
import { expect, test, vi } from 'vitest'
import { type FetchServer, nodeListener, serve } from '../../adapters/node.ts'
import { bearer } from '../../src/auth.ts'
import { createMemoryBus, createTool, MCPServer, type RequestPlatform } from '../../src/index.ts'

/** A promise and the function that settles it. */
function gate<T = void>(): { opened: Promise<T>; open: (value: T) => void } {
  let open = (_value: T): void => {}
  const opened = new Promise<T>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

const ok = (): Promise<Response> => Promise.resolve(new Response('ok'))

test('handle is called with the platform in full, fetch is not', async () => {
  const seen: RequestPlatform[] = []
  const fetchSpy = vi.fn(ok)
  const server: FetchServer = {
    fetch: fetchSpy,
    handle: async (_request, platform) => {
      seen.push(platform)
      return new Response('ok')
    },
  }
  const running = await serve(server, { port: 0, env: { KEY: 'value' } })
  await fetch(running.url)
  await running.close()

  expect(running.url).toBe(`http://127.0.0.1:${running.port}/mcp`)
  expect(fetchSpy).not.toHaveBeenCalled()
  expect(seen).toEqual([
    {
      env: { KEY: 'value' },
      waitUntil: expect.any(Function),
      canStream: true,
      isLongLived: true,
      loopback: true,
      clientAddress: '127.0.0.1',
    },
  ])
})

/** What code of a server's author is given of a request, and whether it is a real one that can be copied. */
const copies: string[] = []
const copy = (request: Request): void => {
  const { url, method, headers, signal } = request
  // As a whole only before its body is read.
  const copied = new Request(url, { method, headers: new Headers(headers), signal })
  copies.push(`${copied.method} ${new URL(copied.url).pathname} ${copied.headers.get('x-own')}`)
}

const copying = (): MCPServer =>
  new MCPServer({
    id: 'desk',
    name: 'Desk',
    version: '1.0.0',
    log: false,
    auth: bearer((_token, { request }) => {
      // Its body is still to be read.
      copy(request.clone())
      return { clientId: 'ann' }
    }),
    setup: (_server, request) => copy(request),
    tools: {
      copy: createTool({
        id: 'copy',
        execute: (_input, { request }) => {
          copy(request!)
          return 'copied'
        },
      }),
    },
  })

const callCopy = (url: string): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer t', 'x-own': 'kept' },
    body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"copy","arguments":{}}}',
  })

/** Ways to put something around a server: each makes real requests and responses of what it is given. */
const AROUND: Record<string, (server: MCPServer) => FetchServer> = {
  'the server itself': (server) => server,
  'its own handle, around it': (server) => ({
    fetch: server.fetch,
    handle: async (request, platform) => {
      const response = await server.handle(new Request(request), platform)
      const headers = new Headers(response.headers)
      headers.set('x-around', 'yes')
      return new Response(response.body, { status: response.status, headers })
    },
  }),
  'a copy with another handle': (server) => ({
    ...server,
    leanHandle: server.leanHandle,
    fetch: server.fetch,
    handle: async (request, platform) => {
      const response = await server.handle(new Request(request), platform)
      response.headers.set('x-around', 'yes')
      return response
    },
  }),
  'a subclass': () => {
    const server = copying()
    const { handle } = server
    server.handle = async (request, platform) => {
      const response = await handle.call(server, new Request(request), platform)
      response.headers.set('x-around', 'yes')
      return response
    }
    return server
  },
}

test.each(Object.keys(AROUND))(
  '%s: user code gets real requests, and makes what it likes of responses',
  async (how) => {
    copies.length = 0
    const running = await serve(AROUND[how]!(copying()), { port: 0 })
    const response = await callCopy(running.url)
    const { result, error } = (await response.json()) as { result?: object; error?: object }
    expect(error).toBeUndefined()
    await running.close()

    expect(result).toMatchObject({ content: [{ text: 'copied' }] })
    expect(copies).toEqual(Array(3).fill('POST /mcp kept'))
    expect(response.headers.get('x-around')).toBe(how === 'the server itself' ? null : 'yes')
    expect(response.headers.get('content-type')).toBe('application/json')
  },
)

test('a Hono app gets env and waitUntil', async () => {
  const app = new Hono<{ Bindings: { KEY: string } }>()
  app.post('/mcp', async (c) => {
    c.executionCtx.waitUntil(Promise.resolve())
    return c.text(`${c.env.KEY} ${await c.req.text()}`)
  })
  const running = await serve(app, { port: 0, env: { KEY: 'value' } })
  const response = await fetch(running.url, { method: 'POST', body: 'body' })
  await running.close()

  expect(await response.text()).toBe('value body')
})

test('a loopback connection is one, also of a listener that is bound to every address', async () => {
  const platform = gate<RequestPlatform>()
  const handle = (_request: Request, given: RequestPlatform): Promise<Response> => {
    platform.open(given)
    return ok()
  }
  const running = await serve({ fetch: ok, handle }, { port: 0, hostname: '0.0.0.0' })
  await fetch(running.url)
  await running.close()

  expect((await platform.opened).loopback).toBe(true)
})

test.each(['LOCALHOST', '127.0.0.2', '127.1', '0x7f000001', '::1', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1'])(
  'so is one to %s',
  async (hostname) => {
    const seen: (boolean | undefined)[] = []
    const handle = (_request: Request, { loopback }: RequestPlatform): Promise<Response> => {
      seen.push(loopback)
      return ok()
    }
    const running = await serve({ fetch: ok, handle }, { port: 0, hostname })
    await fetch(running.url)
    await running.close()

    expect(seen).toEqual([true])
  },
)

test('the request can be copied, and fetched responses stay instances of Response', async () => {
  const fetchCopy = async (request: Request): Promise<Response> =>
    new Response(await new Request(request).text())
  const running = await serve({ fetch: fetchCopy }, { port: 0 })
  const response = await fetch(running.url, { method: 'POST', body: 'copied' })
  await running.close()

  expect(response).toBeInstanceOf(Response)
  expect(await response.text()).toBe('copied')
})

test('request.signal aborts when the client goes away, even after a garbage collection', async () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const started = gate()
  const aborted = gate()
  const running = await serve(
    {
      fetch: async (request) => {
        const { signal } = request
        await request.text()
        signal.addEventListener('abort', () => aborted.open())
        started.open()
        await aborted.opened
        return new Response()
      },
    },
    { port: 0 },
  )
  const client = new AbortController()
  const answer = fetch(running.url, { method: 'POST', body: '{}', signal: client.signal })
  await started.opened
  for (let round = 0; round < 5; round++) {
    collectGarbage()
    await new Promise((resolve) => setImmediate(resolve))
  }
  client.abort()

  await expect(answer).rejects.toThrow('aborted')
  await aborted.opened
  await running.close()
})

test('request.signal aborts when the client goes away in the middle of a stream', async () => {
  const cancelled = gate()
  const aborted = gate()
  const running = await serve(
    {
      fetch: (request) => {
        request.signal.addEventListener('abort', () => aborted.open())
        const body = new ReadableStream({
          start: (controller) => controller.enqueue(new TextEncoder().encode('data: 1\n\n')),
          cancel: () => cancelled.open(),
        })
        return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
      },
    },
    { port: 0 },
  )
  const client = new AbortController()
  const response = await fetch(running.url, { method: 'POST', body: '{}', signal: client.signal })
  await response.body?.getReader().read()
  client.abort()

  await Promise.all([aborted.opened, cancelled.opened])
  await running.close()
})

test('request.signal does not abort after a complete answer', async () => {
  const aborted = vi.fn()
  const fetchHandler = (request: Request): Promise<Response> => {
    request.signal.addEventListener('abort', aborted)
    return ok()
  }
  const running = await serve({ fetch: fetchHandler }, { port: 0 })
  await (await fetch(running.url, { method: 'POST', body: '{}' })).text()
  await running.close()

  expect(aborted).not.toHaveBeenCalled()
})

test('close waits for running requests and waitUntil work, and accepts nothing more', async () => {
  const started = gate()
  const answer = gate()
  const background = gate()
  const events: string[] = []
  const running = await serve(
    {
      fetch: ok,
      handle: async (_request, { waitUntil }) => {
        waitUntil?.(background.opened.then(() => events.push('background work')))
        started.open()
        await answer.opened
        return new Response('late')
      },
    },
    { port: 0 },
  )
  const response = fetch(running.url)
  await started.opened
  const closed = running.close().then(() => events.push('closed'))
  await expect(fetch(running.url)).rejects.toThrow()
  answer.open()
  events.push(await (await response).text())
  background.open()
  await closed

  expect(events).toEqual(['late', 'background work', 'closed'])
})

test('close drops what is still running after 5 seconds', async () => {
  const started = gate()
  const hang = (): Promise<Response> => {
    started.open()
    return new Promise(() => {})
  }
  const running = await serve({ fetch: hang }, { port: 0 })
  const response = expect(fetch(running.url)).rejects.toThrow()
  await started.opened
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const closed = running.close()
  await vi.advanceTimersByTimeAsync(5000)
  vi.useRealTimers()

  await closed
  await response
})

test('a failing fetch → 500, and the error is printed', async () => {
  const print = vi.spyOn(console, 'error').mockImplementation(() => {})
  const running = await serve({ fetch: () => Promise.reject(new Error('boom')) }, { port: 0 })
  const response = await fetch(running.url)
  await running.close()

  expect({ status: response.status, body: await response.text() }).toEqual({ status: 500, body: '' })
  expect(print).toHaveBeenCalledWith(expect.stringContaining('"message":"boom"'))
  print.mockRestore()
})

test('failing waitUntil work is printed and does not end the process', async () => {
  const print = vi.spyOn(console, 'error').mockImplementation(() => {})
  const handle = async (_request: Request, { waitUntil }: RequestPlatform): Promise<Response> => {
    waitUntil?.(Promise.reject(new Error('later')))
    return new Response('ok')
  }
  const running = await serve({ fetch: ok, handle }, { port: 0 })
  const response = await fetch(running.url)
  await running.close()

  expect(response.status).toBe(200)
  expect(print).toHaveBeenCalledWith(expect.stringContaining('"message":"later"'))
  print.mockRestore()
})

test('a busy port → EADDRINUSE', async () => {
  const running = await serve({ fetch: ok }, { port: 0 })
  await expect(serve({ fetch: ok }, { port: running.port })).rejects.toMatchObject({ code: 'EADDRINUSE' })
  await running.close()
})

test('nodeListener serves from an HTTP server of one’s own', async () => {
  const http = createServer(
    nodeListener({ fetch: async (request) => new Response(new URL(request.url).pathname) }),
  )
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const response = await fetch(`http://127.0.0.1:${(http.address() as AddressInfo).port}/any/path`)
  http.close()

  expect(await response.text()).toBe('/any/path')
})

test('close ends subscriptions with their result, at once', async () => {
  const server = new MCPServer({
    id: 'test',
    name: 'Test',
    version: '1.0.0',
    log: false,
    bus: createMemoryBus(),
    tools: { t: createTool({ id: 't', execute: () => '' }) },
  })
  const running = await serve(server, { port: 0 })
  const KEY = 'io.modelcontextprotocol/'
  const _meta = { [`${KEY}protocolVersion`]: '2026-07-28', [`${KEY}clientCapabilities`]: {} }
  const response = await fetch(running.url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'subscriptions/listen',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 'sub',
      method: 'subscriptions/listen',
      params: { notifications: { toolsListChanged: true }, _meta },
    }),
  })
  const text = response.text()
  const startedAt = Date.now()
  await running.close()
  expect(await text).toMatch(/acknowledged[\s\S]*"id":"sub","result":\{"resultType":"complete"/)
  expect(Date.now() - startedAt).toBeLessThan(4000)
})
