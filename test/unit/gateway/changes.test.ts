/** Changes of the servers behind reach those who listen to the gateway, with their own credentials. */
import { fileURLToPath } from 'node:url'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { expect, it, onTestFinished, vi } from 'vitest'
import { bearer } from '../../../src/auth.ts'
import { createResource, createTool, MCPServer, type MCPServerConfig } from '../../../src/index.ts'
import { startFetchServer, startSessionServer } from '../client/_servers.ts'
import { add, connect, startGateway } from './_servers.ts'

const NEWS = 'news://today'
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

async function startNews(config: Partial<MCPServerConfig> = {}) {
  const server = new MCPServer({
    id: 'news',
    name: 'News',
    version: '1.0.0',
    log: false,
    resources: [
      createResource({ uri: NEWS, read: () => 'Nothing happened' }),
      createResource({ uriTemplate: 'news://{day}/{part}', read: () => 'part' }),
    ],
    tools: { add },
    ...config,
  })
  return { server, url: await startFetchServer(server) }
}

it('updates of resources and changes of lists are heard, and no more once unsubscribed', async () => {
  const { server, url } = await startNews()
  const other = await startNews({ resources: [createResource({ uri: 'other://1', read: () => '' })] })
  const front = connect(await startGateway({ servers: { news: { url }, other: { url: other.url } } }))
  const heard: string[] = []
  front.resources.onUpdated('front', ({ uri }) => heard.push(uri))
  await front.resources.subscribe('front', NEWS)
  await front.resources.subscribe('front', 'news://monday/1')
  await front.tools.onListChanged('front', () => heard.push('tools'))

  await server.resources.notifyUpdated({ uri: NEWS })
  await expect.poll(() => heard.splice(0)).toEqual([NEWS])
  await server.resources.notifyUpdated({ uri: 'news://monday/1' })
  await expect.poll(() => heard.splice(0)).toEqual(['news://monday/1'])
  // Another server cannot speak for it.
  await other.server.resources.notifyUpdated({ uri: NEWS })
  await server.tools.notifyListChanged()
  await expect.poll(() => heard.splice(0)).toEqual(['tools'])

  await front.resources.unsubscribe('front', NEWS)
  await server.resources.notifyUpdated({ uri: NEWS })
  await server.tools.notifyListChanged()
  await expect.poll(() => heard).toEqual(['tools'])
})

it('who hears of a changed list gets the changed list', async () => {
  let isMore = false
  const { server, url } = await startNews({
    setup: (scope) => {
      if (isMore) scope.registerTool('more', {}, () => 'more')
    },
  })
  const front = connect(await startGateway({ servers: { news: { url } }, ttlMs: 1_000_000 }))
  expect(Object.keys(await front.listTools())).toEqual(['front_news_add'])
  const heard = vi.fn()
  await front.tools.onListChanged('front', heard)
  isMore = true
  await server.tools.notifyListChanged()
  await expect.poll(() => heard.mock.calls.length).toBeGreaterThan(0)
  expect(Object.keys(await front.listTools()).sort()).toEqual(['front_news_add', 'front_news_more'])
})

it('each caller hears what its own credentials may', async () => {
  const { server, url } = await startNews({
    auth: bearer((token) => ({ clientId: token, scopes: token === 'far-ann' ? ['read'] : [] })),
    resources: [
      createResource({ uri: NEWS, scopes: ['read'], read: () => 'secret' }),
      createResource({ uri: 'news://open', read: () => 'open' }),
    ],
  })
  const token = ({ auth }: { auth?: { clientId: string } | undefined }) => auth && `far-${auth.clientId}`
  const auth = bearer((given) => ({ clientId: given, scopes: [] }))
  const front = await startGateway({ servers: { news: { url, token } } }, { auth })
  const heard: string[] = []
  for (const name of ['ann', 'bob']) {
    const client = connect(front, { token: name })
    client.resources.onUpdated('front', ({ uri }) => heard.push(`${name} ${uri}`))
    await client.resources.subscribe('front', 'news://open')
    await client.resources.subscribe('front', NEWS).catch(() => heard.push(`${name} refused`))
  }
  expect(heard.splice(0)).toEqual(['bob refused'])
  await server.resources.notifyUpdated({ uri: NEWS })
  await server.resources.notifyUpdated({ uri: 'news://open' })
  await expect.poll(() => heard.sort()).toEqual(['ann news://open', `ann ${NEWS}`, 'bob news://open'])
})

