import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 20_000,
    // Servers under test log a line per request: shown where a test fails.
    silent: 'passed-only',
    hookTimeout: 60_000,
    // The machines that run these have two cores, and the runtimes under test want some of them.
    maxWorkers: 2,
  },
})
