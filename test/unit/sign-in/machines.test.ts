/** Machines get tokens for a secret or a key of their own (RFC 6749 §4.4), and nothing that is for people. */
import { ClientCredentialsProvider, PrivateKeyJwtProvider } from '@modelcontextprotocol/client'
import { exportJWK, exportPKCS8, generateKeyPair, SignJWT } from 'jose'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { MCPClient } from '../../../src/client.ts'
import { createTool } from '../../../src/index.ts'
import { createSignIn } from '../../../src/sign-in/sign-in.ts'
import { createMemoryGrants, type Machine, signIn } from '../../../src/sign-in.ts'
import { createServer } from '../_client.ts'
import { slow } from './_faulty.ts'
import {
  authorizeUrl,
  connected,
  createWorld,
  fakeUpstream,
  LOOPBACK,
  ORIGIN,
  RESOURCE,
  registered,
  SECRET,
  type World,
} from './_sign-in.ts'

afterEach(() => {
  vi.useRealTimers()
})

/** As `openssl rand -base64 32` makes them. */
const OWN = 'k+3/0dJ5Qf8vO1mZb2tY7uIwXcRlNaEhGpTsVyDqW9k='
const NEXT = 'another-secret-of-thirty-two-characters'
const TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
const report: Machine = { scopes: ['notes:read', 'notes:write'], secret: (env) => env.REPORT_SECRET }
const env = { REPORT_SECRET: OWN }

interface Answer {
  readonly access_token: string
  readonly error?: string
  readonly [member: string]: unknown
}

const withMachine = (options: object = {}, machine: Partial<Machine> = {}): World =>
  createWorld({ env, machines: { report: { ...report, ...machine } }, ...options })

const ask = (
  world: World,
  fields: { readonly [name: string]: string } = {},
  headers = {},
): Promise<Response> => world.form('/oauth/token', { grant_type: 'client_credentials', ...fields }, headers)

const post = { client_id: 'report', client_secret: OWN }
const basicOf = (id: string, secret: string) => ({ authorization: `Basic ${btoa(`${id}:${secret}`)}` })

