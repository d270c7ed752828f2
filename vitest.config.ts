import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Limits only end what hangs: the machine may be busy with other things, too.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    // Servers under test log a line per request: shown where a test fails.
    silent: 'passed-only',
    // Hundreds of tests start the command line from its TypeScript sources: compiled once, that takes a third of the time.
    env: { NODE_COMPILE_CACHE: fileURLToPath(new URL('node_modules/.cache/node', import.meta.url)) },
    // The machines that run these have two cores, and the runtimes under test want some of them.
    maxWorkers: 2,
  },
})
