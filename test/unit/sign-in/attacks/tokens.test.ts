/** Access tokens where they are not meant for, or in hands that are not theirs. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createMemoryGrants } from '../../../../src/sign-in/store/memory.ts'
import {
  connected,
  createWorld,
  exchange,
  Jar,
  ORIGIN,
  refresh,
  registered,
  signInAs,
  type Tokens,
  type World,
} from '../_sign-in.ts'
import { createWholeServer } from './_whole-server.ts'

afterEach(() => {
  vi.useRealTimers()
})

/** Of a person's token: machines have none. */
async function subOf({ signIn, context }: World, token: string): Promise<string> {
  const { sub } = (await signIn.verify(token, context)).extra
  if (sub === undefined) throw new Error('This is the token of a machine.')
  return sub
}

const textOf = ({ result }: { readonly result: unknown }): string => JSON.stringify(result)

describe('MCP token passthrough', () => {
  it('a token that this server did not issue → 401: the provider’s, another server’s, a JWT, none', async () => {
    const { world, call } = createWholeServer()
    const { tokens } = await connected(world)
    const jwt = `${btoa('{"alg":"none"}')}.${btoa('{"sub":"anna","aud":"https://mcp.example.com/mcp"}')}.`
    const others = [
      ...[
        'upstream-access-of-anna',
        'upstream-refresh-of-anna',
        jwt,
        'undefined',
        'null',
        '::',
        tokens.refresh_token,
      ],
      ...[`${tokens.access_token}x`, tokens.access_token.slice(0, -1), tokens.access_token.toUpperCase()],
      ...[tokens.access_token.replace(/^[^:]+/, '../'), `${tokens.access_token} ${tokens.access_token}`],
    ]
    for (const token of [undefined, ...others]) expect((await call('who', token)).status, token).toBe(401)
    expect(textOf(await call('who', tokens.access_token))).toContain('anna@example.com')
  })

  it('the client never gets the provider’s token, and the provider never gets the client’s', async () => {
    const { world, call } = createWholeServer()
    const { tokens, clientId } = await connected(world)
    const refreshed = await (await refresh(world, tokens.refresh_token, clientId)).text()
    expect(JSON.stringify(tokens) + refreshed).not.toContain('upstream-')
    const upstream = textOf(await call('upstream', tokens.access_token))
    expect(upstream).toContain('upstream-access-of-anna')
    expect(upstream).not.toContain(tokens.access_token)
  })
})

describe('RFC 9700 §4.9: access token leakage at the resource server', () => {
  it('a token is worth nothing at another server, also with the same store, secret and people', async () => {
    const store = createMemoryGrants()
    const a = createWorld({ store })
    const { tokens, clientId } = await connected(a)
    const others = [
      createWorld({ store, origin: 'https://b.example.com' }),
      createWorld({ store, origin: 'https://mcp.example.com:8443' }),
      createWorld({ store, resource: `${ORIGIN}/b/mcp` }),
      createWorld({ store, resource: `${ORIGIN}/other` }),
    ]
    for (const other of others) {
      await expect(other.signIn.verify(tokens.access_token, other.context)).rejects.toMatchObject({
        code: 'invalid_token',
      })
    }
    for (const other of others.slice(0, 3)) {
      const response = await other.form('/oauth/token', {
        ...{ grant_type: 'refresh_token', refresh_token: tokens.refresh_token, client_id: clientId },
      })
      expect(response.status).toBeGreaterThanOrEqual(400)
    }
    await a.signIn.verify(tokens.access_token, a.context)
  })

  it('a code and a session of one server are worth nothing at another', async () => {
    const store = createMemoryGrants()
    const [a, b] = [createWorld({ store }), createWorld({ store, origin: 'https://b.example.com' })]
    const jar = new Jar()
    const clientId = await registered(a)
    const code = (await signInAs(a, { clientId, jar })).searchParams.get('code')!
    const there = await exchange(b, code, clientId, { resource: 'https://b.example.com/mcp' })
    expect(there.status).toBeGreaterThanOrEqual(400)
    expect((await b.get('/connections', jar.headers)).status).toBe(303)
    expect((await exchange(a, code, clientId)).status).toBe(200)
  })

  it('no error has the token', async () => {
    const { world, call } = createWholeServer()
    const { tokens } = await connected(world)
    const { headers, error } = await call('write', tokens.access_token)
    const unknown = await call('who', `${tokens.access_token}x`)
    const all = JSON.stringify([[...headers], error, [...unknown.headers], unknown.error])
    expect(all).not.toContain(tokens.access_token.split(':')[2])
  })
})

