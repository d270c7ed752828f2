/** Events on workerd. */
import { fileURLToPath } from 'node:url'
import { describe, expect, it, vi } from 'vitest'
import { modernRequest, readStream } from '../../contract/wire.ts'
import { startWorkerd, urlOf } from '../cloudflare/_workerd.ts'
import { SECRET, startEndpoint } from './_endpoint.ts'
import { eventScenario } from './_scenario.ts'
import { TOKEN } from './_token.ts'
import { callTool, createWire } from './_wire.ts'

const SERVER = fileURLToPath(new URL('_server.ts', import.meta.url))
/** A heartbeat comes 15 seconds after the last message, or 2 later. */
const LISTEN_MS = 24_000

// On the first request: modules may not make random values here.
const contents = `import { createNotes } from ${JSON.stringify(SERVER)}
  let server
  const create = () => createNotes({}, { http: { maxListenMs: ${LISTEN_MS} } })
  export default { fetch: (...given) => (server ??= create()).fetch(...given) }`

// As `mayfly init` writes it.
const SCHEDULED = `import { env } from 'cloudflare:workers'
  import { cloudflare, durableObjectEvents } from 'mayfly-mcp/cloudflare'
  import { createNotes } from ${JSON.stringify(SERVER)}
  export { MayflyEvents } from 'mayfly-mcp/cloudflare'
  const server = createNotes({ store: durableObjectEvents(env.MayflyEvents) })
  export default { fetch: cloudflare(server), scheduled: (_event, env) => server.events.run({ env }) }`

// As docs/mcp-events-running.md says of a queue.
const QUEUED = `import { env } from 'cloudflare:workers'
  import { cloudflare, durableObjectEvents, queueRunner } from 'mayfly-mcp/cloudflare'
  import { createNotes } from ${JSON.stringify(SERVER)}
  export { MayflyEvents } from 'mayfly-mcp/cloudflare'
  const runner = queueRunner(env.EVENTS_QUEUE)
  const server = createNotes({ store: durableObjectEvents(env.MayflyEvents), runner })
  export default { fetch: cloudflare(server), queue: runner.queue }`

// As it says of alarms.
const WITH_ALARMS = `import { env } from 'cloudflare:workers'
  import { alarmObject, alarmRunner, cloudflare, durableObjectEvents } from 'mayfly-mcp/cloudflare'
  import { createNotes } from ${JSON.stringify(SERVER)}
  export { MayflyEvents } from 'mayfly-mcp/cloudflare'
  const runner = alarmRunner(env.MayflyAlarms)
  export class MayflyAlarms extends alarmObject(() => runner) {}
  const server = createNotes({ store: durableObjectEvents(env.MayflyEvents), runner })
  export default { fetch: cloudflare(server) }`

interface Triggered {
  scheduled(options: { readonly cron: string }): Promise<{ readonly outcome: string }>
}

describe('workerd', () => {
  const start = async () => {
    const workerd = await startWorkerd({ stdin: { contents, resolveDir: import.meta.dirname } })
    return { url: new URL('/mcp', await urlOf(workerd)), close: () => workerd.dispose() }
  }

  eventScenario(start)

  it('a Worker with a scheduled handler: its cron trigger repeats a delivery that failed', async () => {
    const endpoint = await startEndpoint()
    const workerd = await startWorkerd({ stdin: { contents: SCHEDULED, resolveDir: import.meta.dirname } }, [
      'MayflyEvents',
    ])
    try {
      const send = createWire(new URL('/mcp', await urlOf(workerd)))
      const delivery = { mode: 'webhook', url: endpoint.url.href, secret: SECRET }
      await send('events/subscribe', { name: 'note.created', arguments: {}, delivery })
      endpoint.answer = () => ({ status: 503 })
      await callTool(send, 'add_note', { text: 'again' })
      await vi.waitFor(() => expect(endpoint.received).toHaveLength(1))
      endpoint.answer = () => ({ status: 204 })

      // Miniflare types it as a request.
      const worker: unknown = await workerd.getWorker()
      const { scheduled } = worker as Triggered
      await vi.waitFor(
        async () => {
          expect(await scheduled({ cron: '* * * * *' })).toMatchObject({ outcome: 'ok' })
          expect(endpoint.received.map(({ body }) => body.data.text)).toEqual(['again', 'again'])
        },
        { timeout: 60_000, interval: 1000 },
      )
    } finally {
      await workerd.dispose()
      await endpoint.close()
    }
  })

  it.each([
    ['a queue: its messages repeat', QUEUED, ['MayflyEvents'], ['EVENTS_QUEUE']],
    ['alarms: they repeat', WITH_ALARMS, ['MayflyEvents', 'MayflyAlarms'], []],
  ])('a Worker with %s a delivery that failed', async (_what, contents, objects, queues) => {
    const endpoint = await startEndpoint()
    const stdin = { contents, resolveDir: import.meta.dirname }
    const workerd = await startWorkerd({ stdin }, objects, queues)
    try {
      const send = createWire(new URL('/mcp', await urlOf(workerd)))
      const delivery = { mode: 'webhook', url: endpoint.url.href, secret: SECRET }
      await send('events/subscribe', { name: 'note.created', arguments: {}, delivery })
      endpoint.answer = () => ({ status: 503 })
      await callTool(send, 'add_note', { text: 'one' })
      await vi.waitFor(() => expect(endpoint.received).toHaveLength(1))
      endpoint.answer = () => ({ status: 204 })

      await vi.waitFor(() => expect(endpoint.received).toHaveLength(2), { timeout: 60_000, interval: 500 })
      const [first, again] = endpoint.received.map(({ body }) => body)
      expect(again).toEqual(first)
    } finally {
      await workerd.dispose()
      await endpoint.close()
    }
  })

  it('a stream gets an event, then a heartbeat, and ends with its result at its limit [events.stream]', async () => {
    const { url, close } = await start()
    try {
      const begunAt = performance.now()
      const params = { name: 'note.created', arguments: { tag: 'a' } }
      const headers = { authorization: `Bearer ${TOKEN}` }
      const response = await fetch(modernRequest(url, 'events/stream', params, { headers }))
      const messages: unknown[] = []
      for await (const { message } of readStream(response)) {
        if (message === undefined) continue
        messages.push(message)
        if (messages.length === 1) await callTool(createWire(url), 'add_note', { text: 'one', tag: 'a' })
      }
      const _meta = { 'io.modelcontextprotocol/subscriptionId': 1 }
      const cursor = expect.any(String)
      expect(messages).toMatchObject([
        { method: 'notifications/events/active', params: { cursor, truncated: false, _meta } },
        { method: 'notifications/events/event', params: { data: { text: 'one' }, cursor, _meta } },
        { method: 'notifications/events/heartbeat', params: { cursor, _meta } },
        { id: 1, result: {} },
      ])
      expect(performance.now() - begunAt).toBeLessThan(LISTEN_MS + 3000)
    } finally {
      await close()
    }
  })
})
