/** Writes of real stores that are rejected, lost, delayed, or the last one of their process. */
import { afterAll, beforeAll, describe } from 'vitest'
import type { KeyedStore } from '../../../src/keyed/store.ts'
import { faultScenarios } from '../../unit/mcp-events/_faults.ts'
import { hookScenarios } from '../../unit/mcp-events/_hooks.ts'
import { ENGINES, type Engine, within } from './_stores.ts'

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

  const open = async () => within(store, `${++lives}:`)
  faultScenarios(open, EVERY)
  hookScenarios(open, EVERY)
})
