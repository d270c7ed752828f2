/** A server that signs people in, the browser of a person, and a client, in memory. */

import {
  type CoreOptions,
  createSignIn,
  type SignIn,
  type SignInContext,
} from '../../../src/sign-in/sign-in.ts'
import { createMemoryGrants } from '../../../src/sign-in/store/memory.ts'
import type { GrantStore } from '../../../src/sign-in/store/store.ts'
import type { SignedIn } from '../../../src/sign-in/tokens/verify.ts'
import type { Upstream, UpstreamIdentity } from '../../../src/sign-in/upstream/upstream.ts'
import { Jar, s256, VERIFIER } from './_jar.ts'

export { Jar, s256, VERIFIER }

export const ORIGIN = 'https://mcp.example.com'
export const RESOURCE = `${ORIGIN}/mcp`
export const SECRET = 'a secret of thirty-two characters or more'
export const LOOPBACK = 'http://127.0.0.1:5555/cb'
const SCOPES = { 'notes:read': 'Read your notes', 'notes:write': 'Change your notes' }

/** An identity provider that lets everybody in: the code is the person's name. */
export interface FakeUpstream extends Upstream {
  readonly exchanged: string[]
  readonly refreshed: string[]
  /** Replaces the answer of an exchange. */
  exchangeWith?: (code: string) => Promise<UpstreamIdentity>
  refreshWith?: (refreshToken: string) => ReturnType<NonNullable<Upstream['refresh']>>
  expiresIn?: number
}

export function fakeUpstream(): FakeUpstream {
  const upstream: FakeUpstream = {
    name: 'Fake',
    id: 'fake',
    scopes: ['openid', 'email'],
    exchanged: [],
    refreshed: [],
    async authorizeUrl({ state, redirectUri, codeChallenge, nonce, isSwitching = false }) {
      const query = new URLSearchParams({ state, redirectUri, codeChallenge, nonce })
      query.set('isSwitching', String(isSwitching))
      return `https://upstream.example/authorize?${query}`
    },
    async exchange({ code, codeVerifier }) {
      upstream.exchanged.push(code)
      if (codeVerifier.length < 43) throw new Error('no verifier')
      if (upstream.exchangeWith !== undefined) return upstream.exchangeWith(code)
      const { expiresIn } = upstream
      return {
        issuer: 'https://upstream.example',
        subject: code,
        name: `Name of ${code}`,
        email: `${code}@example.com`,
        claims: { hd: 'example.com' },
        tokens: {
          accessToken: `upstream-access-of-${code}`,
          refreshToken: `upstream-refresh-of-${code}`,
          ...(expiresIn !== undefined && { expiresAt: Date.now() + expiresIn }),
        },
      }
    },
    async refresh({ refreshToken }) {
      upstream.refreshed.push(refreshToken)
      if (upstream.refreshWith !== undefined) return upstream.refreshWith(refreshToken)
      return {
        accessToken: 'upstream-access-refreshed',
        refreshToken: `${refreshToken}+`,
        expiresAt: Date.now() + 3_600_000,
      }
    },
  }
  return upstream
}

export interface World {
  readonly store: GrantStore
  readonly signIn: SignIn
  readonly upstream: FakeUpstream
  readonly context: SignInContext
  readonly reports: unknown[]
  send(request: Request): Promise<Response>
  get(path: string, headers?: HeadersInit): Promise<Response>
  form(path: string, fields: { readonly [name: string]: string }, headers?: HeadersInit): Promise<Response>
  register(metadata?: object): Promise<Response>
}

export interface WorldOptions extends Pick<CoreOptions, 'machines' | 'cacheMs' | 'unusedDays'> {
  readonly env?: object
  readonly store?: GrantStore
  readonly upstream?: FakeUpstream
  readonly origin?: string
  readonly resource?: string
  readonly secrets?: readonly string[]
  readonly fetch?: typeof globalThis.fetch
  readonly address?: string
  readonly scopes?: { readonly [scope: string]: string }
}

export function createWorld(options: WorldOptions = {}): World {
  const {
    store = createMemoryGrants(),
    upstream = fakeUpstream(),
    secrets = [SECRET],
    origin = ORIGIN,
  } = options
  const { scopes = SCOPES, fetch = async () => Promise.reject(new TypeError('no network')) } = options
  const reports: unknown[] = []
  const signIn = createSignIn('createSignIn', {
    ...{ upstream, store, scopes, secrets, fetch },
    ...(options.machines && { machines: options.machines }),
    ...(options.unusedDays !== undefined && { unusedDays: options.unusedDays }),
    ...(options.cacheMs !== undefined && { cacheMs: options.cacheMs }),
  })
  const context: SignInContext = {
    env: options.env ?? {},
    resource: options.resource ?? `${origin}/mcp`,
    name: 'Notes',
    address: options.address,
    report: (error) => reports.push(error),
  }
  const send = async (request: Request): Promise<Response> => {
    const answer = await signIn.serve(request, new URL(request.url).pathname, context)
    return answer ?? new Response('not of sign-in', { status: 404 })
  }
  const at = (path: string): string => (path.startsWith('http') ? path : origin + path)
  return {
    store,
    signIn,
    upstream,
    context,
    reports,
    send,
    get: (path, headers = {}) => send(new Request(at(path), { headers })),
    form: (path, fields, headers = {}) =>
      send(
        new Request(at(path), {
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
          body: new URLSearchParams(fields).toString(),
        }),
      ),
    register: (metadata = {}) =>
      send(
        new Request(at('/oauth/register'), {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({
            client_name: 'Test client',
            redirect_uris: [LOOPBACK],
            token_endpoint_auth_method: 'none',
            ...metadata,
          }),
        }),
      ),
  }
}

