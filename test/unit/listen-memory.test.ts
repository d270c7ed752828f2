/** Nothing of a stream that was aborted stays behind. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const SCRIPT = fileURLToPath(new URL('aborted-streams.ts', import.meta.url))
const MEGABYTE = 1_000_000

it('10 000 opened and aborted streams → a flat heap, no subscription to the bus, and the process ends [listen.cancel]', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', SCRIPT])
  const { early, late, subscriptions } = JSON.parse(stdout) as { [name: string]: number }

  expect(subscriptions).toBe(0)
  // Kept, the filters alone would be 20 MB.
  expect(late! - early!).toBeLessThan(2 * MEGABYTE)
}, 300_000)
