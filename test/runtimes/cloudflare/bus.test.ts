/** The bus of Durable Objects on workerd: two Workers, which are two isolates, share the objects of the first. */
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { Miniflare } from 'miniflare'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../../_eventually.ts'
import { connectV2, MODERN } from '../../contract/clients.ts'

const WORKER = fileURLToPath(new URL('bus/worker.ts', import.meta.url))
const OBJECTS = ['Counting', 'Throwing', 'Other', 'Silent', 'Slow', 'Deaf', 'Babbling', 'Closing']
const NAMES = ['one', 'two'] as const
const URI = 'note://today'
const FILTER = { toolsListChanged: true, resourceSubscriptions: [URI] }

let workerd: Miniflare
const urls = new Map<string, URL>()

beforeAll(async () => {
  const { outputFiles } = await build({ entryPoints: [WORKER], bundle: true, write: false, format: 'esm' })
  const modules = { 'worker.js': { type: 'esm' as const, contents: outputFiles[0]!.text } }
  const manifest = { mainModule: 'worker.js', modulesRoot: import.meta.dirname, modules }
  const binding = (exportName: string) => ({ type: 'durable-object' as const, worker: 'one', exportName })
  const object = { type: 'durable-object' as const, storage: 'sqlite' as const }
  const workers = NAMES.map((name) => ({
    config: {
      name,
      compatibilityDate: '2025-09-01',
      manifest,
      env: Object.fromEntries(OBJECTS.map((exportName) => [exportName, binding(exportName)])),
      ...(name === 'one' && {
        exports: Object.fromEntries(OBJECTS.map((exportName) => [exportName, object])),
      }),
    },
    dev: { unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }] },
  }))
  // Its default asks the internet where it is.
  workerd = new Miniflare({ cf: false, workers })
  await workerd.ready
  for (const name of NAMES) urls.set(name, await workerd.unsafeGetDirectURL(name))
})
afterAll(() => workerd?.dispose())

const at = (worker: string, path: string): URL => new URL(path, urls.get(worker))

async function ask<Answer>(path: string, worker = 'one'): Promise<Answer> {
  return (await (await fetch(at(worker, path))).json()) as Answer
}

interface Seen {
  readonly constructed: number
  readonly fetch: number
  readonly message: number
  readonly close: number
  readonly alarm: number
  readonly reports: readonly string[]
}

const seen = (worker = 'one') => ask<Seen>('/seen', worker)
const sockets = () => ask<{ count: number; answered: (string | null)[] }>('/sockets')

/** The official client of one Worker, listening, that writes down what it is notified of. */
async function connectListener(worker: string) {
  const connection = await connectV2({ pin: MODERN }, at(worker, '/mcp'))
  const heard: string[] = []
  connection.client.setNotificationHandler(
    'notifications/resources/updated',
    ({ params }) => void heard.push(params.uri),
  )
  connection.client.setNotificationHandler('notifications/tools/list_changed', () => void heard.push('tools'))
  await connection.client.listen(FILTER)
  return { ...connection, heard }
}

async function touch(worker: string): Promise<void> {
  await using connection = await connectV2({ pin: MODERN }, at(worker, '/mcp'))
  await connection.call('touch')
}

