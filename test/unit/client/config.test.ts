/** What a client may be made of, how often, and what it sends of it. */
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { expect, it } from 'vitest'
import { MCPClient, type MCPClientConfig } from '../../../src/client.ts'
import { createTool } from '../../../src/index.ts'
import { createOwnProvider } from './_own-provider.ts'
import { createClient, deadUrl, listen, startMayfly } from './_servers.ts'

const url = 'https://shop.example/mcp'

const SHARED = createOwnProvider([], { clientInformation: () => undefined })

it.each<[string, MCPClientConfig, string]>([
  ['a name that no tool may have', { servers: { 'my server': { url } } }, '"my server"'],
  ['no server’s kind', { servers: { a: {} as { url: string } } }, 'servers.a must have one of'],
  ['two kinds', { servers: { a: { url, command: 'x' } } }, 'servers.a must have one of'],
  ['no URL', { servers: { a: { url: 'shop' } } }, 'servers.a.url must be an http'],
  ['another scheme', { servers: { a: { url: 'file:///etc/passwd' } } }, 'servers.a.url must be an http'],
  ['no time', { servers: {}, timeoutMs: 0 }, 'timeoutMs must be'],
  ['time without end', { servers: { a: { url, timeoutMs: Infinity } } }, 'servers.a.timeoutMs must be'],
  ['a name that begins with another', { servers: { a_b: { url }, a: { url } } }, 'servers.a and servers.a_b'],
  [
    'a provider of two servers',
    { servers: { a: { url, authProvider: SHARED }, b: { url: 'https://b.example', authProvider: SHARED } } },
    'servers.b.authProvider is also used by servers.a',
  ],
])('%s → TypeError that names the option', (_case, config, message) => {
  expect(() => new MCPClient(config)).toThrow(TypeError)
  expect(() => new MCPClient(config)).toThrow(message)
})

it('a server that is not there → TypeError that names those that are', async () => {
  const client = createClient({ servers: { a: { url }, b: { url } } })

  await expect(client.callTool('c' as 'a', 'x')).rejects.toThrow('Unknown server "c": the servers are a, b.')
})

it('a second client of the same configuration → DUPLICATE_CLIENT, until the first is disconnected', async () => {
  const config = () => ({ servers: { a: { url, headers: { x: '1' }, fetch: () => Promise.reject() } } })
  const first = new MCPClient(config())

  expect(() => new MCPClient(config())).toThrow(
    expect.objectContaining({
      code: 'DUPLICATE_CLIENT',
      message: expect.stringMatching(/disconnect\(\).* different id/),
    }),
  )

  await first.disconnect()
  await new MCPClient(config()).disconnect()
})

it('clients of other data, another id or another user are no duplicates', () => {
  const provider = () => ({ token: async () => 't' })
  const configs: MCPClientConfig[] = [
    { servers: { a: { url } } },
    { servers: { a: { url: `${url}/` } } },
    { servers: { b: { url } } },
    { servers: { a: { url, token: 'ann' } } },
    { servers: { a: { url, token: 'bob' } } },
    { id: 'one', servers: { a: { url } } },
    { id: 'two', servers: { a: { url } } },
    { servers: { a: { url, authProvider: provider() } } },
    { servers: { a: { url, authProvider: provider() } } },
  ]

  for (const config of configs) expect(() => createClient(config)).not.toThrow()

  expect(() => new MCPClient({ id: 'one', servers: { a: { url } } })).toThrow('with the id "one"')
})

it('headers, requestInit and the token are sent; the token of now, where it is a function', async () => {
  const seen: (string | null)[][] = []
  const url = await startMayfly({ tools: { t: createTool({ id: 't', execute: () => '' }) } })
  let token = 'first'
  const client = createClient({
    servers: {
      a: {
        url,
        headers: { 'x-one': '1' },
        requestInit: { headers: { 'x-one': 'beaten', 'x-two': '2' } },
        token: () => token,
        fetch: (input, init) => {
          const headers = new Headers(init?.headers)
          seen.push(['x-one', 'x-two', 'authorization'].map((name) => headers.get(name)))
          return fetch(input, init)
        },
      },
    },
  })

  await client.callTool('a', 't')
  token = 'second'
  await client.callTool('a', 't')

  expect(seen[0]).toEqual(['1', '2', 'Bearer first'])
  expect(seen.at(-1)).toEqual(['1', '2', 'Bearer second'])
})

it('a server that refuses the token → UNAUTHORIZED', async () => {
  const fetch = async () => new Response(null, { status: 401 })
  const client = createClient({
    servers: { withToken: { url, token: 'old', fetch }, without: { url, fetch } },
    onError: () => {},
  })

  await client.listTools()

  expect(client.errors).toMatchObject({
    withToken: { code: 'UNAUTHORIZED', server: 'withToken' },
    without: { code: 'UNAUTHORIZED', server: 'without' },
  })
})

it('a transport of one’s own is made for each connection', async () => {
  const file = fileURLToPath(new URL('_stdio-v1.ts', import.meta.url))
  const transport = () => new StdioClientTransport({ command: process.execPath, args: [file] })
  const client = createClient({ servers: { own: { transport } } })

  expect(await client.callTool('own', 'add', { a: 1, b: 2 })).toMatchObject({ structuredContent: { sum: 3 } })
})

it('an onError that throws changes nothing', async () => {
  const client = createClient({
    servers: { dead: { url: await deadUrl() }, live: { url: await startMayfly() } },
    onError: () => {
      throw new Error('mine')
    },
  })

  expect(await client.listToolsets()).toEqual({ live: {} })
})

it('a dispatcher in requestInit, as of a proxy, sends the requests of Node', async () => {
  type Dispatcher = { dispatch(options: { readonly path: string }, handler: unknown): boolean }
  const url = await startMayfly()
  await fetch(url)
  const own = (globalThis as unknown as Record<symbol, Dispatcher>)[Symbol.for('undici.globalDispatcher.1')]!
  const sent: string[] = []
  const dispatch: Dispatcher['dispatch'] = (options, handler) => {
    sent.push(options.path)
    return own.dispatch(options, handler)
  }
  const requestInit = { dispatcher: Object.create(own, { dispatch: { value: dispatch } }) } as RequestInit
  const client = createClient({ servers: { s: { url, requestInit } } })
  await client.listTools()

  expect(client.errors).toEqual({})
  expect(sent).toContain('/mcp')
})

it('a fetch that calls the one of Node refuses six encodings, too, on which the process could end', async () => {
  const origin = await listen((_request, response) => {
    response.setHeader('content-encoding', Array(6).fill('gzip').join()).end('no gzip')
  })
  const own: typeof fetch = (...given) => fetch(...given)
  const client = createClient({ servers: { s: { url: origin, fetch: own } }, onError: () => {} })
  await client.listTools()

  expect(inspect(client.errors.s, { depth: 10 })).toContain('too many content encodings')
})
