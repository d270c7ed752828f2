/** Processor time: a machine that is busy with other things stretches that of a clock, and not this. */

// The whole process, with the threads of other tests, only on a Node that cannot tell one thread's: before 22.19 and 23.9.
const usage = (process.threadCpuUsage ?? process.cpuUsage).bind(process)

/** Milliseconds of it that this thread has used so far. */
export function cpuMs(): number {
  const { user, system } = usage()
  return (user + system) / 1000
}

/** As `cpuMs`, without the system's part: where memory is given by a host, a first use of it takes many times as long as the work in it. */
export function ownCpuMs(): number {
  return usage().user / 1000
}
