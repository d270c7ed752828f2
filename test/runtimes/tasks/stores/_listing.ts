/** What is listed: every task that is kept, open or ended, in pages. */
import { describe, expect, it } from 'vitest'
import type { ListOptions, StoredTask, TaskStore } from '../../../../src/tasks/store.ts'
import { HOUR_MS, kept, newTask, next, passTime, type Stores } from './_tasks.ts'

const byId = (one: StoredTask, other: StoredTask): number => (one.id < other.id ? -1 : 1)

/** All pages. */
async function listAll(
  store: TaskStore,
  options: ListOptions,
): Promise<{ tasks: StoredTask[]; pages: number }> {
  const tasks: StoredTask[] = []
  let after: string | undefined
  for (let pages = 1; ; pages++) {
    const page = await store.list!({ ...options, ...(after !== undefined && { after }) })
    // A store with pages of its own may return a few more.
    expect(page.tasks.length).toBeLessThanOrEqual(options.limit + 20)
    tasks.push(...page.tasks)
    after = page.next
    if (after === undefined) return { tasks: tasks.sort(byId), pages }
    expect(after).toMatch(/^[\w-]{1,4096}$/)
  }
}

export function listingScenarios(stores: Stores): void {
  const { connect, connectTwo } = stores
  describe('listing', () => {
    it('each task once, open or ended, as it was, with any limit', async (context) => {
      const [here, there] = await connectTwo()
      if (here.list === undefined) return context.skip()
      const tasks = [
        newTask({ id: '__proto__' }),
        newTask({ id: '-'.repeat(64), dueAt: 5 }),
        newTask({ isOpen: false, expiresAt: Date.now() + HOUR_MS, state: '{"a":"🦋"}' }),
        ...Array.from({ length: 40 }, (_, index) =>
          newTask({ owner: `owner ${index % 3}`, server: 'shop', dueAt: index % 2 === 0 ? index : null }),
        ),
      ]
      for (const task of tasks) await kept(here, task)
      for (const limit of [1, 7, 20, 100])
        expect((await listAll(there, { limit })).tasks).toEqual([...tasks].sort(byId))
      expect((await listAll(there, { limit: 7 })).pages).toBeGreaterThan(1)
      const replaced = next(tasks[0]!, { state: '[2]', isOpen: false })
      await here.replace(replaced)
      expect((await listAll(there, { limit: 100 })).tasks).toContainEqual(replaced)
    })

    it('a server sees its own tasks and those without one, among thousands of others', async (context) => {
      const store = await connect()
      if (store.list === undefined) return context.skip()
      const own = [newTask({ server: 'shop' }), newTask(), newTask({ server: 'shop', isOpen: false })]
      const others = Array.from({ length: stores.backend.burst ?? 500 }, () => newTask({ server: 'bank' }))
      for (const task of [...own, newTask({ server: 'shopping' })]) await kept(store, task)
      await Promise.all(others.map((task) => kept(store, task)))
      expect((await listAll(store, { server: 'shop', limit: 2 })).tasks).toEqual([...own].sort(byId))
      expect((await listAll(store, { server: 'closed', limit: 2 })).tasks).toEqual([own[1]])
    })

    it('what has expired, or has another prefix, is not listed', async (context) => {
      const [here, there] = [await connect(), await connect()]
      if (here.list === undefined) return context.skip()
      const task = await kept(here, newTask({ expiresAt: Date.now() + 2 * HOUR_MS }))
      await kept(here, newTask({ expiresAt: Date.now() + HOUR_MS }))
      await kept(there, newTask())
      passTime(HOUR_MS)
      expect(await listAll(here, { limit: 10 })).toMatchObject({ tasks: [task] })
    })

    it('an "after" that is no cursor → a TypeError, or nothing', async (context) => {
      const store = await connect()
      if (store.list === undefined) return context.skip()
      await kept(store, newTask())
      for (const after of ["'; DROP", ' ', '{}', '\u0000', '🦋']) {
        const outcome = await store.list({ limit: 1, after }).catch((error: unknown) => error)
        if (outcome instanceof Error) expect(outcome, after).toBeInstanceOf(TypeError)
      }
    })
  })
}
