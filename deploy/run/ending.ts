/**
 * How this process ends: `atExit` tidies up on every way out but SIGKILL, `onInterrupt` decides what a signal does,
 * `afterDeath` is for cleanup that must happen even after SIGKILL.
 */
import { afterDeath as runAfterDeath } from '../../adapters/_stdio/after-death.ts'
import { terminal } from '../terminal/terminal.ts'

/** A signal, or `SIGPIPE` when the reader of our output has closed. */
export type Interruption = 'SIGHUP' | 'SIGINT' | 'SIGTERM' | 'SIGPIPE'

const NUMBERS: { readonly [name in Interruption]: number } = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGPIPE: 13,
  SIGTERM: 15,
}

const tasks = new Set<() => void>()

/** The exit code that a shell reports: 130 for SIGINT. */
export function interruptedCode(interruption: Interruption): number {
  return 128 + NUMBERS[interruption]
}

/** Runs `task` when this process ends, unless the returned function was called before. `task` must be synchronous. */
export function atExit(task: () => void): () => void {
  if (tasks.size === 0) process.on('exit', runTasks)
  tasks.add(task)
  return () => {
    tasks.delete(task)
    if (tasks.size === 0) process.off('exit', runTasks)
  }
}

function runTasks(): void {
  for (const task of tasks) {
    try {
      task()
    } catch (error) {
      // The other tasks must still run.
      terminal.warn((error as Error).message)
    }
  }
}

let interrupt = (interruption: Interruption): void => process.exit(interruptedCode(interruption))

/** Called once by the command line. From then on a signal or a closed output shuts this process down in order. */
export function listenForSignals(): void {
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) process.on(signal, () => interrupt(signal))
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => interrupt('SIGPIPE'))
  if (process.env.npm_lifecycle_event !== undefined) endWithScript()
}

const PARENT_POLL_MS = 250

/** npm forwards a signal only to the shell that runs a script (npm 10, 11): the shell ends, but its command does not. */
function endWithScript(): void {
  const shell = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === shell) return
    clearInterval(timer)
    interrupt('SIGTERM')
  }, PARENT_POLL_MS)
  timer.unref()
}

/** Until the returned function is called, a signal only calls `listener`. */
export function onInterrupt(listener: (interruption: Interruption) => void): () => void {
  const before = interrupt
  interrupt = listener
  return () => {
    interrupt = before
  }
}

/** Runs a POSIX shell script after this process has ended, however it ended, unless the returned function was called before. */
export function afterDeath(script: string, args: readonly string[]): () => void {
  return runAfterDeath(script, args, ({ code }) =>
    terminal.warn(`cannot run /bin/sh (${code}): nothing is cleaned up if this process is killed`),
  )
}
