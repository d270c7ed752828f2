/** Signing in at a real authorization server, and who keeps what. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { jwt } from '../../../src/auth.ts'
import { createMemoryOAuthStorage, createOAuthProvider, type OAuthStorage } from '../../../src/client.ts'
import { createTool } from '../../../src/index.ts'
import { signIn } from '../../runtimes/auth/_browser.ts'
import { type AuthorizationServer, startAuthorizationServer } from '../../runtimes/auth/_provider.ts'
import { createClient, startMayfly } from './_servers.ts'

const REDIRECT_URL = 'http://127.0.0.1:9/callback'

let authorizationServer: AuthorizationServer
beforeAll(async () => {
  authorizationServer = await startAuthorizationServer()
})
afterAll(() => authorizationServer[Symbol.asyncDispose]())

const startShop = () =>
  startMayfly({
    auth: jwt({
      issuer: authorizationServer.issuer,
      audience: 'mcp-shop',
      scopes: ['shop'],
      clockToleranceSeconds: 0,
      scopesSupported: ['shop', 'refund'],
    }),
    tools: {
      who: createTool({ id: 'who', execute: (_input, ctx) => `${ctx.auth?.extra?.sub}` }),
      refund: createTool({ id: 'refund', scopes: ['refund'], execute: () => 'refunded' }),
    },
  })

/** A client as each process would make it: nothing but the storage is shared. */
function openDesk(url: string, storage: OAuthStorage) {
  const redirects: URL[] = []
  const authProvider = createOAuthProvider({
    storage,
    redirectUrl: REDIRECT_URL,
    clientMetadata: { client_name: 'desk', application_type: 'native' },
    onRedirect: (redirect) => redirects.push(redirect),
  })
  return { client: createClient({ servers: { shop: { url, authProvider } }, onError: () => {} }), redirects }
}

async function signedIn(url: string, storage: OAuthStorage) {
  const desk = openDesk(url, storage)
  await desk.client.listTools()
  await desk.client.finishAuth('shop', (await signIn(desk.redirects[0]!, REDIRECT_URL)).searchParams)
  return desk
}

/** What a storage keeps under a key of this ending. */
const kept = (values: ReadonlyMap<string, string>, name: string): string | undefined =>
  [...values].find(([key]) => key.endsWith(`:${name}`))?.[1]

/** As key-value stores are: asynchronous, and `null` for what they do not have. */
function createStore(values = new Map<string, string>()): OAuthStorage {
  return {
    get: async (key) => values.get(key) ?? null,
    set: async (key, value) => values.set(key, value),
    delete: async (key) => values.delete(key),
  }
}

it('one process sends the user to sign in, another takes the redirect, a third calls', async () => {
  const [url, storage] = [await startShop(), createStore()]
  const first = openDesk(url, storage)
  expect(await first.client.listTools()).toEqual({})
  expect(first.client.errors.shop?.code).toBe('UNAUTHORIZED')
  const callback = await signIn(first.redirects[0]!, REDIRECT_URL)

  await openDesk(url, storage).client.finishAuth('shop', callback.searchParams)

  const third = openDesk(url, storage)
  expect(await third.client.callTool('shop', 'who')).toMatchObject({ content: [{ text: 'ann' }] })
  expect(third.redirects).toEqual([])
  // The client that began goes on, too.
  expect(Object.keys(await first.client.listTools())).toEqual(['shop_who'])
  expect(first.client.errors).toEqual({})
})

it('a redirect that this storage did not ask for is refused, and ends nothing; one counts once', async () => {
  const [url, storage] = [await startShop(), new Map<string, string>()]
  const { client, redirects } = openDesk(url, createStore(storage))
  await client.listTools()
  const { searchParams } = await signIn(redirects[0]!, REDIRECT_URL)
  const refusal = { code: 'UNAUTHORIZED', operation: 'authorize' }

  for (const state of ['another', '', '__proto__', undefined]) {
    const forged = new URLSearchParams(searchParams)
    if (state === undefined) forged.delete('state')
    else forged.set('state', state)
    await expect(client.finishAuth('shop', forged)).rejects.toMatchObject(refusal)
  }
  expect(kept(storage, 'tokens')).toBeUndefined()

  await client.finishAuth('shop', searchParams)
  expect(await client.callTool('shop', 'who')).toMatchObject({ content: [{ text: 'ann' }] })
  await expect(client.finishAuth('shop', searchParams)).rejects.toMatchObject(refusal)
})

it('requests during a sign-in send the user to the same, which stays good', async () => {
  const [url, storage] = [await startShop(), createStore()]
  const [one, other] = [openDesk(url, storage), openDesk(url, storage)]
  await one.client.listTools()
  await Promise.all([one.client.listTools(), one.client.callTool('shop', 'who').catch(() => {})])
  await other.client.listTools()

  const sent = new Set([...one.redirects, ...other.redirects].map(String))
  expect(sent.size).toBe(1)
  await other.client.finishAuth('shop', (await signIn(one.redirects[0]!, REDIRECT_URL)).searchParams)

  expect(await one.client.callTool('shop', 'who')).toMatchObject({ content: [{ text: 'ann' }] })
})

it('requests that begin a sign-in at the same moment in several processes: each redirect is good', async () => {
  const [url, storage] = [await startShop(), createStore()]
  const desks = [openDesk(url, storage), openDesk(url, storage)]
  await Promise.all(desks.map(({ client }) => client.listTools()))

  for (const { client, redirects } of desks) {
    await client.finishAuth('shop', (await signIn(redirects[0]!, REDIRECT_URL)).searchParams)
  }
})

it('is stepped up: the call that needs more sends the user to grant it', async () => {
  const { client, redirects } = await signedIn(await startShop(), createMemoryOAuthStorage())
  redirects.length = 0

  await expect(client.callTool('shop', 'refund')).rejects.toMatchObject({ code: 'UNAUTHORIZED' })

  expect(redirects[0]!.searchParams.get('scope')?.split(' ')).toContain('refund')
  await client.finishAuth('shop', (await signIn(redirects[0]!, REDIRECT_URL)).searchParams)
  expect(await client.callTool('shop', 'refund')).toMatchObject({ content: [{ text: 'refunded' }] })
})

it('an expired token is refreshed without the user', async () => {
  const [url, storage] = [await startShop(), new Map<string, string>()]
  authorizationServer.accessTokenSeconds = 1
  await signedIn(url, storage)
  authorizationServer.accessTokenSeconds = 600
  const { access_token: expired } = JSON.parse(kept(storage, 'tokens')!)
  const headers = { authorization: `Bearer ${expired}`, 'content-type': 'application/json' }
  const ping = () => fetch(url, { method: 'POST', body: '{}', headers })
  await expect.poll(async () => (await ping()).status, { timeout: 10_000 }).toBe(401)

  const { client, redirects } = openDesk(url, storage)

  expect(await client.callTool('shop', 'who')).toMatchObject({ content: [{ text: 'ann' }] })
  expect(redirects).toEqual([])
  expect(JSON.parse(kept(storage, 'tokens')!).access_token).not.toBe(expired)
})

it('finishAuth of a server without such a provider → TypeError', async () => {
  const client = createClient({ servers: { open: { url: 'https://open.example', token: 't' } } })

  await expect(client.finishAuth('open', new URLSearchParams())).rejects.toMatchObject({
    code: 'REQUEST_FAILED',
    cause: expect.any(TypeError),
  })
})
