/**
 * Processor time: a machine that is busy with other things stretches that of a clock, and this far less. For tests with a process of
 * their own (`MEASURING`, `GROWTH` and `LONG` in vitest.config.ts).
 */
import { isMainThread } from 'node:worker_threads'

/** Milliseconds of it that this process has used so far. Throws in a thread: there it counts what the tests of other threads do. */
export function cpuMs(): number {
  const { user, system } = usage()
  return (user + system) / 1000
}

/** As `cpuMs`, without the system's part: where memory is given by a host, a first use of it takes many times as long as the work in it. */
export function ownCpuMs(): number {
  return usage().user / 1000
}

function usage(): NodeJS.CpuUsage {
  if (!isMainThread)
    throw new Error(
      'Processor time is measured beside the tests of other threads: move the test to test/property/growth-processor-time.test.ts.',
    )
  return process.cpuUsage()
}
