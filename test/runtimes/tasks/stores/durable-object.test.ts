/** The suite of every store, over Durable Objects in a real workerd; and how their alarms run tasks. */
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DurableObjectNamespace } from '../../../../adapters/_cloudflare/durable-object.ts'
import { durableObjectTaskStore } from '../../../../adapters/cloudflare-tasks.ts'
import type { StoredTask, TaskStore } from '../../../../src/tasks/store.ts'
import { eventually } from '../../../_eventually.ts'
import { startWorkerd, type Workerd } from './_workerd.ts'
import { taskStoreSuite } from './suite.ts'

taskStoreSuite('Durable Objects', async () => {
  const { ask, store, stop } = await startWorkerd()
  const outage = (is: string) => ({ begin: () => ask(`/outage?is=${is}`), end: () => ask('/outage?is=') })
  return {
    connect: async ({ prefix, timeoutMs }) => ({ store: store('Suite', prefix, timeoutMs), close: () => {} }),
    outages: { throws: outage('throws'), silent: outage('silent') },
    wakesItself: true,
    // Each object is a file here.
    burst: 100,
    stop,
  }
})

describe('the object of a task', () => {
  let workerd: Workerd
  let store: TaskStore
  beforeAll(async () => {
    workerd = await startWorkerd()
    store = workerd.store('Runner', 'runner')
  })
  afterAll(() => workerd?.stop())

  const newTask = (mode: string, more: Partial<StoredTask> = {}): StoredTask => ({
    id: crypto.randomUUID(),
    owner: crypto.randomUUID(),
    version: 1,
    isOpen: true,
    dueAt: Date.now(),
    expiresAt: null,
    state: JSON.stringify({ mode }),
    ...more,
  })
  const runs = async (mode: string): Promise<number> =>
    (await workerd.ask<{ runs: string[] }>('/')).runs.filter((one) => one === mode).length
  const kept = (name: string) =>
    workerd.ask<{ keys: string[]; tables: number; alarm: number | null }>(`/object?name=${name}&do=kept`, {})
  const NOTHING = { keys: [], tables: 0, alarm: null }
  const ended = (id: string) =>
    eventually(async () => expect(await store.read(id)).toMatchObject({ isOpen: false, dueAt: null }))

  /** Holds what a run asks of the outside world until it is let go. */
  const holdRun = async (mode: string) => {
    const held: ServerResponse[] = []
    const slow = createServer((_request, response) => void held.push(response)).listen(0, '127.0.0.1')
    await once(slow, 'listening')
    const url = `http://127.0.0.1:${(slow.address() as AddressInfo).port}/`
    const task = newTask(mode, { state: JSON.stringify({ mode, url }) })
    await store.create(task, 1)
    await eventually(() => expect(held).toHaveLength(1))
    const letGo = async (): Promise<void> => {
      held[0]!.end('done')
      await ended(task.id)
      slow.close()
    }
    return { task, letGo }
  }

  it('runs it when it is due, and may be read and replaced meanwhile, by the run itself, too', async () => {
    const { task, letGo } = await holdRun('works')

    for (let time = 0; time < 3; time++)
      expect(await store.read(task.id)).toMatchObject({ version: 2, isOpen: true })
    expect(await store.create(newTask('works', { owner: task.owner }), 1)).toBe(false)
    expect(await store.replace({ ...task, version: 2 })).toBe(false)

    await letGo()
    expect(await runs('works')).toBe(1)
  })

  it('has its next alarm before a run has done anything: the run may die, and workerd give up', async () => {
    const { task, letGo } = await holdRun('waits')

    const { alarm } = await kept(`task/${task.id}`)

    expect(alarm).toBeGreaterThan(task.dueAt! + 5000)
    await letGo()
    expect(await kept(`task/${task.id}`)).toMatchObject({ alarm: null })
  })

  it('runs it again at each time that a run sets', async () => {
    const task = newTask('sleeps')
    await store.create(task, 1)
    await ended(task.id)
    expect(await runs('sleeps')).toBe(2)
  })

  it.each(['throws twice', 'does nothing once', 'dies once'])(
    'a run that %s is tried again',
    async (mode) => {
      const task = newTask(mode)
      await store.create(task, 1)
      await ended(task.id)
      expect(await runs(mode)).toBeGreaterThan(1)
    },
  )

  it('a run that does nothing, ever, is tried ever more slowly', async () => {
    await store.create(newTask('for ever', { expiresAt: Date.now() + 5000 }), 1)
    await eventually(async () => expect(await runs('for ever')).toBeGreaterThanOrEqual(2))
    expect(await runs('for ever')).toBeLessThanOrEqual(4)
  })

  it('an object that is no longer in memory wakes for what is due', async () => {
    const task = newTask('wakes', { dueAt: Date.now() + 3000 })
    await store.create(task, 1)
    const { constructed } = await workerd.ask<{ constructed: number }>('/')
    await workerd.miniflare.unsafeEvictDurableObject('tasks', 'Runner', { name: `runner/task/${task.id}` })
    await ended(task.id)
    expect((await workerd.ask<{ constructed: number }>('/')).constructed).toBeGreaterThan(constructed)
  })

  it('deletes all that it keeps when the task expires, and so does the object of its owner', async () => {
    const task = newTask('never', { dueAt: null, expiresAt: Date.now() + 3000 })
    await store.create(task, 1)
    expect(await kept(`task/${task.id}`)).toMatchObject({ keys: ['task'], alarm: task.expiresAt })
    expect(await kept(`owner/${task.owner}`)).toMatchObject({ tables: 1 })
    await eventually(async () => expect(await kept(`task/${task.id}`)).toEqual(NOTHING))
    await eventually(async () => expect(await kept(`owner/${task.owner}`)).toEqual(NOTHING))
    expect(await store.create(newTask('never', { owner: task.owner, dueAt: null }), 1)).toBe(true)
  })

  it('of an owner keeps nothing once all of its tasks have ended, or where no limit is', async () => {
    const [one, other] = [newTask('ends', { dueAt: null }), newTask('ends', { dueAt: null })]
    await store.create(one, 2)
    await store.create({ ...other, owner: one.owner }, 2)
    await store.replace({ ...one, version: 2, isOpen: false })
    expect(await kept(`owner/${one.owner}`)).toMatchObject({ tables: 1 })
    await store.replace({ ...other, owner: one.owner, version: 2, isOpen: false })
    expect(await kept(`owner/${one.owner}`)).toEqual(NOTHING)
    const unlimited = newTask('ends', { dueAt: null })
    await store.create(unlimited, Number.POSITIVE_INFINITY)
    await store.replace({ ...unlimited, version: 2, expiresAt: Date.now() + 60_000 })
    await store.replace({ ...unlimited, version: 3, isOpen: false })
    expect(await kept(`owner/${unlimited.owner}`)).toEqual(NOTHING)
  })

  it('of an id that nobody created keeps nothing', async () => {
    expect(await store.read('unknown')).toBeUndefined()
    expect(await store.replace(newTask('', { id: 'unknown', version: 2 }))).toBe(false)
    expect(await kept('task/unknown')).toEqual(NOTHING)
  })

  it('a slot whose task was never created, or has ended unnoticed, is found when there is no other', async () => {
    const task = newTask('never', { dueAt: null })
    const long = Date.now() - 120_000
    for (const id of ['gone-1', 'gone-2']) {
      const order = { do: 'take', task: { id, expiresAt: null }, maxOpen: 9, now: long }
      await workerd.ask(`/object?name=owner/${task.owner}&do=`, order)
    }
    expect(await store.create(task, 3)).toBe(true)
    expect(await store.create(newTask('never', { owner: task.owner, dueAt: null }), 3)).toBe(true)
    expect(await store.create(newTask('never', { owner: task.owner, dueAt: null }), 3)).toBe(true)
    expect(await store.create(newTask('never', { owner: task.owner, dueAt: null }), 3)).toBe(false)
  })

  it('of another class is told to be', async () => {
    const other = workerd.store('Other', 'x')
    await expect(other.read('a')).rejects.toThrow('bind the class of taskObject')
  })

  it('without a binding → TypeError', () => {
    expect(() => durableObjectTaskStore(undefined as unknown as DurableObjectNamespace)).toThrow(TypeError)
  })
})
