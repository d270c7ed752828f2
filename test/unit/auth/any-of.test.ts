/** Servers that take callers of several kinds. Their streams are in `../keys/streams.test.ts`. */
import type { RequestListener } from 'node:http'
import { Hono } from 'hono'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type Auth,
  anyOf,
  type BearerOptions,
  bearer,
  type HonoAuthVariables,
  honoAuth,
  InvalidTokenError,
  introspection,
  jwt,
  staticTokens,
  VerifierUnavailableError,
} from '../../../src/auth.ts'
import { fromNode } from '../../../src/from-node.ts'
import {
  type AuditEntry,
  createMemoryRateLimiter,
  createTool,
  type MCPServer,
  type MCPServerConfig,
} from '../../../src/index.ts'
import { apiKeys, createKeyAdmin, createMemoryKeyStore } from '../../../src/keys.ts'
import { fromSdk } from '../../../src/sdk.ts'
import { createMemoryTasks } from '../../../src/tasks.ts'
import { connect } from '../../../src/testing.ts'
import { createServer, modernRequest, readAnswer, textOf } from '../_client.ts'
import { counted } from '../keys/_keys.ts'
import { createV2 } from '../sdk/_servers.ts'
import { TaskClient } from '../tasks/_tasks.ts'
import { AUDIENCE, discover, type Issuer, introspectionAt, startIssuer } from './_issuer.ts'

const LOGIN = 'https://login.example'
const OTHER = 'https://other.example'

/** Knows the tokens that begin with its letter: `a1` has no scopes, `a1.read.write` has two. */
const knows = (letter: string, options: BearerOptions = {}): Auth =>
  bearer((token) => {
    const [name = '', ...scopes] = token.split('.')
    return name.startsWith(letter) ? { clientId: name, scopes } : undefined
  }, options)

const down = (options: BearerOptions = {}): Auth =>
  bearer(() => {
    throw new VerifierUnavailableError('the issuer is down: secret-host:1')
  }, options)

const whoami = createTool({
  id: 'whoami',
  execute: (_input, { auth }) => `${auth?.realm}/${auth?.clientId}`,
})
const pay = createTool({ id: 'pay', scopes: ['pay'], execute: () => 'paid' })
const hours = createTool({ id: 'hours', execute: () => '9 to 17' })

function served(auths: readonly Auth[], config: Partial<MCPServerConfig> = {}): MCPServer {
  return createServer({ tools: { whoami, pay, hours }, auth: anyOf(auths), ...config })
}

const bearing = (token: string) => ({ authorization: `Bearer ${token}` })

const call = (server: { fetch: MCPServer['fetch'] }, name: string, headers: Record<string, string> = {}) =>
  server.fetch(modernRequest('tools/call', { name, arguments: {} }, { headers }))

async function said(response: Response): Promise<string> {
  const answer = await readAnswer(response)
  return textOf(answer) ?? answer.error!.message
}

const challengeOf = (response: Response): string => response.headers.get('www-authenticate') ?? ''

let issuer: Issuer
beforeAll(async () => {
  issuer = await startIssuer()
})
afterAll(() => issuer[Symbol.asyncDispose]())

async function withKey(scopes: string[] = []) {
  const store = counted()
  const { key, id } = await createKeyAdmin(store, { server: 'test' }).create({ name: 'ci', scopes })
  return { store, key, id }
}

