/** Nothing of a suspended call stays in memory. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const SCRIPT = fileURLToPath(new URL('suspended-calls.ts', import.meta.url))
const MEGABYTE = 1_000_000

it('100 000 suspended calls → a flat heap [ask.memory]', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', SCRIPT])
  const { early, late } = JSON.parse(stdout) as { early: number; late: number }

  // Kept, the ballast of the 80 000 calls between the two would be 80 MB.
  expect(late - early).toBeLessThan(2 * MEGABYTE)
}, 300_000)
