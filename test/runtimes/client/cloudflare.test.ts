/** In workerd. */
import { expect, it } from 'vitest'
import { clientScenarios } from './_scenarios.ts'
import { bundleForWorkerd, startInWorkerd } from './_workerd.ts'

const WORKER = `${import.meta.dirname}/_worker.ts`

it('the bundle names no module of Node’s, and starts no process', async () => {
  const code = await bundleForWorkerd(WORKER)

  expect(code).not.toMatch(/["'`]node:/)
  expect(code).not.toMatch(/child_process|cross-spawn/)
})

clientScenarios('workerd', () => startInWorkerd(WORKER))