describe('a token', () => {
  it('of each kind is admitted, and says who knows it [auth.any-of]', async () => {
    const { store, key } = await withKey()
    issuer.known.set('opaque', { active: true, client_id: 'web', aud: AUDIENCE, iss: issuer.url })
    const server = served([
      jwt({ issuer: issuer.url, audience: AUDIENCE }),
      apiKeys({ store, server: 'test' }),
      staticTokens([{ token: 'a-token-of-the-server', clientId: 'cron' }]),
      introspection(introspectionAt(issuer)),
    ])
    const names = []
    for (const token of [await issuer.sign(), key, 'a-token-of-the-server', 'opaque'])
      names.push(await said(await call(server, 'whoami', bearing(token))))
    expect(names).toEqual([`${issuer.url}/desk`, 'api-keys/ci', 'static-tokens/cron', `${issuer.url}/web`])
  })

  it('the first that admits it wins, and no later one sees it [auth.any-of]', async () => {
    const seen: string[] = []
    const later = bearer((token) => {
      seen.push(token)
      return { clientId: 'later' }
    })
    const server = served([knows('a'), later])
    expect(await said(await call(server, 'whoami', bearing('a1')))).toBe('bearer/a1')
    expect(await said(await call(server, 'whoami', bearing('b1')))).toBe('bearer 2/later')
    expect(seen).toEqual(['b1'])
  })

  it('each is asked once [auth.any-of]', async () => {
    const seen: string[] = []
    const asked = (name: string): Auth =>
      bearer(() => {
        seen.push(name)
        return undefined
      })
    const response = await discover(served([asked('a'), asked('b'), asked('c')]), 'x')
    expect([response.status, seen]).toEqual([401, ['a', 'b', 'c']])
  })

  it('the scopes of one are required of its own callers only [auth.any-of]', async () => {
    const server = served([knows('a', { scopes: ['shop'] }), knows('b')])
    const statuses = []
    for (const token of ['a1', 'a1.shop', 'b1', 'b1.shop'])
      statuses.push((await discover(server, token)).status)
    expect(statuses).toEqual([403, 200, 200, 200])
    const refused = await call(server, 'pay', bearing('b1'))
    expect([refused.status, challengeOf(refused)]).toEqual([
      403,
      expect.stringContaining('error="insufficient_scope", scope="pay"'),
    ])
  })

  it('a mistake in one does not refuse the callers of another, and is logged once [auth.any-of]', async () => {
    const errors: unknown[] = []
    const broken = bearer((token) => JSON.parse(token))
    const server = served([broken, knows('b')], { onError: (error) => void errors.push(error) })
    for (let calls = 0; calls < 3; calls++) expect((await discover(server, 'b1')).status).toBe(200)
    expect(errors).toEqual([expect.any(SyntaxError)])
    expect((await discover(server, 'x')).status).toBe(500)
  })

  it('an outage of one is logged where another admits the caller [auth.any-of]', async () => {
    const errors: unknown[] = []
    const server = served([down(), knows('b')], { onError: (error) => void errors.push(error) })
    expect((await discover(server, 'b1')).status).toBe(200)
    expect(errors).toEqual([expect.any(VerifierUnavailableError)])
  })
})

describe('a refusal', () => {
  const ofScopes = knows('a', { scopes: ['shop'] })
  const thrower = bearer(() => {
    throw new TypeError('a mistake')
  })

  it.each<[string, readonly Auth[], string, number]>([
    ['nobody knows it', [knows('a'), knows('b')], 'x', 401],
    ['one could not check it', [knows('a'), down()], 'x', 503],
    ['one could not check it, in the other order', [down(), knows('a')], 'x', 503],
    ['one knows it, and it lacks a scope', [knows('b'), ofScopes], 'a1', 403],
    ['the same during an outage of another', [down(), ofScopes], 'a1', 403],
    ['the same beside a mistake', [thrower, ofScopes], 'a1', 403],
    ['a mistake beside one that knows nothing', [thrower, knows('a')], 'x', 500],
    ['one knows it, and another admits it', [ofScopes, knows('a')], 'a1', 200],
  ])('%s [auth.any-of]', async (_case, auths, token, status) => {
    const response = await discover(served(auths, { onError: () => {} }), token)
    expect(response.status).toBe(status)
    if (status === 503) expect(response.headers.get('retry-after')).toBe('5')
  })

  it('says what the one that knows the token says, and nothing of the others [auth.any-of]', async () => {
    const { store, key, id } = await withKey()
    await createKeyAdmin(store, { server: 'test' }).revoke(id)
    const expired = await issuer.sign({ exp: 1 })
    for (const auths of [
      [jwt({ issuer: issuer.url, audience: AUDIENCE }), apiKeys({ store, server: 'test' })],
      [apiKeys({ store, server: 'test' }), jwt({ issuer: issuer.url, audience: AUDIENCE })],
    ]) {
      const server = served(auths)
      const reasons = []
      for (const token of [expired, key]) {
        const response = await discover(server, token)
        expect(challengeOf(response)).toContain(`error_description="${await said(response.clone())}"`)
        reasons.push(await said(response))
      }
      expect(reasons).toEqual(['The token has expired.', 'The API key was revoked.'])
    }
  })

  it('its challenge is that of the first with authorization servers, wherever it is [auth.any-of]', async () => {
    const users = knows('a', { authorizationServers: [LOGIN], scopes: ['shop'] })
    const metadata = 'resource_metadata="https://mcp.example/.well-known/oauth-protected-resource/mcp"'
    const store = createMemoryKeyStore()
    for (const auths of [
      [users, apiKeys({ store, scopes: ['machine'] })],
      [apiKeys({ store, scopes: ['machine'] }), users, knows('b', { authorizationServers: [OTHER] })],
    ]) {
      const server = served(auths)
      const none = await discover(server)
      expect([none.status, challengeOf(none)]).toEqual([401, `Bearer scope="shop", ${metadata}`])
      const bad = await discover(server, 'x')
      expect(challengeOf(bad)).toMatch(
        /^Bearer error="invalid_token", error_description="[^"]+", scope="shop", /,
      )
    }
  })

  it('the causes of all are logged, and none is sent [auth.any-of]', async () => {
    const errors: unknown[] = []
    const refuses = bearer(() => {
      throw new InvalidTokenError('no', { cause: new Error('set the variable') })
    })
    const response = await discover(
      served([down(), refuses], { onError: (error) => void errors.push(error) }),
      'x',
    )
    expect(errors).toEqual([expect.any(AggregateError)])
    expect((errors[0] as Error).message).toBe('the issuer is down: secret-host:1 set the variable')
    expect(await response.text()).not.toMatch(/secret-host|variable/)
  })

  it('a bad token counts once for itself [auth.any-of]', async () => {
    const { store } = await withKey()
    const counts: string[] = []
    const limiter = createMemoryRateLimiter({ calls: 3, windowMs: 60_000 })
    const server = served([knows('a'), knows('b'), apiKeys({ store, header: 'x-api-key' })], {
      http: {
        rateLimiter: {
          limit: (caller) => {
            counts.push(caller)
            return limiter.limit(caller)
          },
        },
      },
    })
    const statuses = []
    for (let tries = 0; tries < 6; tries++) {
      const headers = { 'x-api-key': 'mk_bad' }
      statuses.push((await discover(server, undefined, { headers })).status)
    }
    // The first one counts for its caller, which is unknown here.
    expect(statuses).toEqual([401, 401, 401, 401, 429, 429])
    expect(counts).toHaveLength(4)
    expect((await discover(server, 'a1')).status).toBe(200)
  })
})

