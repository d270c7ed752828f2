/** A child process with everything it starts, ended together: wrangler, for one, outlives its own launcher. */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'

export interface ProcessGroup {
  child: ChildProcess
  /** The exit code of the first process; 1 when a signal ended it. */
  exited: Promise<number>
  /** Asks all of them to end, insists after `STOP_GRACE_MS`, and returns when none is left. */
  stop(): Promise<void>
}

/** Longer than the Node adapter's own grace for running requests. */
const STOP_GRACE_MS = 7000
const POLL_MS = 20

/** Runs `command`, by default Node, with `args` in a process group of its own (POSIX). */
export function startProcessGroup(
  args: readonly string[],
  options: SpawnOptions,
  command: string = process.execPath,
): ProcessGroup {
  const child = spawn(command, args, { ...options, detached: true })
  const exited = new Promise<number>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => resolve(code ?? 1))
  })
  const { pid } = child
  if (pid === undefined) return { child, exited, stop: async () => {} }

  // When this process ends without stopping it, by an error of ours for one.
  const killAtExit = (): void => void signalGroup(pid, 'SIGKILL')
  process.on('exit', killAtExit)
  let stopped: Promise<void> | undefined
  return {
    child,
    exited,
    stop: () => {
      stopped ??= stopGroup(pid).then(() => void process.off('exit', killAtExit))
      return stopped
    },
  }
}

async function stopGroup(pid: number): Promise<void> {
  if (!signalGroup(pid, 'SIGTERM')) return
  if (await isGone(pid, STOP_GRACE_MS)) return
  signalGroup(pid, 'SIGKILL')
  await isGone(pid, STOP_GRACE_MS)
}

async function isGone(pid: number, withinMs: number): Promise<boolean> {
  for (let waited = 0; waited < withinMs; waited += POLL_MS) {
    if (!signalGroup(pid, 0)) return true
    await delay(POLL_MS)
  }
  return false
}

/** False when no process is left in the group. A negative id addresses the group (kill(2)). */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
    throw error
  }
}
