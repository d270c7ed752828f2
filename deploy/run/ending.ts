/**
 * How this process ends: `atExit` tidies up on every way out but SIGKILL, `onInterrupt` decides what a signal does,
 * `afterDeath` is for cleanup that must happen even after SIGKILL.
 */

import { afterDeath as runAfterDeath } from '../../adapters/_stdio/after-death.ts'
import { textOf } from '../../src/definition/error-text.ts'
import { flushOutput, watchOutput } from '../terminal/output.ts'
import { systemError } from '../terminal/system-error.ts'
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
      terminal.warn(textOf(error))
    }
  }
}

const leave = (interruption: Interruption): void => {
  if (interruption === 'SIGPIPE') void finish(interruptedCode(interruption))
  else process.exit(interruptedCode(interruption))
}
let interrupt = leave

/** Called once by the command line. From then on a signal or an output that fails shuts this process down in order. */
export function listenForSignals(): void {
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) process.on(signal, () => interrupt(signal))
  watchOutput(() => interrupt('SIGPIPE'))
  if (process.env.npm_lifecycle_event !== undefined) endWithScript()
}

let finishing: Promise<never> | undefined

/**
 * Ends this process once its output has arrived. If stdout cannot be written, says so and exits with 1. If its reader has closed, exits with
 * 141, as a shell reports SIGPIPE; a command that serves has then ended in order, with its own exit code.
 */
export function finish(code: number): Promise<never> {
  finishing ??= flushAndExit(code)
  return finishing
}

async function flushAndExit(code: number): Promise<never> {
  const failure = await flushOutput()
  if (failure === undefined) process.exit(code)
  const { stream, error } = failure
  if (error.code === 'EPIPE') process.exit(interrupt === leave ? interruptedCode('SIGPIPE') : code)
  if (stream === process.stdout) terminal.warn(systemError('write error on stdout', error).message)
  process.exit(1)
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

const SIGNAL_MS = 50

/** Waits for a signal that was sent already. Ctrl+C also ends esbuild and other children, whose end may be noticed before it. */
export function signalsSent(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, SIGNAL_MS))
}

/** Until the returned function is called, a signal only calls `listener`. */
export function onInterrupt(listener: (interruption: Interruption) => void): () => void {
  const before = interrupt
  interrupt = listener
  return () => {
    interrupt = before
  }
}

/**
 * Runs a POSIX shell script after this process has ended, however it ended, unless the returned function was called before. Windows has no
 * such shell: there only `atExit` cleans up.
 */
export function afterDeath(script: string, args: readonly string[]): () => void {
  if (process.platform === 'win32') return () => {}
  return runAfterDeath(script, args, ({ code }) =>
    terminal.warn(`cannot run /bin/sh (${code}): nothing is cleaned up if this process is killed`),
  )
}
