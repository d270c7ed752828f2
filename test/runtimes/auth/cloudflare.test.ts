/** The Cloudflare example on workerd, its authorization server included: the official clients discover, register, sign in, call, step up, refresh. */
import { once } from 'node:events'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { CLIENTS } from '../../../deploy/check/clients/all.ts'
import { walkAs } from '../../../deploy/check/walk/walk.ts'
import type { Target } from '../../../deploy/contract/target.ts'
import { cloudflare } from '../../../deploy/targets/cloudflare/target.ts'
import { modernRequest } from '../../contract/wire.ts'
import { type ServedArtefact, serveArtefact } from '../_artefact.ts'
import { fillIn, signIn } from './_browser.ts'
import {
  authorize,
  connected,
  Desk,
  discoverWith,
  REDIRECT_URL,
  signedIn,
  transportFor,
  turnedAway,
} from './_desk.ts'

const EXAMPLE = fileURLToPath(new URL('../../../examples/oauth-cloudflare/', import.meta.url))

/** The example with a KV of its own, at the address it gets; `origin` is for one that is to think it is elsewhere. */
function serveExample(store: string, origin?: string): Promise<ServedArtefact> {
  const target: Pick<Target, 'build' | 'preview'> = {
    ...cloudflare,
    preview: (outDir, options) => {
      const launch = cloudflare.preview(outDir, options)
      const variable = `ORIGIN:${origin ?? `http://127.0.0.1:${options.port}`}`
      return { ...launch, args: [...launch.args, '--var', variable, '--persist-to', store] }
    },
  }
  return serveArtefact('server.ts', target, EXAMPLE)
}

let store: string
let served: ServedArtefact
beforeAll(async () => {
  store = mkdtempSync(join(tmpdir(), 'mayfly-kv-'))
  served = await serveExample(store)
})
afterAll(async () => {
  await served?.stop()
  rmSync(store, { recursive: true, force: true, maxRetries: 5 })
})

const at = (path: string): URL => new URL(path, served.url)

it('Claude, ChatGPT, VS Code and Cursor would connect, as far as is known of them', async () => {
  const options = { bearer: undefined, headers: {}, timeoutMs: 30_000, origin: undefined, mayRegister: true }
  const walks = await walkAs(CLIENTS, { ...options, url: served.url })
  const faults = ('results' in walks ? [] : walks)
    .flatMap(({ steps }) => steps)
    .filter(({ verdict }) => verdict === 'wrong' || verdict === 'degrades')

  expect(walks).toHaveLength(CLIENTS.length)
  expect(faults).toEqual([])
})

it('a client that knows only the address finds its way, and the tool knows the user [auth.challenge] [auth.metadata] [auth.context]', async () => {
  const desk = new Desk()

  const client = await signedIn(served.url, desk)

  expect(desk.authorizationUrl?.href).toMatch(`${served.url.origin}/authorize?`)
  expect(desk.authorizationUrl?.searchParams.get('resource')).toBe(served.url.href)
  expect(desk.authorizationUrl?.searchParams.get('scope')).toBe('shop')
  expect(desk.authorizationUrl?.searchParams.get('code_challenge_method')).toBe('S256')
  expect(await client.callTool({ name: 'who', arguments: {} })).toMatchObject({
    structuredContent: { user: 'ann', name: 'Ann' },
  })
  await client.close()
})

// It refreshes where it should ask again, so its user grants all at once.
it('the client of SDK v1 finds the same way, and its user may grant more than it asked for [auth.challenge] [auth.metadata]', async () => {
  const desk = new Desk()
  const transport = () => new HttpV1(served.url, { authProvider: desk })
  const first = transport()
  const stranger = new ClientV1({ name: 'desk', version: '1' })
  // A cast at the SDK's own boundary: its transport class is not its Transport under exactOptionalPropertyTypes.
  await expect(stranger.connect(first as Transport)).rejects.toThrow('Unauthorized')
  expect(desk.authorizationUrl?.searchParams.get('scope')).toBe('shop')
  const callback = await signIn(desk.authorizationUrl!, REDIRECT_URL, ['refund'])
  await first.finishAuth(callback.searchParams.get('code')!)
  const client = new ClientV1({ name: 'desk', version: '1' })

  await client.connect(transport() as Transport)

  expect(await client.callTool({ name: 'who', arguments: {} })).toMatchObject({
    structuredContent: { user: 'ann' },
  })
  expect(await client.callTool({ name: 'refund', arguments: { orderId: 'A-2' } })).toMatchObject({
    content: [{ text: 'A-2 was refunded by Ann' }],
  })
  await client.close()
})