describe('RFC 9700 §4.10: misuse of stolen access tokens', () => {
  it('a token ends after its hour, and at once with its connection', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { world, call } = createWholeServer()
    const jar = new Jar()
    const { tokens, clientId } = await connected(world, { jar })
    const other = await connected(world)
    expect(tokens.expires_in).toBe(3600)
    const page = await (await world.get('/connections', jar.headers)).text()
    const form = /name="form" value="([^"]+)/.exec(page)![1]!
    await world.form('/connections', { form, revoke: clientId }, { ...jar.headers, origin: ORIGIN })
    expect((await call('who', tokens.access_token)).status).toBe(401)
    expect((await refresh(world, tokens.refresh_token, clientId)).status).toBe(400)
    expect((await call('who', other.tokens.access_token)).status).toBe(200)
    vi.setSystemTime(Date.now() + 3_601_000)
    expect((await call('who', other.tokens.access_token)).status).toBe(401)
  })

  it('a revoked token (RFC 7009) is refused; another client revokes nothing', async () => {
    const { world, call } = createWholeServer()
    const { tokens, clientId } = await connected(world)
    const stranger = await registered(world)
    for (const token of [tokens.access_token, tokens.refresh_token])
      for (const hint of ['access_token', 'refresh_token', 'x'])
        await world.form('/oauth/token', { token, client_id: stranger, token_type_hint: hint })
    expect((await call('who', tokens.access_token)).status).toBe(200)
    await world.form('/oauth/token', { token: tokens.access_token, client_id: clientId })
    expect((await call('who', tokens.access_token)).status).toBe(401)
  })

  it('a token does what its scopes say, and no more', async () => {
    const { world, call } = createWholeServer()
    const { tokens } = await connected(world, { query: { scope: 'notes:read' } })
    const refused = await call('write', tokens.access_token)
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
      403,
      expect.stringContaining('notes:write'),
    ])
  })
})

describe('RFC 9700 §4.15: a client impersonates a resource owner', () => {
  it('no client chooses its id, and no id is that of a person', async () => {
    const world = createWorld()
    const { tokens } = await connected(world)
    const sub = await subOf(world, tokens.access_token)
    for (const client_id of [sub, 'anna', 'admin']) {
      const response = await world.register({ client_id, sub })
      expect(((await response.json()) as { client_id: string }).client_id).not.toBe(client_id)
    }
    for (let count = 0; count < 20; count++) expect(await registered(world)).not.toHaveLength(sub.length)
  })

  it('a client without a person gets no token of one', async () => {
    const world = createWorld()
    const { tokens, clientId } = await connected(world)
    const sub = await subOf(world, tokens.access_token)
    for (const grant_type of [
      ...['password', 'client_credentials', 'urn:ietf:params:oauth:grant-type:device_code', 'implicit', ''],
      ...['urn:ietf:params:oauth:grant-type:jwt-bearer', 'urn:ietf:params:oauth:grant-type:token-exchange'],
    ]) {
      const response = await world.form('/oauth/token', {
        ...{ grant_type, client_id: clientId, username: sub, sub, scope: 'notes:read' },
        ...{ subject_token: tokens.access_token, assertion: 'x.y.z' },
        subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      })
      expect(response.status, grant_type).toBeGreaterThanOrEqual(400)
    }
  })
})

describe('MCP session hijacking', () => {
  it('a session id of the protocol is no proof of anybody', async () => {
    const { world, call } = createWholeServer()
    const { tokens } = await connected(world)
    const session = { 'mcp-session-id': tokens.access_token }
    expect((await call('who', undefined, session)).status).toBe(401)
    const mallory = await connected(world, { person: 'mallory' })
    const sub = await subOf(world, tokens.access_token)
    const answer = await call('who', mallory.tokens.access_token, { 'mcp-session-id': sub, 'x-user': sub })
    if (answer.status === 200) expect(textOf(answer)).toContain('mallory@example.com')
  })
})

describe('what needs no token (`anonymous`)', () => {
  it('is only what is named, without anybody’s name', async () => {
    const { call } = createWholeServer({ anonymous: { tools: ['open', 'who'] } })
    expect(textOf(await call('open'))).toContain('anyone')
    expect(textOf(await call('who'))).toContain('undefined')
    for (const tool of ['write', 'upstream', 'open2']) expect((await call(tool)).status, tool).toBe(401)
    // A token that is wrong is not none.
    expect((await call('open', 'x')).status).toBe(401)
  })
})

it('what one person’s token says is not changed by another’s sign-in at the same client', async () => {
  const { world, call } = createWholeServer()
  const clientId = await registered(world)
  const people = ['anna', 'bert', 'mallory']
  const all: Tokens[] = []
  for (const person of people) all.push((await connected(world, { clientId, person })).tokens)
  for (const [index, { access_token }] of all.entries())
    expect(textOf(await call('who', access_token))).toContain(`${people[index]}@example.com`)
})
