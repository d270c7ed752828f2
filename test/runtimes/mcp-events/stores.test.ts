/** Events over real engines: two servers with one store. */
import { afterAll, beforeAll, describe } from 'vitest'
import { hookScenarios } from '../../unit/mcp-events/_hooks.ts'
import { letterScenarios } from './_letters.ts'
import { raceScenarios } from './_races.ts'
import { ENGINES, type Engine, within } from './_stores.ts'

/** Each fault has one write. `faults.test.ts` has each. */
const EVERY = 10

describe.each(Object.entries(ENGINES))('%s', (_name, start) => {
  let engine: Engine
  let places = 0
  beforeAll(async () => {
    engine = await start()
  })
  afterAll(() => engine?.stop())

  const connect = async () => {
    const place = `races_${++places}`
    return [engine.connect(place), engine.connect(place)] as const
  }
  raceScenarios(connect)
  letterScenarios(connect)
  describe('hooks', () => hookScenarios(async () => within(engine.connect('hooks'), `${++places}:`), EVERY))
})
