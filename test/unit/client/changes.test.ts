/** Subscriptions and list changes, in both eras, over lost connections too. */
import { expect, it, onTestFinished, vi } from 'vitest'
import * as z from 'zod'
import {
  createMemoryBus,
  createPrompt,
  createTool,
  MCPServer,
  type MCPServerConfig,
} from '../../../src/index.ts'
import {
  createClient,
  startFetchServer,
  startMayfly,
  startSessionServer,
  startSseServer,
} from './_servers.ts'

const NEWS = 'news://today'

async function startNews(config: Partial<MCPServerConfig> = {}) {
  const server = new MCPServer({
    id: 'news',
    name: 'News',
    version: '1.0.0',
    log: false,
    bus: createMemoryBus(),
    resources: [{ uri: NEWS, read: () => 'Nothing happened' }],
    prompts: { greet: createPrompt({ get: () => 'Hello' }) },
    tools: { t: createTool({ id: 't', execute: () => '' }) },
    ...config,
  })
  return { server, url: await startFetchServer(server) }
}

it('modern: updates and list changes are heard, and no more once unsubscribed', async () => {
  const { server, url } = await startNews()
  const client = createClient({ servers: { news: { url } } })
  const heard: string[] = []
  client.resources.onUpdated('news', ({ uri }) => heard.push(uri))
  await client.resources.subscribe('news', NEWS)
  await client.resources.onListChanged('news', () => heard.push('resources'))
  const endPrompts = await client.prompts.onListChanged('news', () => heard.push('prompts'))
  await client.tools.onListChanged('news', () => heard.push('tools'))

  await server.resources.notifyUpdated({ uri: NEWS })
  await server.resources.notifyListChanged()
  await server.prompts.notifyListChanged()
  await server.tools.notifyListChanged()

  await expect.poll(() => heard.splice(0)).toEqual([NEWS, 'resources', 'prompts', 'tools'])
  await client.resources.unsubscribe('news', NEWS)
  endPrompts()
  await server.resources.notifyUpdated({ uri: NEWS })
  await server.prompts.notifyListChanged()
  await server.tools.notifyListChanged()
  await expect.poll(() => heard).toEqual(['tools'])
})

it('modern: a stream that the server ends is opened again', async () => {
  const { server, url } = await startNews({ http: { maxListenMs: 150 } })
  const client = createClient({ servers: { news: { url } } })
  const heard: string[] = []
  client.resources.onUpdated('news', ({ uri }) => heard.push(uri))
  await client.resources.subscribe('news', NEWS)
  const first = Date.now()

  await expect
    .poll(async () => {
      if (Date.now() - first > 1000) await server.resources.notifyUpdated({ uri: NEWS })
      return heard.length
    })
    .toBeGreaterThan(0)
})

it.each(['sessions', 'sse'])('legacy over %s: the same', async (kind) => {
  const url = (await (kind === 'sse' ? startSseServer() : startSessionServer())).url
  const client = createClient({ servers: { v1: { url } } })
  const heard = new Set<string>()
  client.resources.onUpdated('v1', ({ uri }) => heard.add(uri))
  await client.resources.subscribe('v1', NEWS)
  await client.resources.onListChanged('v1', () => heard.add('resources'))
  await client.prompts.onListChanged('v1', () => heard.add('prompts'))

  // A session's own stream opens by itself, some time after the first answer.
  await expect
    .poll(async () => {
      await client.callTool('v1', 'touch')
      return [...heard].sort()
    })
    .toEqual([NEWS, 'prompts', 'resources'])

  await client.resources.unsubscribe('v1', NEWS)
  expect(await client.callTool('v1', 'touch')).toMatchObject({ content: [{ text: '' }] })
})

it('legacy: subscriptions last when the session is lost', async () => {
  const { url, sessions } = await startSessionServer()
  const client = createClient({ servers: { v1: { url } } })
  await client.resources.subscribe('v1', NEWS)
  sessions.clear()

  await expect.poll(() => client.callTool('v1', 'touch')).toMatchObject({ content: [{ text: NEWS }] })
})

it('a server that tells nobody is an error at once, and nothing is kept of the wish', async () => {
  // On a platform with several processes and no bus.
  vi.stubEnv('VERCEL', '1')
  onTestFinished(() => void vi.unstubAllEnvs())
  const url = await startMayfly({ resources: [{ uri: NEWS, read: () => '' }] })
  const client = createClient({ servers: { silent: { url } } })

  await expect(client.resources.subscribe('silent', NEWS)).rejects.toMatchObject({ code: 'UNSUPPORTED' })
  await expect(client.resources.onListChanged('silent', () => {})).rejects.toMatchObject({
    code: 'UNSUPPORTED',
  })
  await expect(client.prompts.onListChanged('silent', () => {})).rejects.toMatchObject({
    code: 'UNSUPPORTED',
  })

  expect((await client.resources.read('silent', NEWS)).contents).toHaveLength(1)
  await client.resources.unsubscribe('silent', NEWS)
})

it.each([
  [
    'throws',
    () => {
      throw new Error('mine')
    },
  ],
  ['rejects', () => Promise.reject(new Error('mine'))],
])('a listener that %s is reported, and the others hear', async (_what, fail) => {
  const { server, url } = await startNews()
  const codes: string[] = []
  const heard: string[] = []
  const client = createClient({ servers: { news: { url } }, onError: ({ code }) => codes.push(code) })
  client.resources.onUpdated('news', fail)
  client.resources.onUpdated('news', ({ uri }) => heard.push(uri))
  await client.resources.subscribe('news', NEWS)
  await client.prompts.onListChanged('news', fail)
  await client.prompts.onListChanged('news', () => heard.push('prompts'))

  await server.resources.notifyUpdated({ uri: NEWS })
  await server.prompts.notifyListChanged()

  await expect.poll(() => heard).toEqual([NEWS, 'prompts'])
  expect(codes).toEqual(['LISTENER_FAILED', 'LISTENER_FAILED'])
})

it('resources and prompts are listed by server, read and got', async () => {
  const { url } = await startNews({
    resources: [
      { uri: NEWS, name: 'today', read: () => 'Nothing happened' },
      { uriTemplate: 'news://{day}', name: 'day', read: ({ variables }) => `${variables.day}: nothing` },
    ],
    prompts: {
      greet: createPrompt({ argsSchema: { name: z.string() }, get: ({ name }) => `Greet ${name}` }),
    },
  })
  const { url: legacy } = await startSessionServer()
  const client = createClient({ servers: { news: { url }, v1: { url: legacy } } })

  expect((await client.resources.list()).news?.map(({ uri }) => uri)).toEqual([NEWS])
  expect((await client.resources.list()).v1?.map(({ uri }) => uri)).toEqual([NEWS])
  expect((await client.resources.templates()).news?.map(({ uriTemplate }) => uriTemplate)).toEqual([
    'news://{day}',
  ])
  expect((await client.resources.read('news', 'news://monday')).contents).toMatchObject([
    { text: 'monday: nothing' },
  ])
  expect((await client.prompts.list()).v1?.map(({ name }) => name)).toEqual(['greet'])
  for (const server of ['news', 'v1'] as const) {
    const { messages } = await client.prompts.get(server, 'greet', { name: 'Ann' })
    expect(messages).toMatchObject([{ content: { text: 'Greet Ann' } }])
  }
  await expect(client.prompts.get('news', 'unknown')).rejects.toMatchObject({
    code: 'REQUEST_FAILED',
    cause: { code: -32602 },
  })
})
