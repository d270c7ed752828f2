/**
 * The whole of a sign-in, from a call without a token to a token that was revoked, with a real identity provider: what has to work wherever
 * a server runs.
 */
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Target } from '../../../deploy/contract/target.ts'
import { testPort } from '../../_port.ts'
import { modernRequest } from '../../contract/wire.ts'
import { CLIENT, type OpenIdProvider, startOpenIdProvider } from '../../unit/sign-in/_provider.ts'
import { serveArtefact, withEnv } from '../_artefact.ts'
import { Desk } from '../auth/_desk.ts'
import { startPostgresServer, startRedisServer } from '../buses/_servers.ts'
import { Browser, formOf, type Hop } from './_browser.ts'
import { act as actHere, type Order, type Outcome, REDIRECT } from './_client.ts'
import { visitWithInspector } from './_inspector.ts'
import { OTHER_CLIENTS, type OtherClient } from './_others.ts'

export const SECRET = 'a secret of thirty-two characters or more'

/** A server as its clients see it. */
export interface Site {
  /** The URL of the MCP endpoint. */
  readonly url: string
  /** Sends requests to wherever the server listens. */
  readonly send: typeof fetch
  readonly provider: OpenIdProvider
  /** The client. Default: one in this process. */
  readonly act?: (order: Order) => Promise<Outcome>
}

type Answer = { readonly sub: string; readonly upstreamToken: string; readonly [member: string]: unknown }
interface Tokens {
  readonly access_token: string
  readonly refresh_token: string
}

/** One client of a site, and the person before it. */
export class Visitor {
  readonly #site: Site
  readonly browser: Browser
  stored: Outcome['stored'] = []

  constructor(site: Site) {
    this.#site = site
    this.browser = new Browser(site.send)
  }

  async act(callback?: string): Promise<Outcome> {
    const { url, send, act = (order: Order) => actHere(order, send) } = this.#site
    const outcome = await act({ url, stored: this.stored, callback })
    this.stored = outcome.stored
    return outcome
  }

  async call(): Promise<Answer> {
    const outcome = await this.act()
    expect(outcome).not.toHaveProperty('error')
    return outcome.answer as Answer
  }

  /** Calls without a token that works. Resolves with where to sign in. */
  async turnedAway(): Promise<string> {
    const { error, message, signInAt } = await this.act()
    expect(error, message).toBe('UNAUTHORIZED')
    return signInAt ?? ''
  }

  /** Up to the question. */
  async toQuestion(signInAt: string): Promise<Hop> {
    const hop = await this.browser.open(signInAt, REDIRECT)
    if (hop instanceof URL) throw new Error(`Nobody was asked: ${hop}`)
    expect(hop.response.status, hop.page).toBe(200)
    return hop
  }

  async agree(question: Hop): Promise<string> {
    const back = await this.browser.submit(question, 'decision', 'approve', REDIRECT)
    if (!(back instanceof URL)) throw new Error(`${back.url}: ${back.response.status} ${back.page}`)
    return back.href
  }

  async signIn(): Promise<void> {
    const callback = await this.agree(await this.toQuestion(await this.turnedAway()))
    expect(await this.act(callback)).not.toHaveProperty('error')
  }

  get tokens(): Tokens {
    return JSON.parse(this.#tokenEntry()[1]) as Tokens
  }

  /** As after the end of the access token. */
  loseAccessToken(): void {
    const entry = this.#tokenEntry()
    entry[1] = JSON.stringify({ ...JSON.parse(entry[1]), access_token: 'lost' })
  }

  #tokenEntry(): [key: string, value: string] {
    const entry = this.stored.find(([key]) => key.endsWith(':tokens'))
    if (entry === undefined) throw new Error('The client has no tokens.')
    return entry
  }
}

export function callWith(site: Site, token?: string): Promise<Response> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const params = { name: 'who', arguments: {} }
  const request = modernRequest(new URL(site.url), 'tools/call', params, { headers })
  return request
    .text()
    .then((body) => site.send(request.url, { method: 'POST', headers: request.headers, body }))
}

