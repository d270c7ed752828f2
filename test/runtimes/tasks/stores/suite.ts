/**
 * What every store of tasks does: one suite of scenarios, which each store passes over its real server. An instance stands for a process:
 * it has connections of its own. Time is the callers', so that hours pass here without waiting.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { eventually } from '../../../_eventually.ts'
import { clockScenarios } from './_clocks.ts'
import { keepingScenarios } from './_keeping.ts'
import { listingScenarios } from './_listing.ts'
import { type Backend, type Instance, kept, newTask, next, type Stores, unique } from './_tasks.ts'
import { dueScenarios, limitScenarios } from './_times.ts'

export function taskStoreSuite(name: string, startBackend: () => Promise<Backend>): void {
  describe(`tasks in ${name}`, { timeout: 180_000 }, () => {
    let backend: Backend
    const open: Instance[] = []
    beforeAll(async () => {
      backend = await startBackend()
    }, 300_000)
    afterAll(() => backend?.stop())
    afterEach(async () => {
      vi.useRealTimers()
      for (const instance of open.splice(0)) await instance.close()
    })
    const connect: Stores['connect'] = async (options = {}) => {
      const instance = await backend.connect({ prefix: unique(), ...options })
      open.push(instance)
      return instance.store
    }
    const stores: Stores = {
      get backend() {
        return backend
      },
      connect,
      async connectTwo() {
        const prefix = unique()
        return [await connect({ prefix }), await connect({ prefix })]
      },
    }
    keepingScenarios(stores)
    listingScenarios(stores)
    limitScenarios(stores)
    dueScenarios(stores)
    clockScenarios(stores)
    otherScenarios(stores)
  })
}

function otherScenarios(stores: Stores): void {
  const { connect, connectTwo } = stores
  it('what has another prefix is not seen', async () => {
    const [here, there] = [await connect(), await connect()]
    const task = newTask({ dueAt: Date.now() })
    await kept(here, task)
    expect(await there.read(task.id)).toBeUndefined()
    expect(await there.replace(next(task))).toBe(false)
    expect(await there.due(Date.now(), 10)).toEqual([])
    const twin = { ...task, state: '[]', dueAt: null }
    expect(await there.create(twin, 1)).toBe(true)
    expect(await there.create(newTask(), 1)).toBe(false)
    expect(await here.read(task.id)).toEqual(task)
  })

  it('hundreds that are created, replaced and read at once', async () => {
    const both = await connectTwo()
    const tasks = Array.from({ length: stores.backend.burst ?? 500 }, (_, index) =>
      newTask({ owner: `owner ${index % 7}` }),
    )
    await Promise.all(tasks.map((task, index) => kept(both[index % 2]!, task)))
    const replaced = tasks.map((task) => next(task, { state: '[2]' }))
    const done = await Promise.all(replaced.map((task, index) => both[index % 2]!.replace(task)))
    expect(new Set(done)).toEqual(new Set([true]))
    const read = await Promise.all(tasks.map(({ id }) => both[0].read(id)))
    expect(read).toEqual(replaced)
  })

  describe('a store that is down', () => {
    it('rejects within its time limit, and recovers', async (context) => {
      if (stores.backend.outages === undefined) return context.skip()
      for (const outage of Object.values(stores.backend.outages)) {
        const store = await connect({ timeoutMs: 1000 })
        const task = await kept(store, newTask())
        await outage.begin()
        const calls = [
          () => store.read(task.id),
          () => store.create(newTask(), 10),
          () => store.replace(next(task)),
          ...(stores.backend.wakesItself ? [] : [() => store.due(Date.now(), 10)]),
          ...(store.list === undefined ? [] : [() => store.list!({ limit: 10 })]),
        ]
        for (const call of calls) {
          const startedAt = performance.now()
          const outcome = await call().then(
            () => 'resolved',
            (error: unknown) => error,
          )
          expect(outcome).toBeInstanceOf(Error)
          expect(String(outcome)).toMatch(/^[^\n]+$/)
          expect(performance.now() - startedAt).toBeLessThan(10_000)
        }
        await outage.end()
        const found = await eventually(() => store.read(task.id))
        // A write that was rejected may yet have been done.
        expect(found!.version).toBeLessThanOrEqual(2)
        expect(await eventually(() => store.create(newTask(), 1000))).toBe(true)
      }
    })
  })
}
