/**
 * Two versions side by side, or a rollback: tasks that an older or a newer version stored, in each store, over its real server. The older form is
 * the least that a record ever had; the newer one has members that this version does not know.
 */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { createTool } from '../../../src/index.ts'
import type { StoredTask, TaskStore } from '../../../src/tasks/store.ts'
import { createTasks } from '../../../src/tasks.ts'
import { TaskClient } from '../../unit/tasks/_tasks.ts'
import {
  type StoreServer,
  startDynamoStores,
  startObjectStores,
  startPostgresStores,
  startRedisStores,
} from './_backends.ts'

const OLDEST = JSON.parse(
  readFileSync(new URL('../../unit/tasks/journals/before-order.json', import.meta.url), 'utf8'),
) as { readonly [member: string]: unknown; readonly journal: object }

/** As a later version could write it. */
const NEWER = {
  journal: { branches: { a: ['kept'] }, steps: { load: [3], unknown: ['kept'] } },
  members: { priority: { of: 'kept' }, inbox: { answers: {}, events: {}, signals: { now: 1 } } },
}

const STORES = {
  Postgres: startPostgresStores,
  Redis: startRedisStores,
  DynamoDB: startDynamoStores,
  'Durable Objects': startObjectStores,
} as const

describe.each(Object.entries(STORES))('%s', (_name, start) => {
  let server: StoreServer
  let store: TaskStore
  beforeAll(async () => {
    server = await start(1)
    ;[store] = server.stores as [TaskStore]
  })
  afterAll(() => server.stop())

  /** A task as it stands in the store, and a server of this version. */
  async function arrange(more: object, journal: object, server?: string) {
    const log = vi.spyOn(console, 'error').mockReturnValue()
    const loaded: unknown[] = []
    const job = createTool({
      id: 'job',
      task: 'required',
      execute: async (_input, ctx) => {
        loaded.push(await ctx.step('load', () => 'again'))
        const answer = await ctx.elicit('Go on?', z.object({ yes: z.boolean() }))
        return `${loaded.at(-1)} ${answer.action}`
      },
    })
    const client = new TaskClient({ tools: { job }, tasks: createTasks({ store }) })
    const record = { ...OLDEST, awaited: [], ...more, journal: { ...OLDEST.journal, ...journal } }
    const stored: StoredTask = {
      id: crypto.randomUUID(),
      owner: crypto.randomUUID(),
      version: 1,
      isOpen: true,
      // The store's clock may differ by what a call to it takes.
      dueAt: Date.now() - 60_000,
      expiresAt: null,
      state: JSON.stringify(record),
      ...(server !== undefined && { server }),
    }
    await store.create(stored, 1)
    const read = async () => (await store.read(stored.id))!
    const state = async () => JSON.parse((await read()).state)
    const lines = () =>
      log.mock.calls.map(([line]) => String(line)).filter((line) => line.includes(stored.id))
    return {
      client,
      id: stored.id,
      stored,
      read,
      state,
      lines,
      run: () => client.server.tasks.run(stored.id),
    }
  }

  const answer = async (client: TaskClient, id: string): Promise<void> => {
    const { inputRequests } = await client.get(id)
    const [key] = Object.keys(inputRequests!)
    await client.update(id, { [key!]: { action: 'accept', content: { yes: true } } })
    await client.settle()
    await client.server.tasks.run(id)
  }

  it('a task of the oldest version goes on from its steps, and ends', async () => {
    const { client, id, run } = await arrange({}, { steps: { load: [3] } })
    await run()
    await answer(client, id)
    expect((await client.until(id, 'completed')).result?.content[0]?.text).toBe('3 accept')
  })

  it('what a newer version added is kept in each write, and the task goes to its end', async () => {
    const { client, id, run, state } = await arrange(NEWER.members, NEWER.journal)
    await run()
    const asked = await state()
    expect(asked).toMatchObject({
      status: 'input_required',
      priority: { of: 'kept' },
      inbox: { signals: { now: 1 } },
      journal: NEWER.journal,
    })
    await answer(client, id)
    expect((await client.until(id, 'completed')).result?.content[0]?.text).toBe('3 accept')
    expect((await state()).priority).toEqual({ of: 'kept' })
  })

  it('a task in a format that only a newer version can run is left alone, says so, and goes on when that version is back', async () => {
    const { client, id, run, stored, read, state, lines } = await arrange(
      { format: 2, ...NEWER.members },
      NEWER.journal,
    )
    for (let time = 0; time < 3; time++) await run()
    await expect(client.get(id)).rejects.toMatchObject({ code: -32603 })
    expect((await client.cancel(id)).error?.code).toBe(-32603)
    const left = await read()
    expect({ state: left.state, isOpen: left.isOpen }).toEqual({ state: stored.state, isOpen: true })
    expect(left.dueAt).toBeGreaterThan(Date.now())
    expect(lines().filter((line) => line.includes('newer version'))).not.toEqual([])

    // The newer version knows that format.
    const { format: _, ...known } = await state()
    await store.replace({
      ...left,
      version: left.version + 1,
      state: JSON.stringify(known),
      dueAt: stored.dueAt,
    })
    await run()
    await answer(client, id)
    expect((await client.until(id, 'completed')).result?.content[0]?.text).toBe('3 accept')
  })

  it('a result in an order that this version does not know is not lost: the task waits, and says so', async () => {
    const order = ['step load', 'signal now', 'answer q']
    const { run, stored, read, lines, state } = await arrange({}, { steps: { load: [3] }, order })
    await run()
    const left = await read()
    expect(left.isOpen).toBe(true)
    expect(left.dueAt).toBeGreaterThan(stored.dueAt!)
    expect((await state()).journal.order).toEqual(order)
    expect(lines()).not.toEqual([])
  })
})