/** What the spec has clients ask for, in this order (MCP 2026-07-28, "Authorization Server Metadata Discovery"). */
export function metadataUrls(issuer: string): string[] {
  const { origin, pathname } = new URL(issuer)
  const names = ['oauth-authorization-server', 'openid-configuration']
  if (pathname === '/') return names.map((name) => `${origin}/.well-known/${name}`)
  return [
    ...names.map((name) => `${origin}/.well-known/${name}${pathname}`),
    `${origin}${pathname}/.well-known/openid-configuration`,
  ]
}

export interface Facts {
  readonly issuer: string
  readonly authorization_endpoint: string
  readonly token_endpoint: string
  readonly registration_endpoint: string
  readonly revocation_endpoint: string
}

/** From a call without a token to the metadata of the authorization server, as a client finds it. */
export async function discover(site: Site): Promise<Facts> {
  const challenged = await callWith(site)
  expect(challenged.status, await challenged.text()).toBe(401)
  const challenge = challenged.headers.get('www-authenticate') ?? ''
  const named = /^Bearer .*resource_metadata="([^"]+)"/.exec(challenge)?.[1]
  expect(named, challenge).toBeDefined()
  const resource = await site.send(named!)
  expect(resource.status).toBe(200)
  const { resource: own, authorization_servers } = (await resource.json()) as {
    resource: string
    authorization_servers: string[]
  }
  expect(own).toBe(site.url)
  expect(authorization_servers).toHaveLength(1)
  const issuer = authorization_servers[0]!
  for (const url of metadataUrls(issuer)) {
    const response = await site.send(url)
    const text = await response.text()
    if (response.status !== 200) continue
    const facts = JSON.parse(text) as Facts
    expect(facts.issuer).toBe(issuer)
    return facts
  }
  throw new Error(`The metadata of ${issuer} is nowhere: ${metadataUrls(issuer).join(', ')}`)
}

