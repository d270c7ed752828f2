/**
 * Files of one thread share their globals. A listener of Hono may put its own `Request` and `Response` there, and a spy on a fake timer
 * restores that fake one: each file gets Node's. What an earlier file left running waits while a test has a clock of its own, whose timers
 * that test may count.
 */
const THREAD = Symbol.for('mayfly.test.thread')
const NAMES = [
  'Request',
  'Response',
  'Date',
  'setTimeout',
  'clearTimeout',
  'setInterval',
  'clearInterval',
] as const

interface Thread {
  readonly kept: ReadonlyMap<string, PropertyDescriptor>
  /** The number of the file that runs. */
  file: number
}

type Callback = (...given: unknown[]) => void

const global = globalThis as { [THREAD]?: Thread }
global[THREAD] ??= createThread()
global[THREAD].file++
for (const [name, descriptor] of global[THREAD].kept) Object.defineProperty(globalThis, name, descriptor)

function createThread(): Thread {
  const { setTimeout, setInterval } = globalThis
  const thread: Thread = {
    kept: new Map(
      NAMES.map((name) => {
        const { enumerable = false } = Object.getOwnPropertyDescriptor(globalThis, name)!
        const value = name === 'setTimeout' ? later : name === 'setInterval' ? repeatedly : globalThis[name]
        return [name, { value, writable: true, configurable: true, enumerable }]
      }),
    ),
    file: 0,
  }
  /** Whether it is of an earlier file, and a test has a clock of its own. */
  const mustWait = (file: number): boolean => file !== thread.file && globalThis.setTimeout !== later

  function later(callback: Callback, ms?: number, ...given: unknown[]): NodeJS.Timeout {
    const { file } = thread
    const timer = setTimeout(() => (mustWait(file) ? timer.refresh() : callback(...given)), ms)
    return timer
  }
  function repeatedly(callback: Callback, ms?: number, ...given: unknown[]): NodeJS.Timeout {
    const { file } = thread
    return setInterval(() => mustWait(file) || callback(...given), ms)
  }
  Object.defineProperties(later, Object.getOwnPropertyDescriptors(setTimeout))
  return thread
}

export {}