it('is stepped up: 403 names the scopes, the user grants them, the call succeeds [auth.step-up] [auth.scopes]', async () => {
  const desk = new Desk()
  const client = await signedIn(served.url, desk)
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['who'])
  const call = { name: 'refund', arguments: { orderId: 'A-1' } }
  const forbidden = await fetch(
    modernRequest(served.url, 'tools/call', call, {
      headers: { authorization: `Bearer ${desk.stored?.access_token}` },
    }),
  )
  expect(forbidden.status).toBe(403)
  expect(forbidden.headers.get('www-authenticate')).toContain(
    'error="insufficient_scope", scope="shop refund"',
  )

  await expect(client.callTool(call)).rejects.toThrow()

  expect(desk.authorizationUrl?.searchParams.get('scope')).toBe('shop refund')
  await authorize(desk, transportFor(served.url, desk))
  const again = await connected(served.url, desk)
  expect(await again.callTool(call)).toMatchObject({ content: [{ text: 'A-1 was refunded by Ann' }] })
  await Promise.all([client.close(), again.close()])
})

it('a token that was revoked is refused; the client refreshes by itself, until that is revoked too [auth.challenge]', async () => {
  const desk = new Desk()
  await authorize(desk, await turnedAway(served.url, desk))
  const first = desk.stored
  expect((await discoverWith(served.url, first?.access_token)).status).toBe(200)
  await revoke(desk, first?.access_token)
  const response = await discoverWith(served.url, first?.access_token)
  expect(response.status).toBe(401)
  expect(response.headers.get('www-authenticate')).toContain('error="invalid_token"')
  desk.authorizationUrl = undefined

  const client = await connected(served.url, desk)

  expect(await client.callTool({ name: 'who', arguments: {} })).toMatchObject({
    structuredContent: { user: 'ann' },
  })
  expect(desk.stored?.access_token).not.toBe(first?.access_token)
  expect(desk.authorizationUrl).toBeUndefined()
  await revoke(desk, desk.stored?.refresh_token)
  expect((await discoverWith(served.url, desk.stored?.access_token)).status).toBe(401)
  await turnedAway(served.url, desk)
  expect(desk.authorizationUrl).toBeDefined()
  await client.close()
})

async function revoke(desk: Desk, token = ''): Promise<void> {
  const { client_id: clientId = '' } = (await desk.clientInformation()) ?? {}
  const body = new URLSearchParams({ token, client_id: clientId })
  expect((await fetch(at('/oauth/token'), { method: 'POST', body })).status).toBe(200)
}

it.each([
  ['of no shape', 'garbage'],
  ['of the right shape', 'ann:0123456789abcdef:0123456789abcdef0123456789abcdef'],
  ['with slashes for a name', '../../grant:a:b'],
  ['longer than KV takes keys', `${'a'.repeat(600)}:b:c`],
])('a token %s → 401 [auth.challenge]', async (_kind, token) => {
  const response = await discoverWith(served.url, token)

  expect(response.status).toBe(401)
  expect(response.headers.get('www-authenticate')).toBe(
    `Bearer error="invalid_token", error_description="The token is not valid.", scope="shop", resource_metadata="${at('/.well-known/oauth-protected-resource/mcp')}"`,
  )
})

it('no token is made for another resource [auth.metadata]', async () => {
  const desk = new Desk()
  await turnedAway(served.url, desk)
  const url = new URL(desk.authorizationUrl!)
  url.searchParams.set('resource', `${served.url.origin}/other`)

  const answer = await signIn(url, REDIRECT_URL)

  expect(answer.searchParams.get('error')).toBe('invalid_target')
  expect(answer.searchParams.has('code')).toBe(false)
})

