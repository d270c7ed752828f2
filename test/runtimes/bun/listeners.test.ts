/** What only real Bun shows: whom the adapter guards against DNS rebinding (Bun says `localhost` when it listens on all interfaces), and its error page. */
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

it('an app that throws → 500 without the reason or the source, also in development', async () => {
  const script = join(import.meta.dirname, '_failing-app.ts')
  const { stdout } = await promisify(execFile)('bun', [script], {
    env: { ...process.env, NODE_ENV: 'development' },
  })
  const [status, body] = JSON.parse(stdout) as [number, string]
  expect(status).toBe(500)
  expect(body).not.toMatch(/secret|_failing-app|<html/i)
})

it('a port in use → Bun’s error, and no second server that gets half of the calls', async () => {
  const { stdout } = await promisify(execFile)('bun', [join(import.meta.dirname, '_port.ts')])
  expect(JSON.parse(stdout)).toEqual(['EADDRINUSE', 'EADDRINUSE'])
})
