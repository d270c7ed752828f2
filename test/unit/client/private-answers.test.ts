/** What a server lets its client keep for one caller is not returned to another one, whose token the same client sends. */
import { expect, it } from 'vitest'
import { createClient, startAnswering } from './_servers.ts'

const KEPT = { resultType: 'complete', ttlMs: 60_000, cacheScope: 'private' }

/** Everything is of the caller and may be kept for a minute, but `news://all`, which is everybody's. */
async function startServer() {
  const asked: string[] = []
  const origin = await startAnswering(({ method, params, request }) => {
    const caller = request.headers.authorization?.replace('Bearer ', '') ?? 'nobody'
    const cacheScope = params?.uri === 'news://all' ? 'public' : 'private'
    const answers: { readonly [method: string]: object } = {
      'server/discover': { supportedVersions: ['2026-07-28'], capabilities: { tools: {}, resources: {} } },
      'tools/list': { tools: [{ name: `of-${caller}`, inputSchema: { type: 'object' } }] },
      'resources/read': { contents: [{ uri: params?.uri, text: caller }] },
    }
    asked.push(method)
    return { result: { ...KEPT, cacheScope, ...answers[method] } }
  })
  return { asked, url: `${origin}/mcp` }
}

it.each(['token', 'authProvider'] as const)('where a function returns the token (%s)', async (option) => {
  const { asked, url } = await startServer()
  let user = 'ann'
  const token = (): string => user
  const credentials = option === 'token' ? { token } : { authProvider: { token: async () => user } }
  const client = createClient({ servers: { s: { url, ...credentials } } })
  for (user of ['ann', 'bob', 'ann']) {
    expect(Object.keys(await client.listTools())).toEqual([`s_of-${user}`])
    expect((await client.resources.read('s', 'me://inbox')).contents).toMatchObject([{ text: user }])
    await client.resources.read('s', 'news://all')
  }

  // What is everybody's is kept.
  expect(asked.filter((method) => method === 'resources/read')).toHaveLength(4)
})

it('is kept where all requests have one token', async () => {
  const { asked, url } = await startServer()
  const client = createClient({ servers: { s: { url, token: 'ann' } } })
  for (let count = 0; count < 3; count++) {
    await client.listTools()
    await client.resources.read('s', 'me://inbox')
  }

  expect(asked).toEqual(['server/discover', 'tools/list', 'resources/read'])
})