it('a token that is in the same KV for another resource is refused [auth.challenge]', async () => {
  const desk = new Desk()
  await authorize(desk, await turnedAway(served.url, desk))
  // One after the other: builds of one process share their bundler.
  const same = await serveCopy(served.url.origin)
  const other = await serveCopy()

  const [taken, notTaken] = await Promise.all(
    [same, other].map((url) => discoverWith(url, desk.stored?.access_token)),
  )

  expect(taken?.status).toBe(200)
  expect(notTaken?.status).toBe(401)
})

/** The example once more, with a copy of what the first one has stored. */
async function serveCopy(origin?: string): Promise<URL> {
  const copy = mkdtempSync(join(tmpdir(), 'mayfly-kv-'))
  onTestFinished(() => rmSync(copy, { recursive: true, force: true, maxRetries: 5 }))
  cpSync(store, copy, { recursive: true })
  const { url, stop } = await serveExample(copy, origin)
  onTestFinished(stop)
  return url
}

/** The page for a client of that name, and what a browser would send for it. */
async function consentPage(name = 'desk') {
  const desk = new Desk(name)
  const transport = await turnedAway(served.url, desk)
  const response = await fetch(desk.authorizationUrl!)
  const page = await response.text()
  const [cookie = ''] = response.headers.getSetCookie()[0]?.split(';') ?? []
  const { url, form } = fillIn(page, desk.authorizationUrl!)
  const send = (headers: Record<string, string>): Promise<Response> =>
    fetch(url, { method: 'POST', body: form, headers, redirect: 'manual' })
  return { desk, transport, response, page, cookie, form, send }
}

it('an answer to the consent page is taken once, and only from the browser that saw the page', async () => {
  const { cookie, send } = await consentPage()
  const foreign = (await consentPage()).cookie

  for (const headers of [{}, { cookie: foreign }]) {
    const forged = await send(headers)
    expect(forged.status).toBe(400)
    expect(forged.headers.has('location')).toBe(false)
  }
  const answered = await send({ cookie })
  expect(answered.headers.get('location')).toMatch(/^http:\/\/127\.0\.0\.1:9\/callback\?code=/)
  expect((await send({ cookie })).status).toBe(400)
})

it('no scope is granted that is not the user’s, whatever the form says', async () => {
  const { desk, transport, cookie, form, send } = await consentPage()
  form.append('scope', 'admin')

  const { headers } = await send({ cookie })

  await transport.finishAuth(new URL(headers.get('location')!).searchParams)
  expect(desk.stored?.scope).toBe('shop')
})

it('a user who declines sends the client away without a code', async () => {
  const { cookie, form, send } = await consentPage()
  form.set('decision', 'deny')

  const response = await send({ cookie })

  const location = new URL(response.headers.get('location')!)
  expect(location.searchParams.get('error')).toBe('access_denied')
  expect(location.searchParams.has('code')).toBe(false)
})

it('the consent page shows the client’s own words as text, names where access goes, and cannot be framed', async () => {
  const { response, page } = await consentPage('<script>alert(1)</script>')

  expect(page).not.toContain('<script>')
  expect(page).toContain('&#60;script&#62;alert(1)')
  expect(page).toContain('<b>127.0.0.1</b>')
  expect(response.headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'")
  expect(response.headers.getSetCookie()[0]).toMatch(/^__Host-.*; HttpOnly/)
})

it.each([
  ['an unknown client', '/authorize?response_type=code&client_id=nobody&redirect_uri=https://evil.example/'],
  ['nothing', '/authorize'],
])('a request to authorize %s is answered here, not redirected', async (_kind, path) => {
  const response = await fetch(at(path), { redirect: 'manual' })

  expect(response.status).toBe(400)
  expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
})

it('nobody is signed in anywhere but on one’s own machine, until the example’s sign-in is replaced', async () => {
  const asked = request(at('/authorize'), { headers: { host: 'shop.example' } }).end()

  const [response] = (await once(asked, 'response')) as [IncomingMessage]

  expect(response.statusCode).toBe(501)
  response.resume()
})