async function tokenOf(world: World, fields: { readonly [name: string]: string } = post): Promise<Answer> {
  const response = await ask(world, fields)
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`)
  return (await response.json()) as Answer
}

const isAccepted = (world: World, token: string): Promise<boolean> =>
  world.signIn.verify(token, world.context).then(
    () => true,
    () => false,
  )

/** A machine with keys, and what signs for it. */
async function withKeys(where: 'publicKeys' | 'jwksUri' = 'publicKeys') {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true })
  const { privateKey: other } = await generateKeyPair('ES256')
  const set = { keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256' }] }
  const jwksUri = 'https://keys.example/jwks'
  const net = { answer: () => Response.json(set), asked: 0 }
  const machine: Machine = {
    scopes: ['notes:read'],
    ...(where === 'publicKeys' ? { publicKeys: set } : { jwksUri }),
  }
  const options = {
    machines: { report: machine },
    fetch: async (url: unknown) => {
      expect(String(url)).toBe(jwksUri)
      net.asked++
      return net.answer()
    },
  }
  const now = Math.floor(Date.now() / 1000)
  const sign = (claims: object = {}, key = privateKey) =>
    new SignJWT({
      iss: 'report',
      sub: 'report',
      aud: ORIGIN,
      jti: crypto.randomUUID(),
      exp: now + 60,
      ...claims,
    })
      .setProtectedHeader({ alg: 'ES256' })
      .sign(key)
  const proofOf = async (claims?: object, key?: typeof privateKey) => ({
    client_assertion_type: TYPE,
    client_assertion: await sign(claims, key),
  })
  return { world: createWorld(options), options, net, sign, proofOf, other, machine, privateKey }
}

describe('a machine with a secret', () => {
  it.each([
    ['in the form', post, {}],
    ['in the header', {}, basicOf('report', encodeURIComponent(OWN))],
    ['in the header, encoded in Base64 only', {}, basicOf('report', OWN)],
  ])('%s → a token for its scopes, 15 minutes, no refresh token', async (_how, fields, headers) => {
    const world = withMachine()
    const response = await ask(world, { ...fields, resource: RESOURCE }, headers)
    expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-store'])
    const answer = (await response.json()) as Answer
    expect(answer).toEqual({
      access_token: expect.stringMatching(/^mm_[\w-]{43}$/),
      token_type: 'bearer',
      expires_in: 900,
      scope: 'notes:read notes:write',
    })
    expect(await world.signIn.verify(answer.access_token, world.context)).toEqual({
      clientId: 'report',
      scopes: ['notes:read', 'notes:write'],
      expiresAt: expect.any(Number),
      extra: {},
    })
  })

  it('gets the scopes that it asks for, of those that it has', async () => {
    const world = withMachine({}, { scopes: ['notes:read'] })
    expect(await tokenOf(world, { ...post, scope: 'notes:write notes:read' })).toMatchObject({
      scope: 'notes:read',
    })
    const none = await ask(world, { ...post, scope: 'notes:write' })
    expect([none.status, await none.json()]).toEqual([
      400,
      expect.objectContaining({ error: 'invalid_scope' }),
    ])
  })

  it('its tokens end after 15 minutes, or sooner where all do', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const world = withMachine()
    const { access_token: token } = await tokenOf(world)
    vi.setSystemTime(Date.now() + 899_000)
    expect(await isAccepted(world, token)).toBe(true)
    vi.setSystemTime(Date.now() + 2000)
    expect(await isAccepted(world, token)).toBe(false)
    const short = createSignIn('signIn', {
      ...{ upstream: fakeUpstream(), store: createMemoryGrants(), scopes: { 'notes:read': 'Read' } },
      ...{ secrets: [SECRET], accessTokenSeconds: 60, machines: { report: { scopes: [], secret: OWN } } },
    })
    const body = new URLSearchParams({ grant_type: 'client_credentials', ...post })
    const request = new Request(`${ORIGIN}/oauth/token`, { method: 'POST', body })
    expect(await (await short.serve(request, '/oauth/token', world.context))?.json()).toMatchObject({
      expires_in: 60,
    })
  })

  it('two secrets are accepted while one follows the other, and then one', async () => {
    const store = createMemoryGrants()
    const both = withMachine({ store, env: { REPORT_SECRET: `${NEXT}, ${OWN}` } })
    for (const client_secret of [OWN, NEXT])
      expect((await ask(both, { ...post, client_secret })).status).toBe(200)
    const later = withMachine({ store, env: { REPORT_SECRET: NEXT } })
    expect((await ask(later)).status).toBe(401)
    expect((await ask(later, post)).status).toBe(401)
  })

  it.each<[string, { [name: string]: string }, object, number, string]>([
    ['no secret', { client_id: 'report' }, {}, 401, 'invalid_client'],
    ['an empty secret', { client_id: 'report', client_secret: '' }, {}, 401, 'invalid_client'],
    ['another secret', { client_id: 'report', client_secret: NEXT }, {}, 401, 'invalid_client'],
    [
      'the start of the secret',
      { client_id: 'report', client_secret: OWN.slice(0, -1) },
      {},
      401,
      'invalid_client',
    ],
    ['another secret in the header', {}, basicOf('report', NEXT), 401, 'invalid_client'],
    ['another name in the form', { client_id: 'other' }, basicOf('report', OWN), 401, 'invalid_client'],
    ['the secret twice', { client_secret: OWN }, basicOf('report', OWN), 400, 'invalid_request'],
    [
      'a proof instead',
      { client_assertion_type: TYPE, client_assertion: 'a.eyJpc3MiOiJyZXBvcnQifQ.b' },
      {},
      401,
      'invalid_client',
    ],
    ['the name of nobody', { client_id: 'constructor', client_secret: OWN }, {}, 401, 'invalid_client'],
  ])('%s → %s', async (_what, fields, headers, status, error) => {
    const world = withMachine()
    const response = await ask(world, fields, headers)
    expect([response.status, ((await response.json()) as Answer).error]).toEqual([status, error])
    // RFC 6749 §5.2: the scheme that the client used.
    if (status === 401 && 'authorization' in headers)
      expect(response.headers.get('www-authenticate')).toContain('Basic')
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    expect((await world.store.list({ prefix: '', limit: 10 })).keys).toEqual([])
  })

  it.each(['https://evil.example/mcp', `${ORIGIN}/other`, 'mcp', ''])(
    'the resource %j → invalid_target',
    async (resource) => {
      const response = await ask(withMachine(), { ...post, resource })
      expect([response.status, await response.json()]).toEqual([
        400,
        expect.objectContaining({ error: 'invalid_target' }),
      ])
    },
  )

  it('a repeated parameter is refused', async () => {
    const world = withMachine()
    for (const name of ['grant_type', 'client_id', 'client_secret', 'scope']) {
      const body = new URLSearchParams({ grant_type: 'client_credentials', ...post, scope: 'notes:read' })
      body.append(name, body.get(name)!)
      const request = new Request(`${ORIGIN}/oauth/token`, { method: 'POST', body })
      expect((await world.send(request)).status, name).toBe(400)
    }
  })

  it('a secret that is not set, or too short → 503, and the operator learns which', async () => {
    for (const value of [undefined, '', 'short']) {
      const world = withMachine({ env: { REPORT_SECRET: value } })
      expect((await ask(world, { ...post, client_secret: value ?? '' })).status).toBe(503)
      expect(String(world.reports[0])).toContain('machines.report')
      expect(world.signIn.faultIn(world.context.env)).toContain('machines.report')
    }
    expect(withMachine().signIn.faultIn(env)).toBeUndefined()
  })
})

describe('a machine with keys', () => {
  it.each(['publicKeys', 'jwksUri'] as const)(
    'in "%s" gets a token with a proof, once for each',
    async (where) => {
      const { world, proofOf, net } = await withKeys(where)
      const proof = await proofOf()
      expect((await ask(world, proof)).status).toBe(200)
      expect((await ask(world, proof)).status).toBe(401)
      expect((await ask(world, { ...(await proofOf()), client_id: 'report' })).status).toBe(200)
      expect(net.asked).toBe(where === 'jwksUri' ? 1 : 0)
    },
  )

  it('of eight requests at once with one proof, by two instances, one gets a token', async () => {
    const { options, proofOf } = await withKeys()
    const store = createMemoryGrants()
    const worlds = [1, 2].map(() => createWorld({ ...options, store: slow(store) }))
    for (let round = 0; round < 5; round++) {
      const proof = await proofOf()
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, index) => ask(worlds[index % 2]!, proof)),
      )
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
      expect(answers.every(({ status }) => [200, 401, 503].includes(status))).toBe(true)
    }
  })

  it('is refused without a proof, with a secret, and with a proof that is not its own or not for this server', async () => {
    const { world, proofOf, other } = await withKeys()
    const now = Math.floor(Date.now() / 1000)
    const wrong: { readonly [name: string]: string }[] = [
      { client_id: 'report' },
      { client_id: 'report', client_secret: '' },
      { client_id: 'report', client_secret: OWN },
      await proofOf({}, other),
      await proofOf({ aud: 'https://other.example' }),
      await proofOf({ aud: `${ORIGIN}/oauth/token` }),
      await proofOf({ aud: [ORIGIN, 'https://other.example'] }),
      await proofOf({ sub: 'other' }),
      await proofOf({ exp: now - 60 }),
      await proofOf({ exp: now + 86_400 }),
      await proofOf({ jti: undefined }),
      { ...(await proofOf()), client_assertion_type: 'other' },
      { ...(await proofOf()), client_id: 'other' },
    ]
    for (const fields of wrong) expect((await ask(world, fields)).status).toBe(401)
  })

  it('whose URL does not answer → 503, not 401', async () => {
    const { world, proofOf, net } = await withKeys('jwksUri')
    net.answer = () => new Response('', { status: 503 })
    const response = await ask(world, await proofOf())
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5'])
    net.answer = () => new Response('', { status: 404 })
    expect((await ask(world, await proofOf())).status).toBe(503)
    expect(world.reports).toHaveLength(2)
  })

  it('takes a new key at its URL, asked at most every 30 seconds, and known keys while it is down', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { world, proofOf, net, other } = await withKeys('jwksUri')
    expect((await ask(world, await proofOf())).status).toBe(200)
    for (let count = 0; count < 5; count++) {
      const kid = { alg: 'ES256', kid: `unknown-${count}` }
      const assertion = await new SignJWT({}).setIssuer('report').setProtectedHeader(kid).sign(other)
      expect((await ask(world, { client_assertion_type: TYPE, client_assertion: assertion })).status).toBe(
        401,
      )
    }
    expect(net.asked).toBe(1)
    vi.setSystemTime(Date.now() + 31_000)
    const kid = { alg: 'ES256', kid: 'unknown' }
    const assertion = await new SignJWT({}).setIssuer('report').setProtectedHeader(kid).sign(other)
    await ask(world, { client_assertion_type: TYPE, client_assertion: assertion })
    expect(net.asked).toBe(2)
    net.answer = () => new Response('', { status: 500 })
    vi.setSystemTime(Date.now() + 3_600_000)
    const exp = Math.floor(Date.now() / 1000) + 60
    for (let count = 0; count < 3; count++)
      expect((await ask(world, await proofOf({ exp }))).status).toBe(200)
    expect(net.asked).toBe(3)
  })
})

describe('what is for people', () => {
  it('a machine does not get through the browser', async () => {
    const { world } = await withKeys()
    const response = await world.get(await authorizeUrl({ clientId: 'report' }))
    expect([response.status, response.headers.get('location')]).toEqual([400, null])
  })

  it.each(['authorization_code', 'refresh_token', 'password', ''])(
    'the grant %j is refused',
    async (grant_type) => {
      const world = withMachine()
      const person = await connected(world)
      const response = await ask(world, {
        ...post,
        grant_type,
        refresh_token: person.tokens.refresh_token,
        code: 'a:b:c',
      })
      expect([response.status, await response.json()]).toEqual([
        400,
        expect.objectContaining({ error: grant_type === '' ? 'invalid_request' : 'unauthorized_client' }),
      ])
      expect(await isAccepted(world, person.tokens.access_token)).toBe(true)
    },
  )

  it('a client of people gets no token of a machine', async () => {
    const world = withMachine()
    const clientId = await registered(world)
    for (const [fields, status, error] of [
      [{ client_id: clientId }, 400, 'unauthorized_client'],
      [{ client_id: clientId, client_secret: OWN }, 401, 'invalid_client'],
      [{ client_id: 'unknown', client_secret: OWN }, 401, 'invalid_client'],
    ] as const) {
      const response = await ask(world, fields)
      expect([response.status, ((await response.json()) as Answer).error]).toEqual([status, error])
    }
  })

  it('nobody registers as a machine', async () => {
    const world = withMachine()
    const response = await world.register({ client_id: 'report', client_name: 'report' })
    expect(((await response.json()) as { client_id: string }).client_id).not.toBe('report')
    expect((await world.register({ grant_types: ['client_credentials'] })).status).toBe(400)
  })
})

describe('tokens of machines', () => {
  it('are stored as hashes, and are of one resource and one issuer', async () => {
    const store = createMemoryGrants()
    const world = withMachine({ store })
    const { access_token: token } = await tokenOf(world)
    const { keys } = await store.list({ prefix: '', limit: 10 })
    const texts = await Promise.all(keys.map(async (key) => key + (await store.read(key))?.value))
    expect(texts.join()).not.toContain(token.slice(3))
    expect(texts.join()).not.toContain(OWN)
    const other = withMachine({ store, resource: `${ORIGIN}/other` })
    expect(await isAccepted(other, token)).toBe(false)
    const staging = withMachine({ store, origin: 'https://staging.example.com' })
    expect(await isAccepted(staging, token)).toBe(false)
    expect(await isAccepted(world, token)).toBe(true)
  })

  it('lose at once what the operator takes from the machine', async () => {
    const store = createMemoryGrants()
    const { access_token: token } = await tokenOf(withMachine({ store }))
    const less = withMachine({ store }, { scopes: ['notes:read'] })
    expect(await less.signIn.verify(token, less.context)).toMatchObject({ scopes: ['notes:read'] })
    const without = createWorld({ store, machines: { other: { scopes: [], secret: OWN } } })
    await expect(without.signIn.verify(token, without.context)).rejects.toMatchObject({
      code: 'invalid_token',
    })
  })

  it('are revoked by their machine, and by no other client', async () => {
    const machines = { report, other: { scopes: ['notes:read'], secret: NEXT } }
    const world = createWorld({ env, machines })
    const { access_token: token } = await tokenOf(world)
    const revoke = (fields: { readonly [name: string]: string }) =>
      world.form('/oauth/token', { token, ...fields })
    expect((await revoke({ client_id: 'report', client_secret: NEXT })).status).toBe(401)
    expect((await revoke({ client_id: 'other', client_secret: NEXT })).status).toBe(200)
    expect((await revoke({ client_id: await registered(world) })).status).toBe(200)
    expect(await isAccepted(world, token)).toBe(true)
    expect((await revoke(post)).status).toBe(200)
    expect(await isAccepted(world, token)).toBe(false)
  })

  it('a store that is down is no reason to refuse one', async () => {
    const world = withMachine()
    const { access_token: token } = await tokenOf(world)
    const read = () => Promise.reject(new Error('down'))
    const down = withMachine({ store: { ...world.store, read } })
    await expect(down.signIn.verify(token, down.context)).rejects.toMatchObject({
      code: 'verifier_unavailable',
    })
  })
})

it('the metadata lists the grant only where there are machines', async () => {
  const grantsOf = async (world: World) => {
    const facts = (await (await world.get('/.well-known/oauth-authorization-server')).json()) as {
      readonly [member: string]: string[]
    }
    expect(facts.token_endpoint_auth_methods_supported).toEqual(
      expect.arrayContaining(['client_secret_basic', 'client_secret_post', 'private_key_jwt']),
    )
    expect(facts.token_endpoint_auth_signing_alg_values_supported).toContain('ES256')
    return facts.grant_types_supported
  }
  expect(await grantsOf(createWorld())).not.toContain('client_credentials')
  expect(await grantsOf(withMachine())).toContain('client_credentials')
})

describe('MCPClient', () => {
  async function callBy(provider: (issuer: string) => object, machine: Machine) {
    const auth = signIn({
      ...{
        upstream: fakeUpstream(),
        store: createMemoryGrants(),
        secrets: [SECRET],
        required: ['notes:read'],
      },
      ...{ scopes: { 'notes:read': 'Read', 'notes:write': 'Write' }, machines: { report: machine } },
    })
    const who = createTool({
      id: 'who',
      execute: (_input, { auth }) => `I am ${auth?.clientId}, ${JSON.stringify(auth?.extra)}`,
    })
    const server = createServer({ auth, tools: { who }, http: { publicUrl: RESOURCE } })
    const client = new MCPClient({
      servers: {
        notes: {
          url: new URL(RESOURCE),
          authProvider: provider(ORIGIN) as never,
          fetch: (input: unknown, init?: RequestInit) =>
            server.handle(new Request(input as string, init), {}),
        },
      },
    } as never)
    try {
      const tools = await client.listTools()
      return JSON.stringify(await tools.notes_who!.execute!({}, {}))
    } finally {
      await client.disconnect()
    }
  }

  it('signs in as a machine with a secret', async () => {
    const text = await callBy(
      (expectedIssuer) =>
        new ClientCredentialsProvider({ clientId: 'report', clientSecret: OWN, expectedIssuer }),
      { scopes: ['notes:read'], secret: OWN },
    )
    expect(text).toContain('I am report')
  })

  it('signs in as a machine with a key', async () => {
    const { machine, privateKey } = await withKeys()
    const key = await exportPKCS8(privateKey)
    const text = await callBy(
      (expectedIssuer) =>
        new PrivateKeyJwtProvider({
          clientId: 'report',
          privateKey: key,
          algorithm: 'ES256',
          expectedIssuer,
        }),
      machine,
    )
    expect(text).toContain('I am report')
  })
})

describe('options', () => {
  const make = (machines: object) => () =>
    signIn({
      ...{ upstream: fakeUpstream(), store: createMemoryGrants(), secrets: [SECRET] },
      scopes: { 'notes:read': 'Read' },
      machines: machines as never,
    })
  const good = { scopes: ['notes:read'], secret: OWN }
  const key = { kty: 'EC', crv: 'P-256', x: 'a', y: 'b' }

  it.each<[string, object, string]>([
    ['a misspelt one', { report: { ...good, scope: ['notes:read'] } }, 'did you mean "scopes"'],
    ['no scopes', { report: { secret: OWN } }, 'needs "scopes"'],
    ['an unknown scope', { report: { ...good, scopes: ['notes:all'] } }, '"notes:all"'],
    ['nothing to prove it with', { report: { scopes: [] } }, 'needs one of'],
    ['two things to prove it with', { report: { ...good, jwksUri: 'https://a.example' } }, 'needs one of'],
    ['a short secret', { report: { ...good, secret: 'short' } }, 'at least 32 characters'],
    ['an empty secret', { report: { ...good, secret: '' } }, 'at least one secret'],
    ['a short second secret', { report: { ...good, secret: `${OWN},x` } }, 'at least 32 characters'],
    ['a URL as name', { 'https://a.example/m': good }, 'letters, digits'],
    ['an empty name', { '': good }, 'letters, digits'],
    [
      'keys at a private address',
      { report: { scopes: [], jwksUri: 'https://10.0.0.1/jwks' } },
      'public address',
    ],
    ['keys over http', { report: { scopes: [], jwksUri: 'http://a.example' } }, 'https URL'],
    ['no keys', { report: { scopes: [], publicKeys: { keys: [] } } }, 'public keys'],
    ['a private key', { report: { scopes: [], publicKeys: { keys: [{ ...key, d: 'c' }] } } }, 'public keys'],
    [
      'a shared key',
      { report: { scopes: [], publicKeys: { keys: [{ kty: 'oct', k: 'c' }] } } },
      'public keys',
    ],
    ['a misspelt key set', { report: { scopes: [], publicKeys: { key: [key] } } }, 'did you mean "keys"'],
    ['a list', [good], '"machines'],
    ['a string', { report: 'secret' }, 'needs an object'],
  ])('%s → a TypeError', (_what, machines, message) => {
    expect(make(machines)).toThrow(TypeError)
    expect(make(machines)).toThrow(message)
  })

  it('good ones are taken', () => {
    expect(make({ report: good, other: { scopes: [], publicKeys: { keys: [key] } } })).not.toThrow()
    expect(LOOPBACK).toContain('127')
  })
})
