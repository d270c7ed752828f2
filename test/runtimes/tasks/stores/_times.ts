/** What is limited, has expired, and is due. */
import { describe, expect, it } from 'vitest'
import type { StoredTask } from '../../../../src/tasks/store.ts'
import { eventually } from '../../../_eventually.ts'
import { HOUR_MS, kept, newTask, next, passTime, type Stores } from './_tasks.ts'

export function limitScenarios({ connect, connectTwo }: Stores): void {
  describe('the open tasks of an owner', () => {
    it('are limited; those that have ended, and those of others, do not count', async () => {
      const [here, there] = await connectTwo()
      const first = newTask()
      const second = newTask()
      for (const task of [first, second, newTask({ isOpen: false })]) await kept(here, task)
      const refused = newTask()
      expect(await there.create(refused, 2)).toBe(false)
      expect(await there.read(refused.id)).toBeUndefined()
      expect(await there.create(newTask({ owner: 'bob' }), 2)).toBe(true)
      // Still open, so it counts as before, and once.
      const replaced = next(first, { dueAt: Date.now() + HOUR_MS, expiresAt: Date.now() + HOUR_MS })
      expect(await here.replace(replaced)).toBe(true)
      expect(await there.create(refused, 2)).toBe(false)
      expect(await here.create(newTask(), 3)).toBe(true)
      expect(await here.create(newTask(), 3)).toBe(false)

      expect(await here.replace(next(replaced, { isOpen: false }))).toBe(true)
      expect(await there.create(refused, 3)).toBe(true)
      expect(await there.create(newTask(), 3)).toBe(false)
    })

    it('none is kept where none may be, and any number where no limit is', async () => {
      const store = await connect()
      expect(await store.create(newTask(), 0)).toBe(false)
      expect(await store.create(newTask(), Number.POSITIVE_INFINITY)).toBe(true)
      expect(await store.create(newTask(), Number.MAX_SAFE_INTEGER)).toBe(true)
    })

    it('50 at once, of which 10 may be open: 10 are, and 10 again when those have ended', async () => {
      const stores = await connectTwo()
      let before: StoredTask[] = []
      for (const round of [1, 2]) {
        for (const task of before) expect(await stores[0].replace(next(task, { isOpen: false }))).toBe(true)
        const tasks = Array.from({ length: 50 }, () => newTask({ expiresAt: Date.now() + round * HOUR_MS }))
        const made = await Promise.all(tasks.map((task, index) => stores[index % 2]!.create(task, 10)))
        before = tasks.filter((_, index) => made[index])
        expect(before).toHaveLength(10)
        for (const [index, task] of tasks.entries())
          expect(await stores[0].read(task.id)).toEqual(made[index] ? task : undefined)
      }
    })
  })

  describe('what has expired', () => {
    it('is not read, replaced or counted, and its id is free', async () => {
      const [here, there] = await connectTwo()
      const expiresAt = Date.now() + HOUR_MS
      const task = await kept(here, newTask({ expiresAt, dueAt: Date.now() }))
      passTime(HOUR_MS - 10_000)
      expect(await there.read(task.id)).toEqual(task)
      expect(await there.create(newTask(), 1)).toBe(false)
      passTime(10_000)
      expect(await there.read(task.id)).toBeUndefined()
      expect(await there.replace(next(task, { expiresAt: null }))).toBe(false)
      expect(await there.read(task.id)).toBeUndefined()
      expect(await there.create(newTask(), 1)).toBe(true)
      const again = newTask({ id: task.id, owner: 'bob' })
      expect(await there.create(again, 1)).toBe(true)
      expect(await here.read(task.id)).toEqual(again)
    })

    it('an end that was put off, or taken away, holds; so does one that was brought forward', async () => {
      const store = await connect()
      const end = Date.now() + HOUR_MS
      const later = await kept(store, newTask({ owner: 'later', expiresAt: end }))
      const never = await kept(store, newTask({ owner: 'never', expiresAt: end }))
      const sooner = await kept(store, newTask({ owner: 'sooner', expiresAt: end + 9 * HOUR_MS }))
      for (const [task, expiresAt] of [
        [later, end + HOUR_MS],
        [never, null],
        [sooner, end],
      ] as const)
        expect(await store.replace(next(task, { expiresAt }))).toBe(true)
      passTime(HOUR_MS)
      for (const [task, isThere] of [
        [later, true],
        [never, true],
        [sooner, false],
      ] as const) {
        expect((await store.read(task.id)) !== undefined).toBe(isThere)
        expect(await store.create(newTask({ owner: task.owner }), 1)).toBe(!isThere)
      }
    })

    it('goes by itself, by the real clock', async () => {
      const store = await connect()
      const task = await kept(store, newTask({ expiresAt: Date.now() + 300, dueAt: Date.now() }))
      await eventually(async () => expect(await store.read(task.id)).toBeUndefined())
      expect(await store.replace(next(task))).toBe(false)
      expect(await store.create(newTask(), 1)).toBe(true)
      expect(await store.due(Date.now(), 10)).toEqual([])
    })
  })
}

