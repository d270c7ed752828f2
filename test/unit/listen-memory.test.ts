/** What an open stream takes, and that nothing of one that was aborted stays behind. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const MEGABYTE = 1_000_000

/** What a script prints, in a process of its own. */
async function run(script: string): Promise<{ [name: string]: number }> {
  const path = fileURLToPath(new URL(script, import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', path])
  return JSON.parse(stdout)
}

it('10 000 opened and aborted streams → a flat heap, no subscription to the bus, and the process ends [listen.cancel]', async () => {
  const { early, late, subscriptions } = await run('aborted-streams.ts')

  expect(subscriptions).toBe(0)
  // Kept, the filters alone would be 20 MB.
  expect(late! - early!).toBeLessThan(2 * MEGABYTE)
}, 300_000)

it('an open stream of 1000 URIs stores these once, and little else [listen.memory]', async () => {
  const { bytes } = await run('open-streams.ts')

  // The URIs alone are 95 000 characters. With its acknowledgement and copies, a stream took 370 000.
  expect(bytes).toBeLessThan(220_000)
}, 300_000)