export function postForm(
  { send }: Site,
  url: string,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<Response> {
  return send(url, { method: 'POST', body: new URLSearchParams(fields), headers, redirect: 'manual' })
}

async function userOf({ provider }: Site, accessToken: string): Promise<unknown> {
  const response = await fetch(`${provider.issuer}/me`, {
    headers: { authorization: `Bearer ${accessToken}` },
  })
  return response.json()
}

/** A browser of this site has these only from here, whatever else is at its host. */
function expectCookies({ response, url }: Hop, count: number, isSecure: boolean): void {
  const lines = response.headers.getSetCookie()
  expect(lines, url.href).toHaveLength(count)
  for (const line of lines) {
    expect(line).toMatch(isSecure ? /^__Host-mayfly-/ : /^mayfly-/)
    expect(line).toContain('; Path=/; HttpOnly;')
    expect(line.includes('; Secure')).toBe(isSecure)
  }
}

/** @param maxCookies that the platform lets one response have. */
export async function wholeFlow(site: Site, { maxCookies = 9 } = {}): Promise<void> {
  const isSecure = site.url.startsWith('https:')
  const facts = await discover(site)
  const visitor = new Visitor(site)
  const signInAt = await visitor.turnedAway()
  expect(signInAt).toMatch(`${facts.authorization_endpoint}?`)
  expect(new URL(signInAt).searchParams.get('resource')).toBe(site.url)

  const question = await visitor.toQuestion(signInAt)
  expectCookies(visitor.browser.hops[0]!, 1, isSecure)
  expect(question.page).toContain('Let <bdi>Editor</bdi> use <bdi>Notes</bdi> as you?')
  expect(question.page).toContain('Next, you sign in with')

  const { url: action, form } = formOf(question.page, question.url, 'decision')
  const fields = { ...Object.fromEntries(form), decision: 'approve' }
  const cookie = visitor.browser.cookiesFor(action)
  const { origin } = action
  for (const headers of [{ origin }, { origin: 'https://evil.example', cookie }]) {
    const forged = await postForm(site, action.href, fields, headers as Record<string, string>)
    expect([400, 403]).toContain(forged.status)
    expect(forged.headers.get('location')).toBeNull()
  }
  const before = visitor.browser.hops.length
  const callback = await visitor.agree(question)
  const [answered, ...others] = visitor.browser.hops.slice(before)
  expectCookies(answered!, Math.min(2, maxCookies), isSecure)
  const returned = others.find(
    ({ url: { searchParams, origin: host } }) => host === origin && searchParams.has('code'),
  )!
  expectCookies(returned, Math.min(2, maxCookies), isSecure)
  expect(new URL(callback).searchParams.get('iss')).toBe(facts.issuer)
  expect(await visitor.act(callback)).not.toHaveProperty('error')

  const answer = await visitor.call()
  expect(answer).toMatchObject({ name: 'Ada Lovelace', scopes: ['notes:read'] })
  expect(answer.sub).toMatch(/^[\w-]{20,}$/)
  expect(await userOf(site, answer.upstreamToken)).toMatchObject({ sub: 'ada', name: 'Ada Lovelace' })

  const first = visitor.tokens
  visitor.loseAccessToken()
  expect((await visitor.call()).sub).toBe(answer.sub)
  const { access_token: token, refresh_token } = visitor.tokens
  expect(token).not.toBe(first.access_token)
  expect(refresh_token).not.toBe(first.refresh_token)

  const clientId = new URL(signInAt).searchParams.get('client_id') ?? ''
  const ended = await postForm(site, facts.revocation_endpoint, { token: refresh_token, client_id: clientId })
  expect(ended.status, await ended.text()).toBe(200)
  const refused = await callWith(site, token)
  expect(refused.status).toBe(401)
  expect(refused.headers.get('www-authenticate')).toContain('error="invalid_token"')
  expect(await visitor.turnedAway()).toMatch(`${facts.authorization_endpoint}?`)
}

/** A provider that takes a refresh token once, and answers a refresh after the call that asked for it. */
export async function refreshedLate(site: Site): Promise<void> {
  const { issuing } = site.provider
  const visitor = new Visitor(site)
  // Not new enough to be used without a refresh, and good for longer than a call waits for that.
  Object.assign(issuing, { seconds: 55, isRotating: true })
  await visitor.signIn()
  Object.assign(issuing, { seconds: 10, delayMs: 14_000, count: 0 })
  const before = (await visitor.call()).upstreamToken
  expect(issuing.count).toBe(1)
  issuing.delayMs = 0
  await delay(3500)

  const late = (await visitor.call()).upstreamToken
  expect(late).not.toBe(before)
  expect(issuing.count).toBe(1)
  expect(await userOf(site, late)).toMatchObject({ sub: 'ada' })

  // The refresh token of the late answer was not lost: the next one is got with it.
  await delay(6000)
  const next = (await visitor.call()).upstreamToken
  expect([late, before]).not.toContain(next)
  expect(await userOf(site, next)).toMatchObject({ sub: 'ada' })
  Object.assign(issuing, { seconds: 3600, isRotating: false })
}

/** The person ends it, of all the apps that are connected. */
export async function disconnected(site: Site): Promise<void> {
  const facts = await discover(site)
  const visitor = new Visitor(site)
  const signInAt = await visitor.turnedAway()
  const clientId = new URL(signInAt).searchParams.get('client_id') ?? ''
  expect(await visitor.act(await visitor.agree(await visitor.toQuestion(signInAt)))).not.toHaveProperty(
    'error',
  )
  const { access_token: token } = visitor.tokens
  expect((await callWith(site, token)).status).toBe(200)
  const url = facts.authorization_endpoint.replace(/\/oauth\/authorize$/, '/connections')
  const shown = await visitor.browser.open(url, REDIRECT)
  if (shown instanceof URL) throw new Error(`${shown}`)
  expect(shown.page).toContain(`name=revoke value="${clientId}"`)
  const gone = await visitor.browser.submit(shown, 'revoke', clientId, REDIRECT)
  if (gone instanceof URL) throw new Error(`${gone}`)
  expect(gone.page).toContain('It is disconnected')
  expect(gone.page).not.toContain(clientId)
  expect((await callWith(site, token)).status).toBe(401)
}

/** A client of somebody else registers, signs in, calls, loses its access token, refreshes by itself and calls again. */
export async function otherClient(site: Site, create: (url: URL, desk: Desk) => OtherClient): Promise<void> {
  const call = { name: 'who', arguments: {} }
  const answer = { structuredContent: { name: 'Ada Lovelace' } }
  const desk = new Desk('Editor')
  const other = create(new URL(site.url), desk)
  await expect(other.connect()).rejects.toThrow()
  const signInAt = desk.authorizationUrl!
  desk.authorizationUrl = undefined
  const visitor = new Visitor(site)
  const callback = await visitor.agree(await visitor.toQuestion(signInAt.href))
  await other.finish(new URL(callback).searchParams)
  const client = await other.connect()
  expect(await client.callTool(call)).toMatchObject(answer)

  const before = desk.stored!
  const { revocation_endpoint } = await discover(site)
  const fields = { token: before.access_token, client_id: signInAt.searchParams.get('client_id') ?? '' }
  expect((await postForm(site, revocation_endpoint, fields)).status).toBe(200)
  expect((await callWith(site, before.access_token)).status).toBe(401)

  expect(await client.callTool(call)).toMatchObject(answer)
  expect(desk.stored).not.toMatchObject({ refresh_token: before.refresh_token })
  expect(desk.authorizationUrl).toBeUndefined()
  await client.close()
}

/** "Not you?" of a person who signed in before: the question comes again about nobody in particular, then the provider. */
export async function switched(site: Site): Promise<void> {
  const visitor = new Visitor(site)
  await visitor.signIn()
  visitor.stored = []
  const question = await visitor.toQuestion(await visitor.turnedAway())
  expect(question.page).toContain('Ada Lovelace')
  const link = /<a href="([^"]*[?&]switch=[^"]*)"/.exec(question.page)?.[1]
  const again = await visitor.toQuestion(new URL(link ?? '', question.url).href)
  expect(again.url.href).not.toBe(question.url.href)
  expect(again.page).not.toContain('Ada Lovelace')
  expect(await visitor.act(await visitor.agree(again))).not.toHaveProperty('error')
  await visitor.call()
}

/** Sends requests for a public URL to where its server listens, as a reverse proxy does that removes `/base`. */
export function behindProxy(publicUrl: string, served: () => URL | Promise<URL>): typeof fetch {
  const folder = (url: URL): string => url.pathname.replace(/\/[^/]*$/, '')
  const own = new URL(publicUrl)
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : String(input))
    if (url.origin !== own.origin) return fetch(url, init)
    const to = await served()
    const isBelow = url.pathname.startsWith(`${folder(own)}/`)
    const path = isBelow ? folder(to) + url.pathname.slice(folder(own).length) : url.pathname
    return fetch(new URL(path + url.search, to.origin), init)
  }
}

