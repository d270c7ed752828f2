/** `mayfly check` on servers that want a token, and say so well or badly. */
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { describe, expect, test } from 'vitest'
import { kindOf } from '../../deploy/check/addresses.ts'
import { staticTokens } from '../../src/auth.ts'
import { CERTIFICATE, trustingTestCertificate } from './_certificate.ts'
import { runCheck } from './_check-command.ts'
import {
  asExpected,
  broken,
  check,
  type Expected,
  found,
  listen,
  listenOn,
  mayfly,
  methodOf,
  type ProtectedOptions,
  protectedServer,
  type Running,
  TOKEN,
} from './_check-servers.ts'

describe('authorization', () => {
  interface AuthorizationCase {
    readonly name: string
    readonly options: ProtectedOptions
    readonly finds: readonly Expected[]
  }
  const cases: readonly AuthorizationCase[] = [
    {
      name: '401 without WWW-Authenticate, but with metadata at its place',
      options: { challenge: () => undefined },
      finds: [['authorization.challenge', 'degrades']],
    },
    {
      name: '401 with Basic',
      options: { challenge: () => 'Basic realm="shop"' },
      finds: [['authorization.challenge', 'wrong']],
    },
    {
      name: 'a challenge that names metadata where there is none',
      options: { challenge: (url) => `Bearer resource_metadata="${url}/elsewhere"` },
      finds: [['authorization.metadata', 'wrong']],
    },
    {
      name: 'metadata of another resource',
      options: { metadata: { resource: 'https://other.example/mcp' } },
      finds: [['authorization.metadata', 'wrong']],
    },
    {
      name: 'metadata at the root alone, and not named',
      options: { place: '', challenge: () => 'Bearer' },
      finds: [],
    },
    {
      name: 'metadata nowhere',
      options: { place: '/elsewhere', challenge: () => 'Bearer' },
      finds: [['authorization.challenge', 'degrades']],
    },
    {
      name: 'an authorization server without TLS',
      options: { metadata: { authorization_servers: ['http://auth.example'] } },
      finds: [['authorization.servers', 'wrong']],
    },
    {
      name: 'metadata without authorization servers: tokens are issued beforehand',
      options: { metadata: { authorization_servers: undefined } },
      finds: [],
    },
    {
      name: 'authorization servers that are no list',
      options: { metadata: { authorization_servers: 'https://auth.example' } },
      finds: [['authorization.metadata', 'wrong']],
    },
    {
      name: 'a challenge that names no URL',
      options: { challenge: () => 'Bearer resource_metadata="http://["' },
      finds: [['authorization.challenge', 'wrong']],
    },
    {
      name: 'a challenge that names a file',
      options: { challenge: () => 'Bearer resource_metadata="file:///etc/passwd"' },
      finds: [['authorization.metadata', 'wrong']],
    },
    {
      name: 'an authorization server that sends users to a file',
      options: { server: { authorization_endpoint: 'file:///etc/passwd' } },
      finds: [['authorization.servers', 'wrong']],
    },
    {
      name: 'an authorization server whose tokens come without TLS',
      options: { server: { token_endpoint: 'http://auth.example/token' } },
      finds: [['authorization.servers', 'wrong']],
    },
    {
      name: 'an issuer with a query',
      options: { metadata: { authorization_servers: ['https://auth.example/?a=b'] } },
      finds: [['authorization.servers', 'wrong']],
    },
    {
      name: 'an authorization server that calls itself otherwise',
      options: { server: { issuer: 'https://other.example' } },
      finds: [['authorization.servers', 'wrong']],
    },
    {
      name: 'an authorization server without PKCE',
      options: { server: { code_challenge_methods_supported: undefined } },
      finds: [['authorization.servers', 'wrong']],
    },
    {
      name: 'an authorization server at which nobody can register',
      options: { server: { client_id_metadata_document_supported: undefined } },
      finds: [['authorization.servers', 'degrades']],
    },
    {
      name: 'an issuer that cannot be asked about an invalid token',
      options: { invalidStatus: 503 },
      finds: [['afterwards.faults', 'degrades']],
    },
    {
      name: 'an invalid token that is 400',
      options: { invalidStatus: 400 },
      finds: [['authorization.invalid-token', 'wrong']],
    },
  ]

  test.for(cases)('$name', async ({ options, finds }) => {
    await using server = await protectedServer(options)

    expect(asExpected(found(await check(server.url)))).toEqual(finds)
    expect(asExpected(found(await check(server.url, TOKEN)))).toEqual(finds)
  })

  test('403 to a request without a token', async () => {
    await using server = await broken((request, next) =>
      request.method === 'POST' && !request.headers.has('authorization')
        ? new Response(null, { status: 403 })
        : next(),
    )
    const [only] = found(await check(server.url))

    expect(only).toMatchObject({ id: 'eras.any', verdict: 'wrong', fix: expect.stringContaining('--bearer') })
    expect(asExpected(found(await check(server.url, TOKEN)))).toEqual([['authorization.challenge', 'wrong']])
  })

  test('401 and nothing else', async () => {
    await using server = await listen((request, response) => {
      request.resume()
      response.writeHead(401).end()
    })

    expect(asExpected(found(await check(server.url)))).toEqual(
      expect.arrayContaining([
        ['authorization.challenge', 'wrong'],
        ['cors.preflight', 'wrong'],
      ]),
    )
  })

  test('neither token nor headers reach another origin', async () => {
    const seen: Record<string, unknown>[] = []
    const trusting = trustingTestCertificate()
    await using other = await listenOn(
      createServer(CERTIFICATE, (request, response) => {
        seen.push(request.headers)
        response.writeHead(404).end()
      }),
      'https',
    )
    await using server = await protectedServer({ metadata: { authorization_servers: [other.url.origin] } })
    const { stdout } = await runCheck(
      [server.url.href, '--bearer', TOKEN, '--header', 'X-Gateway-Key: secret', '--json'],
      trusting,
    )

    expect(asExpected(found(JSON.parse(stdout)))).toEqual([['authorization.servers', 'wrong']])
    expect(seen.length).toBeGreaterThan(0)
    expect(JSON.stringify(seen)).not.toMatch(/the-right-token|x-gateway-key/)
  })
})

