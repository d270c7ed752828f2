/** The examples, as `mayfly dev` serves them over real stores: a task with a question goes to its end. */
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { serveDev } from '../_dev-server.ts'
import { startPostgresServer, startRedisServer } from '../buses/_servers.ts'
import { TaskWire } from './_wire.ts'

const EXAMPLES = fileURLToPath(new URL('../../../examples/tasks/', import.meta.url))

const SETTINGS: { readonly [name: string]: readonly [setting: string, start: typeof startRedisServer] } = {
  redis: ['REDIS_URL', startRedisServer],
  postgres: ['DATABASE_URL', startPostgresServer],
}

it.each([
  ['memory', 'node'],
  ['memory', 'deno'],
  ['memory', 'bun'],
  ['memory', 'vercel'],
  ['redis', 'node'],
  ['redis', 'deno'],
  ['postgres', 'node'],
  ['postgres', 'bun'],
  ['postgres', 'supabase'],
  ['cloudflare', 'cloudflare'],
  ['dynamodb/server', 'lambda'],
])('examples/tasks/%s.ts on %s [tasks.examples]', async (name, target) => {
  const [setting, start] = SETTINGS[name] ?? []
  const store = await start?.()
  const dev = await serveDev(
    basename(`${name}.ts`),
    target,
    dirname(join(EXAMPLES, name)),
    setting === undefined ? {} : { [setting]: store!.url },
  )
  try {
    const wire = new TaskWire(dev.url)
    const { taskId, resultType } = await wire.call('report', { year: 2026 })
    expect(resultType).toBe('task')
    const asked = await wire.until(taskId, 'input_required')
    expect(asked.statusMessage).toBe('loaded (1/3)')
    const [key] = Object.keys(asked.inputRequests!)
    await wire.update(taskId, { [key!]: { action: 'accept', content: { publish: true } } })
    const { result } = await wire.until(taskId, 'completed')
    expect(result!.content[0]!.text).toMatch(/^Published 3 rows/)
  } finally {
    await dev.stop()
    await store?.stop()
  }
})
