/** What is kept, and what replaces it. */
import { describe, expect, it } from 'vitest'
import type { TaskStore } from '../../../../src/tasks/store.ts'
import { HOUR_MS, kept, newTask, next, type Stores } from './_tasks.ts'

/** Clients may ask for anything. */
const FOREIGN_IDS = [
  '',
  ' ',
  'x'.repeat(65),
  'x'.repeat(100_000),
  "'; DROP TABLE mayfly_tasks; --",
  '"',
  '*',
  '../x',
  'a:b',
  '{x}',
  'ümläut',
  '🦋',
  '\u0000',
  '\ud800',
  'a\nb',
]

const ODD_TEXT = `"'\`\\ \u0000\u0001\n\r\t\u007f\u2028\u2029 $1 \${x} %s {{x}} ümläut 漢字 🦋 \ud800 \ufeff\uffff`

export function keepingScenarios({ connect, connectTwo }: Stores): void {
  describe('keeping', () => {
    it('what one process creates, each reads as it was', async () => {
      const [here, there] = await connectTwo()
      const tasks = [
        newTask(),
        newTask({ dueAt: Date.now() + 5, expiresAt: Date.now() + HOUR_MS, state: '{"a":[1]}' }),
        newTask({ isOpen: false, version: 7, owner: 'bob' }),
        newTask({ id: 'Az_0-', expiresAt: 8_000_000_000_000_000 }),
        newTask({ id: '-'.repeat(64), dueAt: 0 }),
        newTask({ id: '__proto__' }),
      ]
      for (const task of tasks) await kept(here, task)
      for (const task of tasks)
        for (const store of [here, there]) expect(await store.read(task.id)).toEqual(task)
    })

    it('an id is used once, whoever has it', async () => {
      const [here, there] = await connectTwo()
      const task = await kept(here, newTask())
      for (const owner of ['ann', 'bob'])
        await expect(there.create({ ...task, owner, state: '[]' }, 1000)).rejects.toThrow(
          'A task with this id already exists',
        )
      expect(await there.read(task.id)).toEqual(task)
    })

    it('of 20 processes that create one id at once, one does', async () => {
      const stores = await connectTwo()
      const task = newTask()
      const all = Array.from({ length: 20 }, (_, index) =>
        stores[index % 2]!.create({ ...task, owner: `owner ${index}`, state: String(index) }, 1000),
      )
      const outcomes = await Promise.allSettled(all)
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      const winner = outcomes.findIndex(({ status }) => status === 'fulfilled')
      expect((await stores[0].read(task.id))!.state).toBe(String(winner))
    })

    it('what cannot be an id is unknown, and never kept', async () => {
      const store = await connect()
      for (const id of FOREIGN_IDS) {
        expect(await store.read(id), id).toBeUndefined()
        await expect(store.create(newTask({ id }), 1000), id).rejects.toThrow(TypeError)
        await expect(store.replace(newTask({ id, version: 2 })), id).rejects.toThrow(TypeError)
      }
      for (const id of ['__proto__', 'constructor']) expect(await store.read(id)).toBeUndefined()
    })

    it('any text arrives as it was, also as the owner', async () => {
      const [here, there] = await connectTwo()
      const owner = ODD_TEXT.replaceAll('\u0000', '').replaceAll('\ud800', '')
      const task = await kept(here, newTask({ owner, state: JSON.stringify(ODD_TEXT) }))
      expect(await there.read(task.id)).toEqual(task)
      const other = next(task, { state: JSON.stringify([ODD_TEXT, ODD_TEXT]) })
      expect(await there.replace(other)).toBe(true)
      expect(await here.read(task.id)).toEqual(other)
      expect(await here.create(newTask({ owner }), 1)).toBe(false)
    })

    it.each([
      ['letters', '', 'a'],
      ['letters after one that takes two units', '🦋', 'a'],
      ['emoji', '', '🦋'],
    ])(
      'a state of as many bytes as it may have, of %s, is kept; one byte more is refused',
      async (_kind, first, text) => {
        const store = await connect()
        const size = store.maxStateBytes - 2 - Buffer.byteLength(first)
        const bytes = Buffer.byteLength(text)
        const full = `"${first}${text.repeat(size / bytes)}${'x'.repeat(size % bytes)}"`
        expect(Buffer.byteLength(full)).toBe(store.maxStateBytes)
        const task = newTask({ owner: 'o'.repeat(64), dueAt: Date.now(), expiresAt: Date.now() + HOUR_MS })
        const refusal = `has ${store.maxStateBytes + 1} bytes, but this store allows at most ${store.maxStateBytes}`

        const tooLong = { ...task, state: `${full} ` }
        await expect(store.create(tooLong, 1000)).rejects.toThrow(TypeError)
        await expect(store.create(tooLong, 1000)).rejects.toThrow(refusal)
        expect(await store.read(task.id)).toBeUndefined()

        await kept(store, { ...task, state: full })
        expect((await store.read(task.id))!.state === full).toBe(true)
        await expect(store.replace(next(task, { state: `${full} ` }))).rejects.toThrow(refusal)
        expect(await store.replace(next(task, { state: full }))).toBe(true)
      },
    )
  })

  describe('replacing', () => {
    it('only the version before it is replaced', async () => {
      const [here, there] = await connectTwo()
      const first = await kept(here, newTask())
      const second = next(first, { state: '[2]', dueAt: Date.now() + 1, expiresAt: Date.now() + HOUR_MS })
      for (const version of [1, 3, 0, 2 ** 31 - 1])
        expect(await there.replace({ ...second, version })).toBe(false)
      expect(await here.read(first.id)).toEqual(first)
      expect(await there.replace(second)).toBe(true)
      expect(await here.replace(second)).toBe(false)
      expect(await here.read(first.id)).toEqual(second)
      const third = next(second, { dueAt: null, expiresAt: null, isOpen: false })
      expect(await here.replace(third)).toBe(true)
      expect(await there.read(first.id)).toEqual(third)
    })

    it('what was never kept is not replaced', async () => {
      const store = await connect()
      const task = newTask({ version: 2 })
      expect(await store.replace(task)).toBe(false)
      expect(await store.read(task.id)).toBeUndefined()
    })

    it('of 100 that replace one version at once, one does', async () => {
      const stores = await connectTwo()
      const task = await kept(stores[0], newTask())
      const all = Array.from({ length: 100 }, (_, index) =>
        stores[index % 2]!.replace(next(task, { state: String(index) })),
      )
      const outcomes = await Promise.all(all)
      expect(outcomes.filter(Boolean)).toHaveLength(1)
      expect((await stores[0].read(task.id))!.state).toBe(String(outcomes.indexOf(true)))
    })

    it('of 100 that replace one version with the same text at once, one does', async () => {
      const stores = await connectTwo()
      const task = await kept(stores[0], newTask())
      const all = Array.from({ length: 100 }, (_, index) => stores[index % 2]!.replace(next(task)))
      expect((await Promise.all(all)).filter(Boolean)).toHaveLength(1)
    })

    it('no change is lost: ten that add to one number, ten times each, come to 100', async () => {
      const stores = await connectTwo()
      const { id } = await kept(stores[0], newTask({ state: '0' }))
      const addTen = async (store: TaskStore): Promise<void> => {
        for (let added = 0; added < 10; ) {
          const task = (await store.read(id))!
          if (await store.replace(next(task, { state: String(Number(task.state) + 1) }))) added++
        }
      }
      await Promise.all(Array.from({ length: 10 }, (_, index) => addTen(stores[index % 2]!)))
      expect(await stores[0].read(id)).toMatchObject({ state: '100', version: 101 })
    })
  })
}