export interface Visit {
  readonly clientId: string
  readonly redirectUri?: string
  readonly person?: string
  readonly jar?: Jar
  /** Parameters of the authorization request; undefined removes one. */
  readonly query?: { readonly [name: string]: string | undefined }
}

export async function authorizeUrl({ clientId, redirectUri = LOOPBACK, query = {} }: Visit): Promise<string> {
  const all = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    state: 'state-of-client',
    scope: 'notes:read',
    code_challenge: await s256(VERIFIER),
    code_challenge_method: 'S256',
    resource: RESOURCE,
    ...query,
  }
  const given = Object.entries(all).filter(([, value]) => value !== undefined) as [string, string][]
  return `/oauth/authorize?${new URLSearchParams(given)}`
}

/** To the question, or to the client through the provider if it was asked before. */
export async function arrive(world: World, visit: Visit): Promise<{ at: Response; jar: Jar }> {
  const jar = visit.jar ?? new Jar()
  const response = jar.take(await world.get(await authorizeUrl(visit), jar.headers))
  return { at: await throughUpstream(world, response, jar, visit.person), jar }
}

/** To the provider and back, if the response leads there. */
export async function throughUpstream(
  world: World,
  response: Response,
  jar: Jar,
  person = 'anna',
): Promise<Response> {
  const location = response.headers.get('location')
  if (location === null || !location.startsWith('https://upstream.example/')) return response
  const state = new URL(location).searchParams.get('state') ?? ''
  const query = new URLSearchParams({ state, code: person })
  return jar.take(await world.get(`/oauth/callback?${query}`, jar.headers))
}

/** The question that the browser was sent to. */
export function handleOf(response: Response): string {
  return new URL(response.headers.get('location') ?? ORIGIN).searchParams.get('consent') ?? ''
}

/** Answers the question, and goes on to the provider and back. */
export async function decide(
  world: World,
  handle: string,
  jar: Jar,
  decision = 'approve',
  person?: string,
): Promise<Response> {
  return throughUpstream(world, await answer(world, handle, jar, decision), jar, person)
}

/** Answers the question: to the provider. */
export async function answer(
  world: World,
  handle: string,
  jar: Jar,
  decision = 'approve',
): Promise<Response> {
  const headers = { ...jar.headers, origin: new URL(world.context.resource).origin }
  return jar.take(await world.form('/oauth/authorize', { consent: handle, decision }, headers))
}

/** To the question, and from it to the provider: what the browser then has. */
export async function leave(
  world: World,
  visit: Visit,
): Promise<{ jar: Jar; away: Response; state: string; callback(parameters?: object): string }> {
  const { at, jar } = await arrive(world, visit)
  const away = await answer(world, handleOf(at), jar)
  const state = new URL(away.headers.get('location') ?? '').searchParams.get('state') ?? ''
  const callback = (parameters: object = { code: visit.person ?? 'anna' }) =>
    `/oauth/callback?${new URLSearchParams({ state, ...parameters })}`
  return { jar, away, state, callback }
}

/** From nothing to the URL with the code. A second question is answered, too: it is asked about somebody else than expected. */
export async function signInAs(world: World, visit: Visit): Promise<URL> {
  const { at, jar } = await arrive(world, visit)
  let final = at
  for (let handle = handleOf(at); handle !== ''; handle = handleOf(final))
    final = await decide(world, handle, jar, 'approve', visit.person)
  return new URL(final.headers.get('location') ?? '')
}

export interface Tokens {
  readonly access_token: string
  readonly refresh_token: string
  readonly [member: string]: unknown
}

export function exchange(
  world: World,
  code: string,
  clientId: string,
  fields: { readonly [name: string]: string } = {},
): Promise<Response> {
  return world.form('/oauth/token', {
    grant_type: 'authorization_code',
    code,
    client_id: clientId,
    redirect_uri: LOOPBACK,
    code_verifier: VERIFIER,
    resource: RESOURCE,
    ...fields,
  })
}

export function refresh(world: World, token: string, clientId: string, fields = {}): Promise<Response> {
  return world.form('/oauth/token', {
    grant_type: 'refresh_token',
    refresh_token: token,
    client_id: clientId,
    ...fields,
  })
}

export async function registered(world: World, metadata = {}): Promise<string> {
  const response = await world.register(metadata)
  if (response.status !== 201) throw new Error(`Registration: ${response.status} ${await response.text()}`)
  return ((await response.json()) as { client_id: string }).client_id
}

/** The person of a token. */
export async function personOf(world: World, token: string): Promise<SignedIn> {
  return (await world.signIn.verify(token, world.context)) as SignedIn
}

/** A client with tokens. */
export async function connected(
  world: World,
  visit: Partial<Visit> = {},
): Promise<{ clientId: string; tokens: Tokens }> {
  const clientId = visit.clientId ?? (await registered(world))
  const code = (await signInAs(world, { ...visit, clientId })).searchParams.get('code') ?? ''
  const response = await exchange(world, code, clientId)
  if (response.status !== 200) throw new Error(`Token: ${response.status} ${await response.text()}`)
  return { clientId, tokens: (await response.json()) as Tokens }
}
