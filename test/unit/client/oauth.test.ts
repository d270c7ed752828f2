/** Signing in at a real authorization server, and who keeps what. */
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest'
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

/** The same over a network: whoever asks at the same moment gets the same answer. */
function createRemoteStore(values = new Map<string, string>()): OAuthStorage {
  const store = createStore(values)
  const latency = () => new Promise((resolve) => setTimeout(resolve, 20))
  return {
    get: (key) => latency().then(() => store.get(key)),
    set: (key, value) => latency().then(() => store.set(key, value)),
    delete: (key) => latency().then(() => store.delete(key)),
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

it('a redirect that was asked for more than an hour ago is refused, and one of less is not', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const url = await startShop()
  for (const [minutes, isGood] of [
    [59, true],
    [61, false],
  ] as const) {
    const { client, redirects } = openDesk(url, createStore())
    await client.listTools()
    vi.setSystemTime(Date.now() + minutes * 60_000)
    const { searchParams } = await signIn(redirects[0]!, REDIRECT_URL)
    const finished = client.finishAuth('shop', searchParams)
    if (isGood) expect(await finished).toBeUndefined()
    else await expect(finished).rejects.toMatchObject({ code: 'UNAUTHORIZED', operation: 'authorize' })
  }
})

it('a redirect that comes several times at once, to several clients, counts once', async () => {
  const [url, storage] = [await startShop(), createRemoteStore()]
  const [one, other] = [openDesk(url, storage), openDesk(url, storage)]
  await one.client.listTools()
  const { searchParams } = await signIn(one.redirects[0]!, REDIRECT_URL)

  const finished = await Promise.allSettled(
    [one, one, other, other].map(({ client }) => client.finishAuth('shop', searchParams)),
  )

  expect(finished.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  for (const outcome of finished) {
    if (outcome.status === 'rejected')
      expect(outcome.reason).toMatchObject({ code: 'UNAUTHORIZED', operation: 'authorize' })
  }
  expect(await other.client.callTool('shop', 'who')).toMatchObject({ content: [{ text: 'ann' }] })
})

it('a redirect that comes to several processes at once counts once, where the storage says who deleted it', async () => {
  const [url, values] = [await startShop(), new Map<string, string>()]
  // Each process has an object of its own for the one store.
  const [one, other] = [openDesk(url, createRemoteStore(values)), openDesk(url, createRemoteStore(values))]
  await one.client.listTools()
  const { searchParams } = await signIn(one.redirects[0]!, REDIRECT_URL)

  const finished = await Promise.allSettled(
    [one, other].map(({ client }) => client.finishAuth('shop', searchParams)),
  )

  expect(finished.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  expect(finished).toContainEqual({
    status: 'rejected',
    reason: expect.objectContaining({ code: 'UNAUTHORIZED', operation: 'authorize' }),
  })
})

it('a storage that fails while a redirect is taken leaves it to be taken again', async () => {
  const [url, storage] = [await startShop(), createStore()]
  let isDown = false
  const failing: OAuthStorage = {
    ...storage,
    get: (key) => {
      if (isDown) throw new Error('The store is down.')
      return storage.get(key)
    },
  }
  const { client, redirects } = openDesk(url, failing)
  await client.listTools()
  const { searchParams } = await signIn(redirects[0]!, REDIRECT_URL)
  isDown = true
  await expect(client.finishAuth('shop', searchParams)).rejects.toMatchObject({ code: 'REQUEST_FAILED' })
  isDown = false

  await client.finishAuth('shop', searchParams)

  expect(await client.callTool('shop', 'who')).toMatchObject({ content: [{ text: 'ann' }] })
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

  // The second to begin may have found the sign-in of the first: then both sent the user to the same URL, which counts once.
  const asked = new Map(desks.map(({ client, redirects }) => [redirects[0]!.href, client]))
  for (const [redirect, client] of asked) {
    await client.finishAuth('shop', (await signIn(new URL(redirect), REDIRECT_URL)).searchParams)
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
  await expect.poll(async () => (await ping()).status).toBe(401)

  const { client, redirects } = openDesk(url, storage)

  expect(await client.callTool('shop', 'who')).toMatchObject({ content: [{ text: 'ann' }] })
  expect(redirects).toEqual([])
  expect(JSON.parse(kept(storage, 'tokens')!).access_token).not.toBe(expired)
})

it('a call whose token is refused is sent again with a fresh one, once, and not if that is refused too', async () => {
  const [url, storage] = [await startShop(), createStore()]
  const { redirects } = await signedIn(url, storage)
  let answer = (): Response | undefined => undefined
  let calls = 0
  const authProvider = createOAuthProvider({
    storage,
    redirectUrl: REDIRECT_URL,
    clientMetadata: { client_name: 'desk', application_type: 'native' },
    onRedirect: (redirect) => redirects.push(redirect),
  })
  const through: typeof fetch = async (input, init) => {
    if (!String(init?.body).includes('"tools/call"')) return fetch(input, init)
    calls++
    return answer() ?? fetch(input, init)
  }
  const client = createClient({ servers: { shop: { url, authProvider, fetch: through } }, onError: () => {} })
  await client.listTools()
  const refusal = () =>
    new Response(null, { status: 401, headers: { 'www-authenticate': 'Bearer error="invalid_token"' } })

  answer = () => (calls === 1 ? refusal() : undefined)
  expect(await client.callTool('shop', 'who')).toMatchObject({ content: [{ text: 'ann' }] })
  expect(calls).toBe(2)

  calls = 0
  answer = refusal
  await expect(client.callTool('shop', 'who')).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
  expect(calls).toBe(2)
})

it('finishAuth of a server without such a provider → TypeError', async () => {
  const client = createClient({ servers: { open: { url: 'https://open.example', token: 't' } } })

  await expect(client.finishAuth('open', new URLSearchParams())).rejects.toMatchObject({
    code: 'REQUEST_FAILED',
    cause: expect.any(TypeError),
  })
})
