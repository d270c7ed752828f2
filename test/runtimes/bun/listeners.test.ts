/** Whom the adapter guards against DNS rebinding on real Bun, which says `localhost` when it listens on all interfaces. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

it('a foreign Host → 403 over loopback alone, however Bun listens [guard.rebinding]', async () => {
  const { stdout } = await promisify(execFile)('bun', [join(import.meta.dirname, '_listeners.ts')])
  expect(JSON.parse(stdout)).toEqual(
    ['none', '127.0.0.1', '0.0.0.0'].flatMap((hostname) => [
      [hostname, 'its own', 403],
      [hostname, '192.0.2.9', 200],
    ]),
  )
})