test('staticTokens of our own: nothing is wrong and nothing degrades, with a token and without', async () => {
  const token = 'a-token-that-was-given-out'
  await using server = await mayfly({ auth: staticTokens([{ token, clientId: 'desk' }]) })

  expect(asExpected(found(await check(server.url)))).toEqual([])
  expect(asExpected(found(await check(server.url, token)))).toEqual([])
})

describe('calls that are open where other methods are not', () => {
  /** A server that asks for no token where `open` says so. */
  const leaky = (open: (request: Request) => Promise<boolean> | boolean): Promise<Running> =>
    broken(async (request, next) => {
      const isGood = request.headers.get('authorization') === `Bearer ${TOKEN}`
      const isOpen = await open(request)
      if (request.method === 'GET' && isOpen && !request.url.includes('.well-known'))
        return new Response(stream(), { headers: { 'content-type': 'text/event-stream' } })
      if (request.method === 'OPTIONS' || isGood || isOpen) return next()
      return new Response(null, { status: 401, headers: { 'www-authenticate': 'Bearer' } })
    })
  const stream = (): ReadableStream<Uint8Array> =>
    new ReadableStream({ start: (controller) => controller.enqueue(Buffer.from(': hello\n\n')) })
  const isModern = ({ headers }: Request): boolean => headers.get('mcp-protocol-version') === '2026-07-28'
  const bodyOf = (request: Request): Promise<string> => request.clone().text()
  const isCall = async (request: Request): Promise<boolean> =>
    /"method":"tools\/call"/.test(await bodyOf(request))

  const cases: readonly (readonly [name: string, open: (request: Request) => Promise<boolean> | boolean])[] =
    [
      ['tools/call', async (request) => (await methodOf(request)) === 'tools/call'],
      ['tools/call in the modern era', async (request) => isModern(request) && isCall(request)],
      ['tools/call in the legacy era', async (request) => !isModern(request) && isCall(request)],
      ['tools/call in a batch', async (request) => (await bodyOf(request)).startsWith('[')],
      [
        'tools/call with any token',
        async (request) => request.headers.has('authorization') && isCall(request),
      ],
      ['prompts/get', async (request) => (await methodOf(request)) === 'prompts/get'],
      ['a stream at GET', (request) => request.method === 'GET'],
      ['resources/read', async (request) => (await methodOf(request)) === 'resources/read'],
    ]
  test.for(cases)('%s', async ([, open]) => {
    await using server = await leaky(open)

    for (const token of [undefined, TOKEN])
      expect(found(await check(server.url, token))).toContainEqual(
        expect.objectContaining({
          id: 'authorization.calls',
          verdict: 'wrong',
          detail: expect.stringMatching(/is answered \(HTTP \d+, .*\), though .* is 401$/),
          fix: expect.stringContaining('token'),
        }),
      )
  })

  test('open discovery is well', async () => {
    await using server = await leaky(async (request) =>
      ['server/discover', 'initialize'].includes(String(await methodOf(request))),
    )

    expect(asExpected(found(await check(server.url, TOKEN)))).not.toContainEqual(
      expect.arrayContaining(['authorization.calls']),
    )
  })

  test('tools that anonymous callers may use are well', async () => {
    const auth = staticTokens([{ token: TOKEN }], { anonymous: { tools: ['echo'] } })
    await using server = await mayfly({ auth })

    expect(asExpected(found(await check(server.url)))).toEqual([])
  })
})