describe('headers', () => {
  const edge = knows('e', {})

  it('x-api-key counts before Authorization, which is then not read [auth.any-of]', async () => {
    const { store, key } = await withKey()
    const server = served([knows('a'), apiKeys({ store, server: 'test', header: 'x-api-key' })])
    const both = { ...bearing('a1'), 'x-api-key': key }
    expect(await said(await call(server, 'whoami', both))).toBe('api-keys/ci')
    expect((await call(server, 'whoami', { ...bearing('a1'), 'x-api-key': 'mk_bad' })).status).toBe(401)
    expect(await said(await call(server, 'whoami', { ...bearing('a1'), 'x-api-key': '' }))).toBe('bearer/a1')
    expect(await said(await call(server, 'whoami', bearing(key)))).toBe('api-keys/ci')
  })

  it('of two with headers of their own, the first counts, and its token is for those that read it [auth.any-of]', async () => {
    const assertion: Auth = { ...edge, header: 'Cf-Access-Jwt-Assertion', admit: readsAssertion }
    const server = served([assertion, knows('a')])
    const both = { ...bearing('a1'), 'cf-access-jwt-assertion': 'e1' }
    expect(await said(await call(server, 'whoami', both))).toBe('bearer/e1')
    expect((await call(server, 'whoami', { ...both, 'cf-access-jwt-assertion': 'a1' })).status).toBe(401)
    expect(await said(await call(server, 'whoami', bearing('a1')))).toBe('bearer 2/a1')
    expect((await call(server, 'whoami', bearing('e1'))).status).toBe(401)
  })

  const readsAssertion: Auth['admit'] = (request, context) => {
    const sent = request.headers.get('cf-access-jwt-assertion')
    const headers: Record<string, string> = sent === null ? {} : bearing(sent)
    return edge.admit(new Request(request.url, { headers }), context)
  }
})

describe('callers without a token', () => {
  const auths = [
    knows('a', { anonymous: { tools: ['hours'] }, authorizationServers: [LOGIN], scopes: ['shop'] }),
    knows('b', { anonymous: { tools: ['whoami'] } }),
    knows('c'),
  ]

  it('may use what any of them opens, and nothing else [auth.any-of]', async () => {
    const server = served(auths)
    expect(await said(await call(server, 'hours'))).toBe('9 to 17')
    expect(await said(await call(server, 'whoami'))).toBe('undefined/undefined')
    for (const name of ['pay', 'nothing']) {
      const response = await call(server, name)
      expect([response.status, challengeOf(response)]).toEqual([
        401,
        'Bearer scope="shop", resource_metadata="https://mcp.example/.well-known/oauth-protected-resource/mcp"',
      ])
    }
    expect((await call(server, 'hours', bearing('x'))).status).toBe(401)
  })

  it('the page shows what any of them opens [auth.any-of]', async () => {
    const page = await served(auths).fetch(
      new Request('https://mcp.example/mcp', { headers: { accept: 'text/html' } }),
    )
    const html = await page.text()
    expect([html.includes('hours'), html.includes('whoami'), html.includes('pay')]).toEqual([
      true,
      true,
      false,
    ])
  })

  it('get 401 where none opens anything [auth.any-of]', async () => {
    expect((await call(served([knows('a'), knows('b')]), 'hours')).status).toBe(401)
  })

  it('a name that the server lacks is an error in each of them [auth.any-of]', async () => {
    const misspelt = knows('b', { anonymous: { tools: ['hour'] } })
    expect(() => served([knows('a'), misspelt]).getToolListInfo()).toThrow('did you mean "hours"?')
  })
})