it('what was missed while the server behind was away is told when it is back', async () => {
  const news = await startNews()
  let target: string | undefined = news.url
  const send: typeof fetch = (input, init) => {
    if (target === undefined) throw new TypeError('fetch failed')
    return fetch(new URL(new URL(String(input)).pathname, target), init)
  }
  const front = connect(
    await startGateway(
      { servers: { news: { url: 'http://127.0.0.1:9/mcp', fetch: send } } },
      { onError: () => {} },
    ),
  )
  const heard: string[] = []
  front.resources.onUpdated('front', ({ uri }) => heard.push(uri))
  await front.resources.subscribe('front', NEWS)
  target = undefined
  await news.server.close()
  const again = await startNews()
  target = again.url
  await expect.poll(() => heard.splice(0).length, { timeout: 5000 }).toBeGreaterThan(0)
  await again.server.resources.notifyUpdated({ uri: NEWS })
  await expect.poll(() => heard).toEqual([NEWS])
})

it('a legacy server behind: its updates are heard', async () => {
  const { url, sessions } = await startSessionServer()
  const front = connect(await startGateway({ servers: { v1: { url } } }))
  const heard: string[] = []
  front.resources.onUpdated('front', ({ uri }) => heard.push(uri))
  await front.resources.subscribe('front', 'news://today')
  await expect.poll(() => sessions.size).toBeGreaterThan(0)
  await expect
    .poll(async () => {
      await Promise.all(
        [...sessions.values()].map((session) =>
          session.send({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: NEWS } }),
        ),
      )
      return heard[0]
    })
    .toBe(NEWS)
})

it('without anybody who listens, no stream is open behind', async () => {
  const { server, url } = await startNews({ tools: { t: createTool({ id: 't', execute: () => '' }) } })
  const front = connect(await startGateway({ servers: { news: { url } } }))
  await front.resources.subscribe('front', NEWS)
  await front.disconnect()
  // It would wait for the stream.
  await server.close()
})

it('of a process: one caller cannot take all places, hears what does not fit, and keeps what it has', async () => {
  const file = fileURLToPath(new URL('_stdio-news.ts', import.meta.url))
  const news = { transport: () => new StdioClientTransport({ command: process.execPath, args: [file] }) }
  const auth = bearer((given) => ({ clientId: given, scopes: [] }))
  const front = await startGateway({ servers: { news } }, { auth })
  const uris = (name: string, count: number) =>
    Array.from({ length: count }, (_, at) => `news://${name}-${at}`)
  const listen = (token: string, resourceSubscriptions: string[]) => {
    const params = { notifications: { resourceSubscriptions }, _meta: META }
    return fetch(front, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'subscriptions/listen',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params }),
    })
  }
  const streams: Response[] = []
  onTestFinished(async () => {
    for (const { body } of streams) await body?.cancel().catch(() => {})
  })
  const heard = vi.fn()
  const ann = connect(front, { token: 'ann' })
  ann.resources.onUpdated('front', heard)
  await ann.resources.subscribe('front', 'news://first')
  streams.push(await listen('ann', uris('ann', 450)))

  const refused = await listen('ann', uris('more', 100))

  expect(refused.status).toBe(429)
  expect(await refused.json()).toMatchObject({
    error: {
      message: expect.stringContaining(
        '"news" behind this one cannot follow more resources for you: subscribe without news://more-',
      ),
    },
  })
  const bob = connect(front, { token: 'bob' })
  const heardByBob = vi.fn()
  bob.resources.onUpdated('front', heardByBob)
  await bob.resources.subscribe('front', 'news://of-bob')
  for (const uri of ['news://of-bob', 'news://first']) await bob.callTool('front', 'news_publish', { uri })
  await expect
    .poll(() => [heardByBob.mock.calls, heard.mock.calls])
    .toEqual([[[{ uri: 'news://of-bob' }]], [[{ uri: 'news://first' }]]])
})
