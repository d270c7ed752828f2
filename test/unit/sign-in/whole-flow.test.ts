/** From an app to its tokens, with the real `oidc-provider` behind sign-in, and with the stand-in. */
import { describe, expect, it } from 'vitest'
import { google } from '../../../src/sign-in/google.ts'
import { oidc } from '../../../src/sign-in/oidc.ts'
import { createSignIn } from '../../../src/sign-in/sign-in.ts'
import { createMemoryGrants } from '../../../src/sign-in/store/memory.ts'
import type { Upstream } from '../../../src/sign-in/upstream/upstream.ts'
import { ADA, browse, CLIENT, REDIRECT, startOpenIdProvider } from './_provider.ts'
import {
  answer,
  authorizeUrl,
  createWorld,
  exchange,
  Jar,
  personOf,
  registered,
  SECRET,
  type Tokens,
  type World,
} from './_sign-in.ts'

/** A server as `createWorld` makes it, at another place and with another provider. */
function worldWith(upstream: Upstream, origin: string, env: object): World {
  const signIn = createSignIn('createSignIn', {
    ...{ upstream, store: createMemoryGrants(), secrets: [SECRET] },
    scopes: { 'notes:read': 'Read your notes' },
  })
  const world = createWorld({ origin, resource: `${origin}/mcp` })
  const reports: unknown[] = []
  const context = { ...world.context, env, report: (error: unknown) => reports.push(error) }
  const send = async (request: Request): Promise<Response> =>
    (await signIn.serve(request, new URL(request.url).pathname, context)) ??
    new Response(null, { status: 404 })
  const at = (path: string): string => (path.startsWith('http') ? path : origin + path)
  return {
    ...{ ...world, signIn, context, reports, send },
    get: (path, headers = {}) => send(new Request(at(path), { headers })),
    form: (path, fields, headers = {}) =>
      send(new Request(at(path), { method: 'POST', headers, body: new URLSearchParams(fields) })),
    register: (metadata = {}) =>
      send(
        new Request(at('/oauth/register'), {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({
            redirect_uris: ['http://127.0.0.1:5555/cb'],
            token_endpoint_auth_method: 'none',
            ...metadata,
          }),
        }),
      ),
  }
}

/** Answers the question, whose page is returned: to the provider. */
async function agree(world: World, asked: Response, jar: Jar): Promise<{ page: string; away: Response }> {
  const question = asked.headers.get('location') ?? ''
  const page = await (await world.get(question, jar.headers)).text()
  const handle = new URL(question).searchParams.get('consent') ?? ''
  return { page, away: await answer(world, handle, jar) }
}

async function tokensOf(world: World, back: Response, clientId: string): Promise<Tokens> {
  const code = new URL(back.headers.get('location') ?? '').searchParams.get('code') ?? ''
  const tokens = await exchange(world, code, clientId, { resource: world.context.resource })
  return (await tokens.json()) as Tokens
}

describe('sign-in with oidc-provider', () => {
  it('an app → the question → the provider → tokens; and the next time with the person’s name', async () => {
    const origin = new URL(REDIRECT).origin
    await using provider = await startOpenIdProvider({ redirectUri: `${origin}/oauth/callback` })
    const upstream = oidc({ issuer: provider.issuer, ...CLIENT, fetch: provider.fetch, name: 'Example' })
    const world = worldWith(upstream, origin, {})
    const clientId = await registered(world, { client_name: 'Claude' })
    const jar = new Jar()

    const query = { resource: world.context.resource }
    const visit = async () => jar.take(await world.get(await authorizeUrl({ clientId, query }), jar.headers))
    const { page, away } = await agree(world, await visit(), jar)
    const url = await browse(away.headers.get('location')!, provider, `${origin}/oauth/callback`)
    const back = jar.take(await world.get(url.href, jar.headers))
    const tokens = await tokensOf(world, back, clientId)

    expect(page).toContain('Next, you sign in with Example.')
    expect(page).toContain('asks Example for <code>openid profile email</code>')
    const verified = await world.signIn.verify(tokens.access_token, world.context)
    expect(verified).toMatchObject({ claims: { email: 'ada@notes.example' } })
    const again = await agree(world, await visit(), jar)
    expect(again.page).toContain('<bdi>Ada Lovelace</bdi>')
    expect(again.page).toContain('signed in with Example')
    expect(world.reports).toEqual([])
  })
})