describe('what a 401 or a document names is not fetched', () => {
  /** A service inside of a network, which counts its connections. */
  async function inside(): Promise<Running & { readonly reached: () => number }> {
    let count = 0
    const server = createTcpServer((socket) => {
      count += 1
      socket.on('error', () => {}).end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}')
    })
    return { ...(await listenOn(server, 'http')), reached: () => count }
  }

  test.for([
    [
      'the metadata of the resource',
      (url: string) => ({ challenge: () => `Bearer resource_metadata="${url}"` }),
    ],
    ['the issuer', (url: string) => ({ metadata: { authorization_servers: [url] } })],
  ] as const)('%s, over http at another port of this machine', async ([, options]) => {
    await using other = await inside()
    await using server = await protectedServer(options(`http://127.0.0.1:${other.url.port}/`))
    const report = await check(server.url)

    expect(report.results.map(({ detail }) => detail).join()).toContain('since it is not https')
    expect(other.reached()).toBe(0)
  })

  test('where it is redirected to', async () => {
    await using other = await inside()
    await using server = await broken((request, next) => {
      const { pathname, origin } = new URL(request.url)
      if (pathname.startsWith('/.well-known/')) return Response.redirect(other.url, 302)
      const challenge = `Bearer resource_metadata="${origin}/.well-known/there"`
      return request.method === 'POST'
        ? new Response(null, { status: 401, headers: { 'www-authenticate': challenge } })
        : next()
    })

    expect(asExpected(found(await check(server.url)))).toContainEqual(['authorization.metadata', 'wrong'])
    expect(other.reached()).toBe(0)
  })

  test.for([
    'https://169.254.169.254/latest/meta-data/',
    'https://10.0.0.1/',
    'https://[fd00::1]/',
    'https://[::ffff:10.0.0.1]/',
    'https://0xa000001/',
  ])('an address inside of another network: %s', async (url) => {
    await using server = await protectedServer({ challenge: () => `Bearer resource_metadata="${url}"` })
    const { results } = await check(server.url)

    expect(results.find(({ id }) => id === 'authorization.metadata')).toMatchObject({
      verdict: 'wrong',
      detail: expect.stringMatching(/is not fetched, since it is at a (link-local|private) address$/),
    })
  })

  const own = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal)

  test.runIf(own !== undefined)('this machine, for a server that is not on it', async () => {
    await using other = await inside()
    const port = other.url.port
    const named = [`https://127.0.0.1:${port}/`, `https://localhost:${port}/`, `https://[::1]:${port}/`]
    for (const url of named) {
      const server = createHttpServer((request, response) => {
        request.resume()
        response.writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${url}"` }).end()
      })
      await new Promise<void>((resolve) => server.listen(0, own!.address, resolve))
      const { port: at } = server.address() as AddressInfo
      const { results } = await check(new URL(`http://${own!.address}:${at}/mcp`))
      server.close()

      expect(results.find(({ id }) => id === 'authorization.metadata')?.detail).toContain(
        'since it is at a loopback address',
      )
    }
    expect(other.reached()).toBe(0)
  })

  test.for([
    ['127.0.0.1', 'loopback'],
    ['127.255.0.9', 'loopback'],
    ['::1', 'loopback'],
    ['::ffff:127.0.0.1', 'loopback'],
    ['10.1.2.3', 'private'],
    ['172.31.0.1', 'private'],
    ['172.32.0.1', 'public'],
    ['192.168.1.1', 'private'],
    ['100.64.0.1', 'private'],
    ['fd12::1', 'private'],
    ['169.254.169.254', 'link-local'],
    ['fe80::1%eth0', 'link-local'],
    ['0.0.0.0', 'reserved'],
    ['::', 'reserved'],
    ['::127.0.0.1', 'reserved'],
    ['64:ff9b::7f00:1', 'reserved'],
    ['2002:7f00:1::', 'reserved'],
    ['224.0.0.1', 'reserved'],
    ['8.8.8.8', 'public'],
    ['2606:4700:4700::1111', 'public'],
    ['shop.example', 'reserved'],
  ] as const)('%s is %s', ([address, kind]) => {
    expect(kindOf(address)).toBe(kind)
  })
})