describe('two callers with one name', () => {
  const annOf = (letter: string, options: BearerOptions = {}): Auth =>
    bearer(
      (token) => (token.startsWith(letter) ? { clientId: 'ann', extra: { sub: 'ann' } } : undefined),
      options,
    )

  it('have each their own rate limit [auth.any-of]', async () => {
    const rateLimiter = createMemoryRateLimiter({ calls: 2, windowMs: 60_000 })
    const server = served([annOf('a'), annOf('b')], { http: { rateLimiter } })
    const statuses = []
    for (const token of ['a1', 'a2', 'a3', 'b1', 'b2', 'b3'])
      statuses.push((await discover(server, token)).status)
    expect(statuses).toEqual([200, 200, 429, 200, 200, 429])
  })

  it('do not see the tasks of each other [auth.any-of]', async () => {
    const slow = createTool({ id: 'slow', task: 'required', execute: () => 'done' })
    const auth = anyOf([annOf('a'), annOf('b')])
    const client = new TaskClient({ tools: { slow }, auth, tasks: createMemoryTasks() })
    const { taskId } = await client.call('slow', {}, { headers: bearing('a1') })
    const get = (token: string) => client.send('tasks/get', { taskId }, { headers: bearing(token) })
    expect((await get('a2')).result).toMatchObject({ taskId })
    expect((await get('b1')).error).toMatchObject({ code: -32602 })
    await client.settle()
  })

  it('of one issuer are one caller [auth.any-of]', async () => {
    const rateLimiter = createMemoryRateLimiter({ calls: 2, windowMs: 60_000 })
    const server = served(
      [
        jwt({ issuer: issuer.url, audience: AUDIENCE }),
        jwt({ issuer: issuer.url, audience: 'https://old.example/mcp' }),
      ],
      { http: { rateLimiter } },
    )
    const statuses = []
    for (const aud of [AUDIENCE, 'https://old.example/mcp', AUDIENCE])
      statuses.push((await discover(server, await issuer.sign({ aud }))).status)
    expect(statuses).toEqual([200, 200, 429])
  })

  it('are told apart in the audit trail [auth.any-of]', async () => {
    const entries: AuditEntry[] = []
    const server = served([annOf('a'), annOf('b')], {
      audit: { record: (entry) => void entries.push(entry) },
    })
    for (const token of ['a1', 'b1']) await discover(server, token)
    expect(entries.map(({ clientId, realm }) => [clientId, realm])).toEqual([
      ['ann', 'bearer'],
      ['ann', 'bearer 2'],
    ])
  })
})

describe('metadata', () => {
  const metadataOf = async (auths: readonly Auth[]) =>
    (
      await served(auths).fetch(new Request('https://mcp.example/.well-known/oauth-protected-resource/mcp'))
    ).json()

  it('has the authorization servers of all, and the scopes that they grant [auth.any-of]', async () => {
    const store = createMemoryKeyStore()
    expect(
      await metadataOf([
        apiKeys({ store, scopes: ['machine'] }),
        knows('a', {
          authorizationServers: [LOGIN],
          scopes: ['shop'],
          documentationUrl: 'https://shop.example/docs',
        }),
        knows('b', { authorizationServers: [OTHER, LOGIN], scopes: ['shop', 'till'] }),
      ]),
    ).toMatchObject({
      resource: 'https://mcp.example/mcp',
      resource_name: 'Test',
      authorization_servers: [LOGIN, OTHER],
      bearer_methods_supported: ['header'],
      scopes_supported: ['shop', 'till'],
      resource_documentation: 'https://shop.example/docs',
    })
  })

  it('has the scopes of all where nobody grants them, and no empty lists [auth.any-of]', async () => {
    expect(await metadataOf([knows('a', { scopes: ['x'] }), knows('b', { scopes: ['y'] })])).toMatchObject({
      scopes_supported: ['x', 'y'],
    })
    const bare = await metadataOf([knows('a'), knows('b')])
    expect(Object.keys(bare as object)).not.toContain('scopes_supported')
    expect(Object.keys(bare as object)).not.toContain('authorization_servers')
  })
})

