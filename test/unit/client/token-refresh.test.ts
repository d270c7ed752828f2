/** Refreshing at an authorization server that rotates refresh tokens: one use of each, and nobody is signed out. */
import { expect, it, onTestFinished, vi } from 'vitest'
import type { OAuthStorage } from '../../../src/client.ts'
import { createOwnProvider } from './_own-provider.ts'
import { type RotatingServer, startRotatingServer } from './_rotating-server.ts'

const OK = { content: [{ type: 'text', text: 'ok' }] }

/** A client of another process: it shares no module with the others, only the storage. */
async function openProcess(url: string, storage: OAuthStorage) {
  vi.resetModules()
  const { createOAuthProvider, MCPClient } = await import('../../../src/client.ts')
  const redirects: URL[] = []
  const authProvider = createOAuthProvider({
    storage,
    redirectUrl: 'https://agent.example/callback',
    onRedirect: (redirect) => redirects.push(redirect),
  })
  const client = new MCPClient({ servers: { a: { url, authProvider } }, onError: () => {} })
  onTestFinished(() => client.disconnect())
  return { client, redirects, call: () => client.callTool('a', 't') }
}

type Process = Awaited<ReturnType<typeof openProcess>>

async function signIn({ client, redirects }: Process): Promise<void> {
  await client.listTools()
  const state = redirects.pop()?.searchParams.get('state') ?? ''
  await client.finishAuth('a', new URLSearchParams({ state, code: 'code' }))
}

/** A storage over a network. */
function createRemoteStorage(values = new Map<string, string>()): OAuthStorage {
  const latency = () => new Promise((resolve) => setTimeout(resolve, 5))
  return {
    get: (key) => latency().then(() => values.get(key)),
    set: (key, value) => latency().then(() => values.set(key, value)),
    delete: (key) => latency().then(() => values.delete(key)),
  }
}

const refreshes = ({ requests }: RotatingServer): (string | null)[] =>
  requests.map((form) => form.get('refresh_token')).filter((token) => token !== null)

it('parallel calls with an expired token: one refresh, and each call succeeds, also the next time', async () => {
  const server = await startRotatingServer()
  const one = await openProcess(server.url, createRemoteStorage())
  await signIn(one)
  for (const used of [['r1'], ['r1', 'r2']]) {
    server.expireAccess()

    const results = await Promise.all([one.call(), one.call(), one.call(), one.call()])

    expect(results).toMatchObject([OK, OK, OK, OK])
    expect(refreshes(server)).toEqual(used)
  }
  expect(one.redirects).toEqual([])
})

it('a call that was refused before others refreshed is repeated with their token', async () => {
  const server = await startRotatingServer()
  const storage = createRemoteStorage()
  const [one, other] = [await openProcess(server.url, storage), await openProcess(server.url, storage)]
  await signIn(one)
  await other.call()
  server.expireAccess()
  await one.call()

  expect(await other.call()).toMatchObject(OK)
  expect(refreshes(server)).toEqual(['r1'])
})

it('two processes with one storage: one refreshes, the other waits for it', async () => {
  const server = await startRotatingServer()
  const storage = createRemoteStorage()
  const processes = [await openProcess(server.url, storage), await openProcess(server.url, storage)]
  await signIn(processes[0]!)
  await Promise.all(processes.map(({ call }) => call()))
  server.expireAccess()

  const results = await Promise.all(processes.flatMap(({ call }) => [call(), call()]))

  expect(results).toMatchObject([OK, OK, OK, OK])
  expect(refreshes(server)).toEqual(['r1'])
  expect(server.isRevoked).toBe(false)
})

it('a refresh token that is refused after others saved new tokens: theirs are kept', async () => {
  const server = await startRotatingServer()
  const values = new Map<string, string>()
  const one = await openProcess(server.url, values)
  await signIn(one)
  await one.call()
  server.expireAccess()
  // Somebody else signs in while the refresh is on its way, which makes its token an old one.
  const key = [...values.keys()].find((name) => name.endsWith(':tokens')) ?? ''
  server.onRefresh = async () => {
    server.onRefresh = () => undefined
    const form = new URLSearchParams({ grant_type: 'authorization_code' })
    const issued = await (await fetch(new URL('/token', server.url), { method: 'POST', body: form })).json()
    values.set(key, JSON.stringify({ ...JSON.parse(values.get(key) ?? ''), ...issued }))
    return undefined
  }

  // This server revokes all tokens then, but not every server does.
  await expect(one.call()).rejects.toMatchObject({ code: 'UNAUTHORIZED' })

  expect(JSON.parse(values.get(key) ?? '')).toMatchObject({ refresh_token: 'r2' })
  expect(one.redirects).toEqual([])
})

it('a refresh that fails for a moment leaves the next one free', async () => {
  const server = await startRotatingServer()
  const one = await openProcess(server.url, new Map())
  await signIn(one)
  await one.call()
  server.expireAccess()
  server.onRefresh = () => {
    server.onRefresh = () => undefined
    return new Response(null, { status: 503 })
  }

  await expect(one.call()).rejects.toMatchObject({ code: 'UNAUTHORIZED' })

  expect(await one.call()).toMatchObject(OK)
})

it('a redirect whose code is refused does not sign out who is signed in', async () => {
  const server = await startRotatingServer()
  const values = new Map<string, string>()
  const one = await openProcess(server.url, values)
  await one.client.listTools()
  const state = one.redirects.pop()?.searchParams.get('state') ?? ''
  const tokens = { access_token: 'a', token_type: 'Bearer', refresh_token: 'r' }
  const key = [...values.keys()].find((name) => name.endsWith(':client')) ?? ''
  values.set(key.replace(/client$/, 'tokens'), JSON.stringify(tokens))
  server.refusesCode = true

  await expect(one.client.finishAuth('a', new URLSearchParams({ state, code: 'wrong' }))).rejects.toThrow()

  expect(JSON.parse(values.get(key.replace(/client$/, 'tokens')) ?? '{}')).toEqual(tokens)
})

it("a provider of the user's own: one refresh for all calls", async () => {
  const server = await startRotatingServer()
  await fetch(new URL('/token', server.url), { method: 'POST', body: new URLSearchParams() })
  let tokens: object | undefined = { access_token: 'a0', token_type: 'Bearer', refresh_token: 'r1' }
  const authProvider = createOwnProvider([], {
    tokens: () => tokens as never,
    saveTokens: (saved: object) => {
      tokens = saved
    },
    invalidateCredentials: () => {
      tokens = undefined
    },
  })
  const { MCPClient } = await import('../../../src/client.ts')
  const client = new MCPClient({ servers: { a: { url: server.url, authProvider } }, onError: () => {} })
  onTestFinished(() => client.disconnect())

  const results = await Promise.all([1, 2, 3].map(() => client.callTool('a', 't')))
  server.expireAccess()
  await Promise.all([1, 2, 3].map(() => client.callTool('a', 't')))

  expect(results).toMatchObject([OK, OK, OK])
  expect(refreshes(server)).toEqual(['r1', 'r2'])
})