export type Variables = Record<string, string>

export interface Platform {
  /** `variables`: of the server, which listens at the port. */
  start(variables: Variables, port: number): Promise<{ readonly url: URL; stop(): Promise<unknown> }>
  /** A client that runs on the platform itself. Default: in this process. */
  startClient?(): Promise<{ act(order: Order): Promise<Outcome>; stop(): Promise<unknown> }>
  readonly maxCookies?: number
  /** Whether work goes on after a response. Default false: nothing is said about it here. */
  readonly isLasting?: boolean
  /** Whether the host of requests is known to be the server's without a variable. Default true. */
  readonly vouchesForHost?: boolean
}

export const PUBLIC_URL = 'https://notes.example/base/mcp'

export function variablesFor(provider: OpenIdProvider): Variables {
  return { ISSUER: provider.issuer, CLIENT_SECRET: CLIENT.clientSecret, MAYFLY_SECRET: SECRET }
}

/** The tests of one platform. `path`: of the endpoint there. */
export function signInFlow(name: string, platform: Platform, path = '/mcp'): void {
  const { maxCookies, vouchesForHost = true } = platform
  const limits = maxCookies === undefined ? {} : { maxCookies }
  describe.each([
    ['at its own address', undefined],
    ['behind a proxy with TLS and a base path', PUBLIC_URL],
  ])(`${name}, %s`, (_how, publicUrl) => {
    let site: Site
    const stops: (() => Promise<unknown>)[] = []
    beforeAll(async () => {
      const port = await testPort()
      const host = `127.0.0.1:${port}`
      const url = publicUrl ?? `http://${host}${path}`
      const redirectUri = url.replace(/\/mcp$/, '/oauth/callback')
      const provider = await startOpenIdProvider({ redirectUri })
      stops.push(() => Promise.resolve(provider[Symbol.asyncDispose]()))
      const where: Variables =
        publicUrl !== undefined
          ? { PUBLIC_URL: publicUrl }
          : vouchesForHost
            ? {}
            : { MAYFLY_ALLOWED_HOSTS: host }
      const served = await platform.start({ ...variablesFor(provider), ...where }, port)
      stops.push(() => served.stop())
      if (publicUrl !== undefined) {
        site = { url, provider, send: behindProxy(publicUrl, () => served.url) }
        return
      }
      const client = await platform.startClient?.()
      if (client !== undefined) stops.push(() => client.stop())
      site = { url, provider, send: fetch, ...(client !== undefined && { act: client.act }) }
    })
    afterAll(async () => {
      for (const stop of stops.reverse()) await stop()
    })

    it('challenge, metadata, registration, question, login, code, token, call, refresh, revocation', () =>
      wholeFlow(site, limits))

    it('the person disconnects the app on the page of connections', () => disconnected(site))

    // They call `fetch` themselves, so they reach what listens on this machine.
    if (publicUrl === undefined)
      it.each(OTHER_CLIENTS)('%s signs in, calls, refreshes', (_client, create) => otherClient(site, create))

    it.runIf(process.env.MAYFLY_INSPECTOR && publicUrl === undefined)(
      'the Inspector in Chromium signs in and calls',
      { timeout: 120_000 },
      () => visitWithInspector(site.url),
    )

    it.runIf(platform.isLasting && publicUrl === undefined)(
      'a refresh of the provider’s token that is answered after the call → the next call has it, and nothing is lost',
      () => refreshedLate(site),
    )

    it('“Not you?” → the question again → the provider → tokens', () => switched(site))
  })
}