export function dueScenarios(stores: Stores): void {
  const { connect, connectTwo } = stores
  describe.each([undefined, 'shop'])('due tasks of the server %s', (server) => {
    const taskOf = (more: Partial<StoredTask>): StoredTask => newTask({ server, ...more })
    const options = server === undefined ? {} : { server }

    it('are told in order, the earliest first; not what waits, has ended, expires or comes later', async () => {
      const [here, there] = await connectTwo()
      const now = Date.now()
      const expected = [now - 3 * HOUR_MS, now - HOUR_MS, now - 2, now - 1, now].map((dueAt) =>
        taskOf({ dueAt }),
      )
      const others = [
        taskOf({ dueAt: null }),
        taskOf({ dueAt: now + 1 }),
        taskOf({ dueAt: now - 5, isOpen: false }),
        taskOf({ dueAt: now - HOUR_MS, expiresAt: now }),
      ]
      for (const task of [...expected, ...others].sort((a, b) => (a.id < b.id ? -1 : 1)))
        await kept(here, task)
      const ids = stores.backend.wakesItself ? [] : expected.map(({ id }) => id)
      for (const limit of [0, 1, 2, 5, 100])
        await eventually(async () =>
          expect(await there.due(now, limit, options)).toEqual(ids.slice(0, limit)),
        )
      expect(await there.due(now - 2 * HOUR_MS, 100, options)).toEqual(ids.slice(0, 1))
    })

    it('change with each replacement', async () => {
      const [here, there] = await connectTwo()
      const now = Date.now()
      const expectDue = (...tasks: StoredTask[]) =>
        eventually(async () =>
          expect(await there.due(now, 10, options)).toEqual(
            stores.backend.wakesItself ? [] : tasks.map(({ id }) => id),
          ),
        )
      let one = await kept(here, taskOf({ dueAt: now - 2 }))
      let other = await kept(here, taskOf({ dueAt: null }))
      await expectDue(one)
      const change = async (task: StoredTask, more: Partial<StoredTask>): Promise<StoredTask> => {
        const changed = next(task, more)
        expect(await here.replace(changed)).toBe(true)
        return changed
      }
      other = await change(other, { dueAt: now - 3 })
      await expectDue(other, one)
      other = await change(other, { dueAt: now - 1 })
      await expectDue(one, other)
      one = await change(one, { dueAt: now + HOUR_MS })
      await expectDue(other)
      one = await change(one, { dueAt: now - 5, expiresAt: now - 1 })
      other = await change(other, { isOpen: false })
      await expectDue()
    })

    it('300 of them, told in parts of 70, each once', async (context) => {
      if (stores.backend.wakesItself) return context.skip()
      const store = await connect()
      const now = Date.now()
      const tasks = Array.from({ length: 300 }, (_, index) =>
        taskOf({ dueAt: now - index, ...(index % 3 === 0 && { expiresAt: now + HOUR_MS - index }) }),
      )
      await Promise.all(tasks.map((task) => kept(store, task)))
      const told: string[] = []
      for (;;) {
        const ids = await store.due(now, 70, options)
        if (ids.length === 0) break
        expect(ids.length).toBeLessThanOrEqual(70)
        told.push(...ids)
        for (const id of ids) await store.replace(next((await store.read(id))!, { dueAt: null }))
      }
      expect(told).toEqual(tasks.map(({ id }) => id).reverse())
      // Those that will have expired stand before those that will not have.
      for (const { id } of tasks) await store.replace(next((await store.read(id))!, { dueAt: now - 1 }))
      expect(await store.due(now + HOUR_MS, 1000, options)).toHaveLength(200)
      expect(await store.due(now + HOUR_MS, 199, options)).toHaveLength(199)
    })
  })

  describe('due tasks of several', () => {
    it('a server is told its own, and those of no server; all are told without one', async () => {
      const [here, there] = await connectTwo()
      const now = Date.now()
      const own = newTask({ dueAt: now - 3, server: 'shop' })
      const old = newTask({ dueAt: now - 2 })
      const foreign = newTask({ dueAt: now - 1, server: 'bank' })
      for (const task of [own, old, foreign]) await kept(here, task)
      for (const task of [own, old, foreign]) expect(await there.read(task.id)).toEqual(task)
      const expectDue = (server: string | undefined, ...tasks: StoredTask[]) =>
        eventually(async () =>
          expect(await there.due(now, 10, server === undefined ? {} : { server })).toEqual(
            stores.backend.wakesItself ? [] : tasks.map(({ id }) => id),
          ),
        )
      await expectDue('shop', own, old)
      await expectDue('bank', old, foreign)
      await expectDue(undefined, own, old, foreign)
      expect(await here.replace(next(own, { dueAt: now - 1 }))).toBe(true)
      expect(await there.read(own.id)).toMatchObject({ server: 'shop' })
      await expectDue('shop', old, own)
      expect(await here.replace(next(old, { dueAt: null }))).toBe(true)
      expect(await here.replace({ ...own, version: 3, isOpen: false })).toBe(true)
      await expectDue('shop')
      await expectDue('bank', foreign)
    })

    it('are counted, with the time of the first: those of a server and of none, and no others', async () => {
      const [here, there] = await connectTwo()
      const now = Date.now()
      // A store whose clock wakes each task cannot tell.
      expect(here.stats === undefined).toBe(stores.backend.wakesItself === true)
      if (here.stats === undefined) return
      const expectDue = (server: string, due: number, oldestDueAt: number | null) =>
        eventually(async () => expect(await there.stats!(now, { server })).toEqual({ due, oldestDueAt }))
      await expectDue('shop', 0, null)
      const own = Array.from({ length: 30 }, (_, index) =>
        newTask({ server: 'shop', owner: `owner ${index % 7}`, dueAt: now - 100 - index }),
      )
      const none = newTask({ dueAt: now - 50 })
      const others = [
        newTask({ server: 'bank', dueAt: now - HOUR_MS }),
        newTask({ server: 'shop', dueAt: null }),
        newTask({ server: 'shop', dueAt: now + 1 }),
        newTask({ server: 'shop', dueAt: now - HOUR_MS, isOpen: false }),
        newTask({ server: 'shop', dueAt: now - HOUR_MS, expiresAt: now }),
        newTask({ dueAt: now - HOUR_MS, expiresAt: now - 1 }),
      ]
      for (const task of [...own, none, ...others]) await kept(here, task)
      await expectDue('shop', 31, now - 129)
      await expectDue('bank', 2, now - HOUR_MS)
      for (const task of own) expect(await here.replace(next(task, { dueAt: null }))).toBe(true)
      await expectDue('shop', 1, now - 50)
      expect(await here.replace(next(none, { dueAt: now + 1 }))).toBe(true)
      await expectDue('shop', 0, null)
    })

    it('an owner with hundreds of them delays no other', async (context) => {
      if (stores.backend.wakesItself) return context.skip()
      const store = await connect()
      const now = Date.now()
      const of = (owner: string, dueAt: number) => newTask({ owner, dueAt, server: 'shop' })
      const many = Array.from({ length: 300 }, (_, index) => of('many', now - 1000 + index))
      const others = Array.from({ length: 30 }, (_, index) => of(`owner ${index}`, now - 30 + index))
      await Promise.all([...many, ...others].map((task) => kept(store, task)))
      const query = { server: 'shop', perOwner: 5 }
      const isOther = (id: string) => others.some((task) => task.id === id)
      const found = await eventually(async () => {
        const ids = await store.due(now, 20, query)
        expect(ids).toHaveLength(20)
        return ids
      })
      expect(new Set(found).size).toBe(20)
      expect(found.filter(isOther).length).toBeGreaterThanOrEqual(stores.backend.fairShare ?? 15)
      // Alone it has the whole page.
      await Promise.all(others.map((task) => store.replace(next(task, { dueAt: null }))))
      await eventually(async () => {
        const ids = await store.due(now, 20, query)
        expect(ids).toHaveLength(20)
        expect(ids.some(isOther)).toBe(false)
      })
    })
  })
}
