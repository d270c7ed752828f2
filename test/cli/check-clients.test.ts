/** `mayfly check --as`: servers to which clients did not connect, and servers to which they do. */
import type { IncomingHttpHeaders, RequestListener } from 'node:http'
import { createServer } from 'node:https'
import { describe, expect, test } from 'vitest'
import { CLIENTS } from '../../deploy/check/clients/all.ts'
import type { ClientId } from '../../deploy/check/clients/profile.ts'
import { type Walk, type WalkedStep, walkAs } from '../../deploy/check/walk/walk.ts'
import {
  type Auth,
  auth0,
  clerk,
  keycloak,
  staticTokens,
  stytch,
  supabaseAuth,
  workos,
} from '../../src/auth.ts'
import { CERTIFICATE, trustingTestCertificate } from './_certificate.ts'
import { runCheck } from './_check-command.ts'
import {
  createMayfly,
  listen,
  listenOn,
  mayfly,
  mayflySessions,
  sdkV1Sessions,
  sdkV1Stateless,
  sdkV2,
  sdkV2BehindOurs,
  serveFetch,
} from './_check-servers.ts'
import {
  connectingServer,
  createEcho,
  type Registration,
  registered,
  serverMetadata,
} from './_connecting-server.ts'
import { THREADS } from './_threads.ts'

async function walk(url: URL, client: ClientId | 'all', bearer?: string): Promise<readonly Walk[]> {
  const profiles = CLIENTS.filter(({ id }) => client === 'all' || id === client)
  const options = { url, bearer, headers: {}, timeoutMs: 5000, origin: undefined, mayRegister: true }
  const walked = await walkAs(profiles, options)
  if ('results' in walked) throw new Error(`not walked: ${walked.results[0]?.detail}`)
  return walked
}

function findings(walks: readonly Walk[]): WalkedStep[] {
  return walks.flatMap(({ steps }) => steps).filter((step) => 'fix' in step)
}

describe('threads', () => {
  test.for(THREADS.map((thread) => [thread.thread, thread.fault, thread] as const))(
    '%s: %s',
    async ([, , { server, client, finds, verdict, fix, isSignedIn }]) => {
      await using running = await connectingServer(server)
      const [walked] = await walk(running.url, client, isSignedIn ? 'the-token' : undefined)
      const found = findings([walked!])

      expect(found).toMatchObject([{ id: `${client}.${finds}`, verdict }])
      expect(found[0]).toHaveProperty('fix', expect.stringMatching(fix))
      expect(walked?.stopsAt).toBe(verdict === 'wrong' ? `${client}.${finds}` : undefined)
    },
  )

  test('there are twenty-five and more, none twice', () => {
    const threads = THREADS.map(({ thread }) => thread)

    expect(new Set(threads).size).toBe(threads.length)
    expect(threads.length).toBeGreaterThanOrEqual(25)
  })
})

/** What is no hint: a client stops, or its users lose something. */
function faults(walks: readonly Walk[]): string[] {
  return findings(walks).flatMap(({ id, verdict }) => (verdict === 'hint' ? [] : [id]))
}

