/** Events over real engines: two servers with one store. */
import { afterAll, beforeAll, describe } from 'vitest'
import { raceScenarios } from './_races.ts'
import { ENGINES, type Engine } from './_stores.ts'

describe.each(Object.entries(ENGINES))('%s', (_name, start) => {
  let engine: Engine
  let places = 0
  beforeAll(async () => {
    engine = await start()
  })
  afterAll(() => engine?.stop())

  raceScenarios(async () => {
    const place = `races_${++places}`
    return [engine.connect(place), engine.connect(place)]
  })
})