type Run = Pick<Target, 'build' | 'preview'>

/** Where connections are stored: the entry of the server, and a variable with the address of the engine. */
export const STORES = {
  postgres: { entry: '_postgres-server.ts', variable: 'DATABASE_URL', startEngine: startPostgresServer },
  redis: { entry: '_redis-server.ts', variable: 'REDIS_URL', startEngine: startRedisServer },
  memory: { entry: '_memory-server.ts' },
} as const

/** Starts the platform's own artefact of a server with that store, and the engine beside it. */
export async function serve(
  target: Run,
  kind: keyof typeof STORES,
  variables: Variables,
  port: number,
  cwd?: string,
): Promise<{ readonly url: URL; stop(): Promise<unknown> }> {
  const store = STORES[kind]
  const engine = 'startEngine' in store ? await store.startEngine() : undefined
  const address = 'variable' in store && engine !== undefined ? { [store.variable]: engine.url } : {}
  const run = withEnv(target, { ...variables, ...address })
  try {
    const { url, stop } = await serveArtefact(join(import.meta.dirname, store.entry), run, cwd, 'notes', port)
    return { url, stop: () => stop().finally(() => engine?.stop()) }
  } catch (error) {
    await engine?.stop()
    throw error
  }
}

/** The client of `_client-worker.ts` behind a URL. */
export function clientAt(
  post: (body: string) => Promise<{ readonly status: number; text(): Promise<string> }>,
): (order: Order) => Promise<Outcome> {
  return async (order) => {
    const params = { name: 'act', arguments: order }
    const response = await post(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }))
    const text = await response.text()
    expect(response.status, text).toBe(200)
    const { result } = JSON.parse(text)
    expect(result?.isError, text).not.toBe(true)
    return result.structuredContent as Outcome
  }
}

export const CLIENT_HEADERS = { 'content-type': 'application/json', accept: 'application/json' }

/** The client of these tests in an artefact of its own. */
export async function startClientOn(target: Run): ReturnType<NonNullable<Platform['startClient']>> {
  const { url, stop } = await serveArtefact('test/runtimes/sign-in/_client-worker.ts', target)
  const act = clientAt((body) => fetch(url, { method: 'POST', headers: CLIENT_HEADERS, body }))
  return { act, stop }
}