describe('good configurations', () => {
  test.for([{}, { isOpen: true }])('ours, without a fault: %o', async (variation) => {
    const kept = new Set<string>()
    await using running = await connectingServer(variation, kept)

    expect(findings(await walk(running.url, 'all'))).toEqual([])
    expect(findings(await walk(running.url, 'all', 'the-token'))).toEqual([])
    expect(kept.size, 'every registration is deleted again').toBe(0)
  })

  test.for([
    ['ours with sessions', mayflySessions],
    ['the official SDK v1', sdkV1Stateless],
    ['the official SDK v1 with sessions', () => sdkV1Sessions(404)],
    ['the official SDK v2', () => sdkV2()],
    ['the official SDK v2 behind our guard', sdkV2BehindOurs],
  ] as const)('%s', async ([, start]) => {
    await using running = await start()

    expect(faults(await walk(running.url, 'all'))).toEqual([])
  })

  test('tokens that are given out beforehand: only ChatGPT takes none', async () => {
    const auth = staticTokens([{ token: 'the-right-token-of-the-test', clientId: 'desk' }])
    await using running = await mayfly({ auth })

    expect(faults(await walk(running.url, 'all'))).toEqual(['chatgpt.resource'])
  })

  const AUDIENCE = 'https://shop.example/mcp'
  test.for<readonly [string, (issuer: URL) => Auth]>([
    ['auth0', ({ host }: URL) => auth0({ domain: host, audience: AUDIENCE })],
    ['workos', ({ host }: URL) => workos({ domain: host, audience: AUDIENCE })],
    ['clerk', ({ host }: URL) => clerk({ domain: host, audience: AUDIENCE })],
    ['stytch', ({ host }: URL) => stytch({ domain: host, audience: AUDIENCE })],
    ['keycloak', ({ origin }: URL) => keycloak({ url: origin, realm: 'staff', audience: AUDIENCE })],
    ['supabaseAuth', ({ origin }: URL) => supabaseAuth({ projectUrl: origin })],
  ])('%s, and its issuer gets no token and no header of the user', async ([name, preset]) => {
    const seen: IncomingHttpHeaders[] = []
    await using issuer = await listenOn(
      createServer(CERTIFICATE, issuerOf(seen, name === 'auth0' ? '/' : '')),
      'https',
    )
    await using running = await mayfly({ tools: { echo: createEcho() }, auth: preset(issuer.url) })
    const args = [
      running.url.href,
      '--as',
      'all',
      '--json',
      '--bearer',
      'the-token',
      '--header',
      'X-Key: hunter22',
    ]
    const { code, stdout } = await runCheck(args, trustingTestCertificate())
    const { clients } = JSON.parse(stdout) as { clients: { stopsAt: unknown; steps: WalkedStep[] }[] }

    expect(clients.flatMap(({ steps }) => steps).filter((step) => 'fix' in step)).toEqual([])
    expect(clients.map(({ stopsAt }) => stopsAt)).toEqual([null, null, null, null])
    expect(code).toBe(0)
    expect(seen.length).toBeGreaterThan(3)
    expect(JSON.stringify(seen)).not.toMatch(/hunter22|the-token/)
  })
})

test('behind a gateway that serves the function’s path alone, the challenge leads all clients to the metadata', async () => {
  await using issuer = await listenOn(createServer(CERTIFICATE, issuerOf([], '')), 'https')
  const prefix = '/functions/v1/shop'
  const auth = supabaseAuth({ projectUrl: issuer.url.origin })
  const server = createMayfly({ tools: { echo: createEcho() }, auth })
  await using running = await serveFetch({
    fetch: () => new Response(null, { status: 500 }),
    handle: async (request, platform) =>
      new URL(request.url).pathname.startsWith('/functions/v1/')
        ? server.handle(request, { ...platform, prefix })
        : Response.json({ error: 'requested path is invalid' }, { status: 404 }),
  })
  const args = [new URL(`${prefix}/mcp`, running.url).href, '--as', 'all']
  const { code, stdout } = await runCheck(args, trustingTestCertificate())

  expect(stdout).toMatch(
    /\n0 of 4 clients would connect, 4 cannot be told, 2 of them on loopback: \d+ work, 0 degrade, 0 wrong, \d+ skipped\n\nNext: do what is marked "to try it"\n$/,
  )
  expect(code).toBe(0)
})

/** An issuer as such providers are: metadata at the places of both specifications, registration by anybody. Auth0's ends with a slash. */
function issuerOf(seen: IncomingHttpHeaders[], end: '/' | ''): RequestListener {
  return (request, response) => {
    seen.push(request.headers)
    const origin = `https://${request.headers.host}`
    const path = /^(.*)\/\.well-known\/(?:oauth-authorization-server|openid-configuration)(.*)$/.exec(
      request.url ?? '',
    )
    response.setHeader('content-type', 'application/json')
    if (path !== null) {
      const metadata = { ...serverMetadata(origin), issuer: `${origin}${path[1]}${path[2]}${end}` }
      response.end(JSON.stringify({ ...metadata, scopes_supported: ['openid', 'offline_access'] }))
      return
    }
    response.statusCode = request.url === '/register' ? 201 : 404
    response.end(JSON.stringify({ client_id: 'a', registration_client_uri: `${origin}/register/a` }))
  }
}

