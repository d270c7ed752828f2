/** Writes of real stores that are rejected, lost, delayed, or the last one of their process. */
import { afterAll, beforeAll, describe } from 'vitest'
import type { KeyedStore } from '../../../src/keyed/store.ts'
import { faultScenarios } from '../../unit/mcp-events/_faults.ts'
import { ENGINES, type Engine } from './_stores.ts'

/** `npm run test:crashes` has each write; otherwise each fault has one. */
const EVERY = process.env.MAYFLY_FAULTS === undefined ? 40 : 1

describe.each(Object.entries(ENGINES))('%s', (_name, start) => {
  let engine: Engine
  let store: KeyedStore
  let lives = 0
  beforeAll(async () => {
    engine = await start()
    store = engine.connect('faults')
  })
  afterAll(() => engine?.stop())

  faultScenarios(async () => within(store, `${++lives}:`), EVERY)
})

/** The entries whose keys begin so: faster than a new table. */
function within(store: KeyedStore, prefix: string): KeyedStore {
  return {
    ...store,
    read: (key) => store.read(prefix + key),
    commit: (version, writes) =>
      store.commit(
        version,
        writes.map((write) => ({ ...write, key: prefix + write.key })),
      ),
    async list({ after, ...options }) {
      const { keys, next } = await store.list({
        ...options,
        prefix: prefix + options.prefix,
        ...(after !== undefined && { after: prefix + after }),
      })
      const own = keys.map((key) => key.slice(prefix.length))
      return { keys: own, ...(next !== undefined && { next: next.slice(prefix.length) }) }
    },
  }
}
