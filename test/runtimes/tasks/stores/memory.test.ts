/** The suite of every store, over the memory of a process; and that many tasks cost little there. */
import { expect, it } from 'vitest'
import { createMemoryTaskStore } from '../../../../src/tasks/memory-store.ts'
import type { TaskStore } from '../../../../src/tasks/store.ts'
import { taskStoreSuite } from './suite.ts'

taskStoreSuite('memory', async () => {
  const stores = new Map<string, TaskStore>()
  return {
    async connect({ prefix }) {
      const store = stores.get(prefix) ?? createMemoryTaskStore()
      stores.set(prefix, store)
      return { store, close: () => {} }
    },
    stop: () => {},
  }
})

it('20 000 tasks of one owner, polled as they come and end', async () => {
  const store = createMemoryTaskStore()
  const now = Date.now()
  const task = { owner: 'ann', version: 1, isOpen: true, dueAt: now, expiresAt: now + 3_600_000, state: '{}' }
  for (let index = 0; index < 20_000; index++) {
    await store.create({ ...task, id: `task-${index}` }, 20_000)
    if (index % 1000 === 0) expect(await store.due(now, 1)).toEqual(['task-0'])
  }
  expect(await store.create({ ...task, id: 'one-more' }, 20_000)).toBe(false)
  for (let index = 0; index < 20_000; index++)
    await store.replace({ ...task, id: `task-${index}`, version: 2, isOpen: false, dueAt: null })
  expect(await store.due(now, 1)).toEqual([])
  expect(await store.create({ ...task, id: 'one-more' }, 1)).toBe(true)
})

it('ended tasks take at most 64 MB: the oldest are forgotten, open ones never', async () => {
  const store = createMemoryTaskStore()
  const task = { owner: 'ann', version: 1, isOpen: true, dueAt: null, expiresAt: null, state: '{}' }
  await store.create({ ...task, id: 'open', state: JSON.stringify('x'.repeat(500_000)) }, 1000)
  for (let index = 0; index < 200; index++) {
    await store.create({ ...task, id: `task-${index}` }, 1000)
    // Each a string of its own.
    const state = JSON.stringify(String(index).padEnd(500_000))
    await store.replace({ ...task, id: `task-${index}`, version: 2, isOpen: false, state })
  }
  const left = await Promise.all(Array.from({ length: 200 }, (_, index) => store.read(`task-${index}`)))
  expect(left.filter((one) => one !== undefined)).toHaveLength(63)
  expect(left.slice(-63).every((one) => one !== undefined)).toBe(true)
  expect(await store.read('open')).toBeDefined()
})