describe('a server with it', () => {
  it('tells doctor what each needs, and has the store of its keys [auth.any-of]', async () => {
    const store = createMemoryKeyStore()
    const auths = [
      staticTokens((env: { A?: string }) => [{ token: env.A!, clientId: 'a' }]),
      staticTokens((env: { B?: string }) => [{ token: env.B!, clientId: 'b' }]),
      apiKeys({ store }),
    ]
    const info = served(auths).getDeploymentInfo({})
    expect(info.authFault).toMatch(/of "a" must have at least 16 .* of "b" must have at least 16/)
    expect(info.keyStore!()).toMatchObject({ audience: { server: 'test' } })
    const whole = { A: 'a-token-of-the-server', B: 'b-token-of-the-server' }
    expect(served(auths).getDeploymentInfo(whole).authFault).toBeUndefined()
    expect(served([knows('a')]).getDeploymentInfo({}).keyStore).toBeUndefined()
  })

  it('fromSdk, fromNode and honoAuth take it, and ask for the name of the server [auth.any-of]', async () => {
    const { store, key } = await withKey()
    const unnamed = anyOf([knows('a'), apiKeys({ store })])
    const auth = anyOf([knows('a'), apiKeys({ store, server: 'test', header: 'x-api-key' })])
    const answers: RequestListener = (_req, res) => void res.end('{"jsonrpc":"2.0","id":1,"result":{}}')
    const needed = 'apiKeys needs "server"'
    expect(() => fromSdk((context) => createV2(context), { auth: unnamed })).toThrow(needed)
    expect(() => fromNode(answers, { auth: unnamed, mcpPath: '*' })).toThrow(needed)
    expect(() => honoAuth(unnamed)).toThrow(needed)

    const sdk = fromSdk((context) => createV2(context), { auth, log: false })
    const node = fromNode(answers, { auth, mcpPath: '*', log: false })
    expect(await (sdk.keyStore!({}) as typeof store).list({ limit: 1 })).toMatchObject({
      keys: [{ name: 'ci' }],
    })
    const app = new Hono<{ Variables: HonoAuthVariables }>()
    app.use('/mcp', honoAuth(auth))
    app.all('/mcp', (c) => c.text(c.get('auth')?.realm ?? ''))
    for (const { fetch } of [sdk, node, app]) {
      const statuses = []
      for (const headers of [bearing('a1'), { 'x-api-key': key }, bearing('x'), {}])
        statuses.push((await fetch(modernRequest('tools/list', {}, { headers }))).status)
      expect(statuses).toEqual([200, 200, 401, 401])
    }
    expect(
      await (await app.fetch(modernRequest('tools/list', {}, { headers: { 'x-api-key': key } }))).text(),
    ).toBe('api-keys')
  })

  it('judges the callers of connect as the one of their realm does [auth.any-of]', async () => {
    const server = served([knows('a', { scopes: ['shop'] }), apiKeys({ store: createMemoryKeyStore() })])
    const as = async (caller: { scopes: string[]; realm?: string }) => {
      await using client = await connect(server, { auth: { token: 't', clientId: 'ann', ...caller } })
      const { content } = await client.callTool({ name: 'whoami' })
      return content[0]?.type === 'text' ? content[0].text : undefined
    }
    expect(await as({ scopes: ['shop'] })).toBe('bearer/ann')
    expect(await as({ scopes: [] })).toBe('api-keys/ann')
    expect(await as({ scopes: ['shop'], realm: 'api-keys' })).toBe('api-keys/ann')
    await expect(as({ scopes: [], realm: 'bearer' })).rejects.toThrow('Insufficient scope')
    await expect(as({ scopes: ['shop'], realm: 'nobody' })).rejects.toThrow('401')
  })
})

it.each<[unknown]>([
  [undefined],
  [[]],
  [knows('a')],
  [[knows('a'), 'b']],
  [[anyOf([knows('a')])]],
  [Array.from({ length: 9 }, () => knows('a'))],
])('%o is no list of what checks tokens → TypeError [auth.any-of]', (given) => {
  expect(() => anyOf(given as Auth[])).toThrow(TypeError)
  expect(() => anyOf(given as Auth[])).toThrow('anyOf takes a list of 1 to 8')
})