describe('two isolates', () => {
  it('a client hears what another isolate publishes; closing it frees its socket [bus.objects]', async () => {
    await using listener = await connectListener('one')
    await using other = await connectListener('two')
    expect((await sockets()).count).toBe(2)

    await touch('two')

    for (const { heard } of [listener, other])
      await eventually(() => expect(heard.toSorted()).toEqual([URI, 'tools']))
    await listener.client.close()
    await eventually(async () => expect((await sockets()).count).toBe(1))
    await other.client.close()
    await eventually(async () => expect((await sockets()).count).toBe(0))
  })

  it('an idle hour: its 120 pings reach the object as no request, message or alarm [bus.objects]', async () => {
    await using listener = await connectListener('one')
    const { reports: _, ...before } = await seen()
    const begunAt = Date.now()

    await eventually(async () => expect(Date.now() - begunAt).toBeGreaterThan(120 * 25))

    const { reports, ...after } = await seen()
    expect(after).toEqual(before)
    expect(reports).toEqual([])
    const [answeredAt] = (await sockets()).answered
    expect(Date.parse(answeredAt!)).toBeGreaterThan(begunAt)
    expect(listener.heard).toEqual([])
  })

  it('an object that hibernates keeps its sockets, and the next event wakes it [bus.objects]', async () => {
    await using listener = await connectListener('two')
    const { constructed } = await seen()

    await workerd.unsafeEvictDurableObject('one', 'Counting', { name: 'news', webSockets: 'hibernate' })
    await touch('one')

    await eventually(() => expect(listener.heard.toSorted()).toEqual([URI, 'tools']))
    expect((await seen()).constructed).toBe(constructed + 1)
  })

  it('an object that is ended: each client is told of a gap, one report an isolate, and events arrive again [bus.objects]', async () => {
    const listeners = await Promise.all(['one', 'one', 'two', 'two'].map(connectListener))

    await fetch(at('one', '/abort'))

    for (const { heard } of listeners)
      await eventually(() => expect(heard.toSorted()).toEqual([URI, 'tools']))
    await eventually(async () => expect((await sockets()).count).toBe(4))
    for (const worker of NAMES)
      expect((await seen(worker)).reports).toEqual([
        'Error: The connection to the Durable Object was closed.',
      ])
    await touch('two')
    for (const { heard } of listeners) await eventually(() => expect(heard).toHaveLength(4))
    await Promise.all(listeners.map(({ client }) => client.close()))
    await eventually(async () => expect((await sockets()).count).toBe(0))
  })
})

it('1000 events, published at once, arrive in order, and none is lost [bus.objects]', async () => {
  const heard = await ask<number[]>('/burst?events=1000')
  expect(heard).toEqual([...heard.keys()])
  expect(heard).toHaveLength(1000)
})

describe('the object', () => {
  it.each([
    ['an event', 204, 'POST', '{"type":"promptsListChanged"}'],
    ['no JSON', 400, 'POST', 'not { json'],
    ['no event', 400, 'POST', '{"type":"unknown"}'],
    [
      'an event of 1 MB',
      413,
      'POST',
      JSON.stringify({ type: 'resourceUpdated', uri: 'a'.repeat(1_000_000) }),
    ],
    ['another method', 405, 'PUT', '{"type":"promptsListChanged"}'],
  ] as const)('%s → %i [bus.objects]', async (_what, status, method, body) => {
    expect((await fetch(at('one', '/raw'), { method, body })).status).toBe(status)
  })
})

interface Outcome {
  readonly heard?: readonly object[]
  readonly rejected?: string
  readonly errors: readonly string[]
  readonly ms?: number
}

describe('an object that is broken', () => {
  const call = (path: string, object: string, forMs = 0) =>
    ask<Outcome>(`${path}?object=${object}&forMs=${forMs}`)

  it.each(['Throwing', 'Silent', 'Slow'])(
    '%s: publishing and subscribing reject in time, reported once [bus.objects]',
    async (object) => {
      for (const path of ['/publish', '/subscribe']) {
        const { rejected, errors, ms } = await call(path, object)
        expect(errors).toEqual([rejected])
        expect(ms).toBeLessThan(2000)
      }
    },
  )

  it('Slow: a socket that comes too late is gone when the object hibernates [bus.objects]', async () => {
    await call('/subscribe', 'Slow')
    await eventually(async () => expect((await ask<{ count: number }>('/slow')).count).toBeGreaterThan(0))

    await workerd.unsafeEvictDurableObject('one', 'Slow', { name: 'any', webSockets: 'hibernate' })

    expect(await ask('/slow')).toEqual({ count: 0 })
  })

  it('Other: subscribing says which class to bind [bus.objects]', async () => {
    expect(await call('/subscribe', 'Other')).toMatchObject({
      rejected: expect.stringContaining('MayflyBus'),
    })
  })

  it.each(['Deaf', 'Closing'])(
    '%s: the connection is opened again, with a gap, reported once',
    async (object) => {
      const { heard, errors } = await call('/subscribe', object, 2500)
      expect(heard!.length).toBeGreaterThanOrEqual(1)
      expect(new Set(heard!.map((event) => JSON.stringify(event)))).toEqual(new Set(['{"type":"gap"}']))
      expect(errors).toHaveLength(1)
    },
  )

  it('Babbling: what is no event is not delivered, and reported once [bus.objects]', async () => {
    const { heard, errors } = await call('/subscribe', 'Babbling', 300)
    expect(heard).toEqual([])
    expect(errors).toEqual(['TypeError: The Durable Object sent something other than a change event.'])
  })
})
