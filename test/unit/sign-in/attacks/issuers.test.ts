/** A server without a URL of its own, at a platform that names the host: each path and port is another issuer, with the same limits. */
import { describe, expect, it } from 'vitest'
import { UpstreamRefusedError } from '../../../../src/sign-in/upstream/upstream.ts'
import { createMemoryGrants, signIn } from '../../../../src/sign-in.ts'
import { createServer } from '../../_client.ts'
import { fakeUpstream, Jar, SECRET } from '../_sign-in.ts'

const HOST = 'https://mcp.example.com'
const PLACES = {
  paths: (number: number) => `${HOST}/x${number}`,
  'ports, and a dot': (number: number) => `${HOST}${number % 2 === 0 ? '' : '.'}:${8000 + number}`,
}

function made() {
  const [store, upstream] = [createMemoryGrants(), fakeUpstream()]
  let asked = 0
  const fetch = async (): Promise<Response> => {
    asked++
    return new Response(null, { status: 404 })
  }
  const auth = signIn({ upstream, store, scopes: { a: 'A' }, secrets: [SECRET], fetch })
  const server = createServer({ auth, tools: {} })
  const platform = { vouchesForHost: true, clientAddress: '203.0.113.1' }
  const send = (url: string, init: RequestInit = {}) => server.handle(new Request(url, init), platform)
  return { store, upstream, send, asked: () => asked }
}

describe.each(Object.entries(PLACES))('one address at made-up %s', (_kind, at) => {
  it('registers 30 clients that are stored', async () => {
    const { store, send } = made()
    const body = JSON.stringify({
      redirect_uris: ['http://127.0.0.1/cb'],
      token_endpoint_auth_method: 'none',
    })
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
    for (let number = 0; number < 40; number++)
      expect((await send(`${at(number % 4)}/oauth/register`, init)).status).toBe(201)
    const { keys } = await store.list({ prefix: '', limit: 1000 })
    expect(keys.filter((key) => key.includes(':client:'))).toHaveLength(30)
  })

  it('sends 30 wrong codes to the provider', async () => {
    const { upstream, send } = made()
    upstream.exchangeWith = async () => Promise.reject(new UpstreamRefusedError('A wrong code.'))
    for (let number = 0; number < 40; number++) {
      const jar = new Jar()
      const away = jar.take(await send(`${at(number % 4)}/connections`))
      const state = new URL(away.headers.get('location')!).searchParams.get('state')!
      const query = new URLSearchParams({ state, code: 'x' })
      await send(`${at(number % 4)}/oauth/callback?${query}`, { headers: jar.headers })
    }
    expect(upstream.exchanged).toHaveLength(30)
  })

  it('sends one request for a document that failed, and 30 for different ones', async () => {
    const { send, asked } = made()
    const ask = (number: number, name: string) =>
      send(`${at(number)}/oauth/authorize?client_id=https://victim.example.com/${name}`)
    for (let number = 0; number < 10; number++) await ask(number, 'same')
    expect(asked()).toBe(1)
    for (let number = 0; number < 40; number++) await ask(number, `of-${number}`)
    expect(asked()).toBe(30)
  })
})