describe('as a command', () => {
  test('each step of each client, the first at which it stops, and exit code 1', async () => {
    await using running = await connectingServer({ server: { code_challenge_methods_supported: undefined } })
    const { code, stdout, stderr } = await runCheck([running.url.href, '--as', 'all'])

    expect({ code, stderr }).toEqual({ code: 1, stderr: '' })
    expect(stdout).toMatch(
      /^http.*\n\nClaude \(claude\.ai, Claude Desktop\), stops: finds PKCE with S256\n {2}skipped {3}accepts the URL/,
    )
    expect(stdout).toMatch(
      / {2}wrong {5}finds PKCE.*\[claude\.pkce\]\n {12}fix: support PKCE.*\n {12}source: https:.*, 2026-08-06\n {2}skipped {3}registers +not reached\n/,
    )
    expect(stdout).toMatch(
      /\n0 of 4 clients would connect, 2 cannot be told: \d+ work, 1 degrade, 2 wrong, \d+ skipped\n\nNext: mend what is marked "wrong", then run this again\n$/,
    )
  })

  test('--json prints one document of the documented shape', async () => {
    await using running = await connectingServer()
    const { code, stdout } = await runCheck([running.url.href, '--as', 'cursor', '--json'])
    const report = JSON.parse(stdout)

    expect(code).toBe(0)
    expect(Object.keys(report)).toEqual(['url', 'summary', 'clients'])
    expect(report.clients).toMatchObject([{ client: 'cursor', name: 'Cursor', stopsAt: null }])
    for (const step of report.clients[0].steps) {
      expect(step).toMatchObject({
        id: expect.stringMatching(/^cursor\.[a-z-]+$/),
        title: expect.any(String),
        verdict: expect.stringMatching(/^(works|skipped)$/),
        detail: expect.any(String),
      })
      expect(step.sources[0]).toEqual({
        url: expect.stringMatching(/^https:/),
        date: expect.stringMatching(/^202\d-\d\d-\d\d$/),
      })
    }
  })

  test('--no-register registers nothing', async () => {
    let asked = 0
    const register = () => {
      asked += 1
      return new Response()
    }
    await using running = await connectingServer({ register })
    const { code, stdout } = await runCheck([running.url.href, '--as', 'all', '--no-register'])

    expect({ code, asked }).toEqual({ code: 0, asked: 0 })
    expect(stdout).toContain('not tested (--no-register)')
  })

  test('what it registers does not call itself the client, and has its redirect URIs', async () => {
    const clients: Registration[] = []
    await using running = await connectingServer({
      register: (client, origin) => {
        clients.push(client)
        return registered(client, origin)
      },
    })
    await runCheck([running.url.href, '--as', 'claude'])

    expect(clients).toEqual([
      expect.objectContaining({
        client_name: 'mayfly check as claude',
        redirect_uris: ['https://claude.ai/api/mcp/auth_callback'],
      }),
    ])
  })

  test.for<readonly [string, (client: Registration, origin: string) => Response, RegExp]>([
    [
      'without a token for it',
      (client, origin) =>
        Response.json({ ...client, client_id: 'a', registration_client_uri: `${origin}/register/a` }),
      /works +registers +dynamically; the registration stays: remove client "a" from the authorization server’s clients, or let it expire\n/,
    ],
    [
      'whose URI is of another origin',
      (client) =>
        Response.json({
          ...client,
          client_id: 'a',
          registration_client_uri: 'https://other.example/a',
          registration_access_token: 'token-of-a',
        }),
      /dynamically; the registration stays: remove client "a" from the authorization server’s clients, or let it expire\n/,
    ],
    [
      'that the server does not delete',
      (client, origin) =>
        Response.json({
          ...client,
          client_id: 'a',
          registration_client_uri: `${origin}/register/a`,
          registration_access_token: 'not-its-token',
        }),
      /dynamically; the registration stays: remove client "a" from the authorization server’s clients, or let it expire\n/,
    ],
    [
      'without client_id',
      () => Response.json({}, { status: 201 }),
      /HTTP 201 without "client_id" in JSON; the registration stays: remove "mayfly check as vscode" from the authorization server’s clients, or let it expire {2}\[/,
    ],
  ])('a registration %s is said to stay', async ([, register, words]) => {
    await using running = await connectingServer({ register })
    const { stdout } = await runCheck([running.url.href, '--as', 'vscode'])

    expect(stdout).toMatch(words)
  })

  test('a registration without client_id is deleted all the same', async () => {
    const kept = new Set<string>()
    const register = (_client: Registration, origin: string): Response => {
      kept.add('undefined')
      return Response.json({
        registration_client_uri: `${origin}/register/undefined`,
        registration_access_token: 'token-of-undefined',
      })
    }
    await using running = await connectingServer({ register }, kept)
    const { stdout } = await runCheck([running.url.href, '--as', 'vscode'])

    expect(stdout).toContain('without "client_id"')
    expect(stdout).not.toContain('the registration stays')
    expect(kept.size).toBe(0)
  })

  test('--as may be repeated, and what cannot be told from here is not counted as connecting', async () => {
    await using running = await connectingServer()
    const args = [running.url.href, '--as', 'cursor', '--as', 'claude', '--bearer', 'the-token']
    const { code, stdout } = await runCheck(args)
    const json = JSON.parse((await runCheck([...args, '--json'])).stdout)

    expect(code).toBe(0)
    expect(stdout).toMatch(/\n1 of 2 clients would connect, 1 cannot be told on loopback: /)
    expect(json.clients).toMatchObject([
      { client: 'claude', stopsAt: null, wouldConnect: null },
      { client: 'cursor', stopsAt: null, wouldConnect: true },
    ])
  })

  test('a redirect to http, which anthropics/claude-ai-mcp/issues/459 is about', async () => {
    await using running = await listenOn(
      createServer(CERTIFICATE, (request, response) => {
        response.writeHead(307, { location: `http://${request.headers.host}${request.url}` }).end()
      }),
      'https',
    )
    const { code, stdout } = await runCheck([running.url.href, '--as', 'claude'], trustingTestCertificate())

    expect(code).toBe(1)
    expect(stdout).toMatch(
      /HTTP 307 to "http:.*: it does not continue without TLS {2}\[claude\.first-request\]\n {12}fix: /,
    )
  })

  test('a site that is no MCP server: two lines', async () => {
    await using site = await listen((_request, response) => {
      response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Not found</h1>')
    })
    const { code, stdout } = await runCheck([site.url.href, '--as', 'all'])

    expect(code).toBe(1)
    expect(stdout.split('\n')).toEqual([
      expect.stringMatching(/^wrong /),
      expect.stringMatching(/^ +fix: /),
      '',
    ])
  })

  test.for([
    [['--as', 'emacs'], 'pass claude, chatgpt, vscode, cursor or all'],
    [['--no-register'], '--no-register needs --as'],
    [['--as', 'all', '--call', 'echo'], '--call cannot be combined with --as'],
    [['--arguments', '{}'], 'pass --call'],
    [['--call', 'echo', '--arguments', '[]'], 'not a JSON object'],
  ] as const)('%s is a bad command line', async ([args, words]) => {
    const { code, stdout, stderr } = await runCheck(['https://shop.example/mcp', ...args])

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(words)
  })
})

test('a server without tools: nothing is wrong with that', async () => {
  const prompts = { hello: { description: 'Greets', get: () => 'Hello' } }
  await using running = await connectingServer({ isOpen: true, config: { tools: {}, prompts } })

  expect(findings(await walk(running.url, 'all'))).toEqual([])
})

test('Claude alone removes the slash at the end of the URL', async () => {
  await using running = await connectingServer({
    isOpen: true,
    before: (_, path) => (path === '/mcp' ? new Response('', { status: 404 }) : undefined),
  })
  const walks = await walk(new URL('/mcp/', running.url), 'all')

  expect(walks.map(({ stopsAt }) => stopsAt)).toEqual([
    'claude.first-request',
    undefined,
    undefined,
    undefined,
  ])
})

test('an authorization server without refresh tokens', async () => {
  await using running = await connectingServer({ server: { grant_types_supported: ['authorization_code'] } })

  expect(findings(await walk(running.url, 'claude'))).toMatchObject([
    { id: 'claude.refresh', verdict: 'degrades', fix: expect.stringContaining('refresh_token') },
  ])
})

test('a server that falls silent lets no client connect', async () => {
  let count = 0
  await using running = await connectingServer({
    before: () => {
      count += 1
      // The first contact is answered.
      return count > 3 ? new Promise<Response>(() => {}) : undefined
    },
  })
  const options = { url: running.url, bearer: undefined, headers: {}, timeoutMs: 1000, origin: undefined }
  const walks = await walkAs(CLIENTS, { ...options, mayRegister: true })

  expect(walks).toHaveLength(4)
  for (const each of walks as readonly Walk[]) expect(each.stopsAt).toBe(`${each.client}.first-request`)
})

test('an issuer and an endpoint of registration on this machine, on another port, are not asked', async () => {
  await using other = await listen(() => expect.unreachable())
  const { origin } = other.url
  await using issuerElsewhere = await connectingServer({ resource: { authorization_servers: [origin] } })
  await using registrationElsewhere = await connectingServer({
    server: { registration_endpoint: other.url.href },
  })

  for (const { url } of [issuerElsewhere, registrationElsewhere]) {
    const [walked] = await walk(url, 'vscode', 'the-token')
    expect(walked).toMatchObject({ stopsAt: undefined, wouldConnect: undefined })
  }
  expect(findings(await walk(issuerElsewhere.url, 'claude'))).toEqual([])
  expect(findings(await walk(registrationElsewhere.url, 'claude'))).toEqual([])
})

describe('what was not tried cannot be told, and the report says how to try it', () => {
  test('an issuer that is not asked', async () => {
    await using running = await connectingServer({
      resource: { authorization_servers: ['http://127.0.0.1:9/'] },
    })
    const { code, stdout } = await runCheck([running.url.href, '--as', 'vscode', '--bearer', 'the-token'])

    expect(code).toBe(0)
    expect(stdout).toMatch(/^VS Code, cannot be told: reads the authorization server metadata$/m)
    expect(stdout).toMatch(
      / {2}skipped {3}reads the auth.*\n {12}to try it: check the deployed server, whose authorization server is at an https URL\n/,
    )
    expect(stdout).toMatch(/\n0 of 1 client would connect, 1 cannot be told on loopback: /)
  })

  test.for<readonly [string, readonly string[], string]>([
    ['the list of tools, without a token', [], 'to try it: pass one with --bearer-env'],
    ['the list of tools, with another token', ['--bearer', 'wrong'], 'to try it: pass a token that is not'],
    ['a registration', ['--bearer', 'the-token', '--no-register'], 'to try it: leave out --no-register'],
  ])('%s', async ([, args, said]) => {
    await using running = await connectingServer()
    const { stdout } = await runCheck([running.url.href, '--as', 'vscode', ...args])

    expect(stdout).toContain('0 of 1 client would connect, 1 cannot be told: ')
    expect(stdout).toContain(said)
  })

  test('a registration at a server that limits the rate', async () => {
    await using running = await connectingServer({ register: () => new Response(null, { status: 429 }) })
    const [walked] = await walk(running.url, 'vscode', 'the-token')

    expect(walked).toMatchObject({ stopsAt: undefined, wouldConnect: undefined })
  })

  test('each step was tried: it would connect', async () => {
    await using running = await connectingServer()
    const [walked] = await walk(running.url, 'vscode', 'the-token')

    expect(walked?.wouldConnect).toBe(true)
  })
})

test('metadata that a server names on a private address is not fetched', async () => {
  await using running = await connectingServer({
    challenge: () => 'Bearer resource_metadata="https://10.0.0.1/metadata"',
    resourceAt: [],
    serverAt: [],
  })
  const [walked] = await walk(running.url, 'vscode')

  expect(walked?.stopsAt).toBe('vscode.resource')
  expect(JSON.stringify(findings([walked!]))).toContain('since it is at a private address')
})
