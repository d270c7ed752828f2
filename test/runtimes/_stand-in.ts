/** A person with a browser and a client, who sign in by the stand-in of `mayfly dev`. */
import { expect } from 'vitest'
import { Jar, s256, VERIFIER } from '../unit/sign-in/_jar.ts'

const REDIRECT = 'http://127.0.0.1:5555/cb'

interface Form {
  readonly action: string
  readonly method: string
  readonly fields: { readonly [name: string]: string }
}

/** The token of a client that found the server by its endpoint alone, and let `name` sign in. */
export async function tokenOf(
  endpoint: URL,
  { name, email }: { name: string; email: string },
): Promise<string> {
  const { authorization_servers: [issuer] = [] } = (await resourceMetadata(endpoint)) as {
    authorization_servers?: string[]
  }
  const { origin, pathname } = new URL(issuer!)
  const prefix = pathname === '/' ? '' : pathname
  const found = await fetch(`${issuer!.replace(/\/$/, '')}/.well-known/oauth-authorization-server`)
  expect(found.status, `${origin}${prefix}`).toBe(200)
  const server = (await found.json()) as { [name: string]: string }
  const registered = await fetch(server.registration_endpoint!, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      client_name: 'A client',
      redirect_uris: [REDIRECT],
      token_endpoint_auth_method: 'none',
    }),
  })
  expect(registered.status).toBe(201)
  const { client_id } = (await registered.json()) as { client_id: string }
  const query = new URLSearchParams({
    response_type: 'code',
    client_id,
    redirect_uri: REDIRECT,
    state: 'state',
    code_challenge: await s256(VERIFIER),
    code_challenge_method: 'S256',
    resource: endpoint.href,
  })
  const browser = new Browser()
  const question = await browser.open(`${server.authorization_endpoint}?${query}`)
  expect((await question.text()).split('<main>')[1]).toContain('A client')
  const who = await browser.submit(formIn('go', browser.html), { decision: 'approve' })
  expect((await who.text()).split('<main>')[1]).toContain('Who are you?')
  const back = await browser.submit(formIn('pick', browser.html), { name, email })
  const code = new URL(back.headers.get('location')!).searchParams.get('code')
  expect(code).toBeTruthy()
  const answered = await fetch(server.token_endpoint!, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code: code!,
      client_id,
      redirect_uri: REDIRECT,
      code_verifier: VERIFIER,
      resource: endpoint.href,
    }),
  })
  const { access_token } = (await answered.json()) as { access_token?: string }
  expect(access_token).toBeTypeOf('string')
  return access_token!
}

/** As the challenge of the endpoint names it. */
async function resourceMetadata(endpoint: URL): Promise<unknown> {
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  })
  expect(response.status).toBe(401)
  const [, url] = /resource_metadata="([^"]+)"/.exec(response.headers.get('www-authenticate') ?? '') ?? []
  return (await fetch(url!)).json()
}

/** Follows redirects on its own machine, with cookies. */
class Browser {
  readonly #jar = new Jar()
  html = ''

  async open(url: string, init: RequestInit = {}): Promise<Response> {
    const response = this.#jar.take(
      await fetch(url, { ...init, redirect: 'manual', headers: { ...init.headers, ...this.#jar.headers } }),
    )
    const location = response.headers.get('location')
    if (location !== null && !location.startsWith(REDIRECT)) return this.open(new URL(location, url).href)
    this.html = await response.clone().text()
    return response
  }

  submit({ action, method, fields }: Form, answers: { readonly [name: string]: string }): Promise<Response> {
    const body = new URLSearchParams({ ...fields, ...answers }).toString()
    if (method === 'get') return this.open(`${action}?${body}`)
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      origin: new URL(action).origin,
    }
    return this.open(action, { method: 'POST', headers, body })
  }
}

/** The form of a class, such as `pick`. */
function formIn(name: string, html: string): Form {
  const [, method = '', action = '', content = ''] =
    new RegExp(`<form class=${name} method=(\\w+) action="([^"]*)">([\\s\\S]*?)</form>`).exec(html) ?? []
  const fields = Array.from(content.matchAll(/<input type=hidden name="([^"]*)" value="([^"]*)"/g))
  return {
    action: decoded(action),
    method,
    fields: Object.fromEntries(fields.map(([, field, value]) => [field, decoded(value!)])),
  }
}

function decoded(text: string): string {
  return text.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&')
}
