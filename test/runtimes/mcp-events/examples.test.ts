/**
 * examples/events, as `mayfly dev` serves them, over real stores: the events client of the AI SDK subscribes in one process, and receives what
 * another emits.
 */
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { eventually } from '../../_eventually.ts'
import type { Served } from '../../contract/contract.ts'
import { serveDev } from '../_dev-server.ts'
import { startPostgresServer, startRedisServer } from '../buses/_servers.ts'
import { startEventsApp } from './_ai-sdk.ts'

const EXAMPLES = fileURLToPath(new URL('../../../examples/events/', import.meta.url))
const TOKEN = 'events-example-token'

const STORES = {
  memory: undefined,
  cloudflare: undefined,
  redis: ['REDIS_URL', startRedisServer],
  postgres: ['DATABASE_URL', startPostgresServer],
} as const

it.each([
  ['memory', 'node', 1],
  ['cloudflare', 'cloudflare', 1],
  ['redis', 'node', 2],
  ['redis', 'deno', 2],
  ['postgres', 'node', 2],
  ['postgres', 'bun', 2],
] as const)(
  'examples/events/%s.ts on %s, in %i process(es): the AI SDK receives events',
  async (name, target, count) => {
    const stop: (() => Promise<void>)[] = []
    try {
      const [setting, start] = STORES[name] ?? []
      const server = await start?.()
      if (server !== undefined) stop.unshift(() => server.stop())
      const env = setting && server ? { [setting]: server.url } : {}
      const processes: Served[] = []
      for (let one = 0; one < count; one++) {
        const served = await serveDev(`${name}.ts`, target, EXAMPLES, env)
        stop.unshift(served.stop)
        processes.push(served)
      }
      const app = await startEventsApp()
      stop.unshift(app.close)
      const here = await app.connect(processes[0]!.url, TOKEN)
      const there = await app.connect(processes.at(-1)!.url, TOKEN)
      stop.unshift(
        () => here.close(),
        () => there.close(),
      )
      const { events } = await here.experimental_events.list()
      expect(events.map((event) => event.name)).toEqual(['note.created'])

      const { id } = await here.experimental_events.subscribe(
        app.subscription('note.created', { tag: 'tea' }),
      )
      for (const tag of ['coffee', 'tea'])
        await there.callTool({ name: 'add_note', arguments: { text: `about ${tag}`, tag } })

      await eventually(() => expect(app.received).toHaveLength(1))
      expect(app.received).toMatchObject([{ name: 'note.created', data: { text: 'about tea', tag: 'tea' } }])

      // The same subscription is renewed, by the other process.
      expect((await there.experimental_events.refresh({ id })).id).toBe(id)
      await here.callTool({ name: 'add_note', arguments: { text: 'more', tag: 'tea' } })
      await eventually(() => expect(app.received).toHaveLength(2))

      await here.experimental_events.unsubscribe({ id })
      const { id: all } = await here.experimental_events.subscribe(app.subscription('note.created', {}))
      expect(all).not.toBe(id)
      await there.callTool({ name: 'add_note', arguments: { text: 'last', tag: 'tea' } })
      await eventually(() => expect(app.received.at(-1)?.data).toEqual({ text: 'last', tag: 'tea' }))
      expect(app.received).toHaveLength(3)
      expect(app.faults).toEqual([])
    } finally {
      for (const each of stop) await each()
    }
  },
)