describe('the provider’s token, refreshed by oidc-provider', () => {
  it.each([
    ['the person', {}, true],
    ['somebody else', { sub: 'eve' }, false],
    ['a person who may no longer sign in', { department: 'sales' }, false],
  ])('its ID token is that of %s', async (_who, changed, isKept) => {
    const origin = new URL(REDIRECT).origin
    const claims = { ...ADA, department: 'orders' }
    await using provider = await startOpenIdProvider({ redirectUri: `${origin}/oauth/callback`, claims })
    // Tokens that expire at once, and whose ID token is changed after the sign-in.
    let isLater = false
    provider.change = async (path, own) => {
      if (!path.endsWith('/token')) return undefined
      const answer = (await (await own()).json()) as { id_token: string }
      const given = JSON.parse(Buffer.from(answer.id_token.split('.')[1]!, 'base64url').toString())
      const id_token = isLater ? await provider.sign({ ...given, ...changed }) : answer.id_token
      return Response.json({ ...answer, id_token, expires_in: 1 })
    }
    const upstream = oidc({
      ...{ issuer: provider.issuer, ...CLIENT, fetch: provider.fetch },
      check: ({ department }) => (department === 'orders' ? undefined : 'Only Orders.'),
    })
    const world = worldWith(upstream, origin, {})
    const clientId = await registered(world)
    const jar = new Jar()
    const query = { resource: world.context.resource }
    const asked = jar.take(await world.get(await authorizeUrl({ clientId, query })))
    const { away } = await agree(world, asked, jar)
    const url = await browse(away.headers.get('location')!, provider, `${origin}/oauth/callback`)
    const tokens = await tokensOf(world, jar.take(await world.get(url.href, jar.headers)), clientId)
    const { extra } = await personOf(world, tokens.access_token)

    isLater = true
    const token = await world.signIn
      .upstreamToken(extra.sub, extra.connection, world.context)
      .catch((error) => error)

    const isIn = await world.signIn.verify(tokens.access_token, world.context).then(
      () => true,
      () => false,
    )
    if (isKept) expect(token).toEqual(expect.any(String))
    else expect(token).toMatchObject({ code: 'upstream_sign_in_needed' })
    expect(isIn).toBe(isKept)
  })
})

describe('sign-in in mayfly dev, without a client id', () => {
  const upstream = google({ clientId: (env) => env.GOOGLE_ID, clientSecret: (env) => env.GOOGLE_SECRET })
  const start = async (origin: string, env: object) => {
    const world = worldWith(upstream, origin, env)
    const clientId = await registered(world)
    const jar = new Jar()
    const query = { resource: world.context.resource }
    const asked = jar.take(await world.get(await authorizeUrl({ clientId, query })))
    // A provider that cannot be used is not asked about.
    const away = asked.status === 303 ? (await agree(world, asked, jar)).away : asked
    return { world, clientId, jar, asked, away }
  }

  it('asks who somebody is, and goes on with the answer', async () => {
    const { world, clientId, jar, away } = await start('http://localhost:8787', { MAYFLY_DEV: '1' })
    const asking = await world.get(away.headers.get('location')!, jar.headers)
    const html = await asking.text()
    expect(html).toContain('Who are you?')
    const fields = Object.fromEntries(
      [...html.matchAll(/<input type=hidden name="(\w+)" value="([^"]*)">/g)].map(([, name, value]) => [
        name,
        value,
      ]),
    ) as Record<string, string>
    const who = new URLSearchParams({ ...fields, name: 'Zoë', email: 'zoe@example.com' })

    const back = jar.take(await world.get(`/oauth/callback?${who}`, jar.headers))
    const tokens = await tokensOf(world, back, clientId)

    expect(await world.signIn.verify(tokens.access_token, world.context)).toMatchObject({
      claims: { email: 'zoe@example.com' },
    })
    expect(world.signIn.faultIn({ MAYFLY_DEV: '1' })).toBeUndefined()
  })

  it.each([
    ['deployed, whatever its Host says', 'http://localhost:8787', {}, 503],
    ['in dev, at a public URL', 'https://notes.example', { MAYFLY_DEV: '1' }, 303],
  ])('%s → nobody is asked who it is, and the operator learns why', async (_what, origin, env, first) => {
    const { world, asked, away } = await start(origin, env)

    expect(asked.status).toBe(first)

    expect(away.status).toBe(503)
    expect(await away.text()).toContain('not set up correctly')
    expect(world.reports).toHaveLength(1)
  })
})
