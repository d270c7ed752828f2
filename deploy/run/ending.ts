/**
 * How this process ends: `atExit` tidies up on every way out but SIGKILL, `onInterrupt` decides what a signal does,
 * `afterDeath` is for what must happen after SIGKILL too.
 */
import { afterDeath as runAfterDeath } from '../../adapters/_stdio/after-death.ts'
import { terminal } from '../terminal/terminal.ts'

/** A signal, or `SIGPIPE` when what read our output has gone. */
export type Interruption = 'SIGHUP' | 'SIGINT' | 'SIGTERM' | 'SIGPIPE'

const NUMBERS: { readonly [name in Interruption]: number } = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGPIPE: 13,
  SIGTERM: 15,
}

const tasks = new Set<() => void>()

/** As a shell reports it: 130 for SIGINT. */
export function interruptedCode(interruption: Interruption): number {
  return 128 + NUMBERS[interruption]
}

/** Runs `task` when this process ends, unless what is returned was called before. It must be synchronous. */
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

/** Called once by the command line: from then on a signal ends this process in order, and so does a closed output. */
export function listenForSignals(): void {
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) process.on(signal, () => interrupt(signal))
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => interrupt('SIGPIPE'))
  if (process.env.npm_lifecycle_event !== undefined) endWithScript()
}

const PARENT_POLL_MS = 250

/** npm passes a signal on to the shell that runs a script and no further (npm 10, 11): the shell ends, and its command does not. */
function endWithScript(): void {
  const shell = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === shell) return
    clearInterval(timer)
    interrupt('SIGTERM')
  }, PARENT_POLL_MS)
  timer.unref()
}

/** Until what is returned is called, a signal calls `listener` and does nothing else. */
export function onInterrupt(listener: (interruption: Interruption) => void): () => void {
  const before = interrupt
  interrupt = listener
  return () => {
    interrupt = before
  }
}

/** Runs a POSIX shell script once this process is gone, however it ended, unless what is returned was called before. */
export function afterDeath(script: string, args: readonly string[]): () => void {
  return runAfterDeath(script, args, ({ code }) =>
    terminal.warn(`cannot run /bin/sh (${code}): nothing is tidied up if this process is killed`),
  )
}
