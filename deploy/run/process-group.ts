/**
 * A child process that ends together with everything it starts: wrangler, for example, outlives its own launcher. None of them outlives
 * this process, however it ends.
 */

import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { memberOf } from '../../src/definition/error-text.ts'
import { afterDeath, atExit } from './ending.ts'

export interface ProcessGroup {
  child: ChildProcess
  /** The exit code of the first process; 1 when a signal ended it. */
  exited: Promise<number>
  /** Asks all of them to end, kills them after `STOP_GRACE_MS`, and returns when they are gone. */
  stop(): Promise<void>
  /** Kills all of them, and returns when they are gone. */
  kill(): Promise<void>
}

/** Longer than the Node adapter's own grace period for running requests. */
const STOP_GRACE_MS = 7000
const POLL_MS = 20

/** Does the same as `stop` after this process has ended; `$1` is the group. */
const STOP_GROUP = `kill -s TERM -- "-$1"
for _ in 1 2 3 4 5 6 7; do kill -s 0 -- "-$1" || exit; sleep 1; done
kill -s KILL -- "-$1"`

const IS_WINDOWS = process.platform === 'win32'

/** Runs `command`, by default Node, with `args` in its own process group. Windows has none: there it is the tree below the process. */
export function startProcessGroup(
  args: readonly string[],
  options: SpawnOptions,
  command: string = process.execPath,
): ProcessGroup {
  const child = spawn(command, args, { ...options, detached: !IS_WINDOWS })
  const exited = new Promise<number>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => resolve(code ?? 1))
  })
  const { pid } = child
  if (pid === undefined) return { child, exited, stop: async () => {}, kill: async () => {} }

  // In case this process ends without stopping the group, by an error or a signal.
  const forgetExit = atExit(() => void signalGroup(pid, 'SIGKILL'))
  const forgetDeath = afterDeath(STOP_GROUP, [String(pid)])
  const forget = (): void => {
    forgetExit()
    forgetDeath()
  }
  let stopped: Promise<void> | undefined
  return {
    child,
    exited,
    stop: () => {
      stopped ??= stopGroup(child, pid).then(forget)
      return stopped
    },
    kill: () => killGroup(child, pid).then(forget),
  }
}

async function stopGroup(child: ChildProcess, pid: number): Promise<void> {
  if (!signalGroup(pid, 'SIGTERM')) return
  if (!(await isGone(child, pid, STOP_GRACE_MS))) await killGroup(child, pid)
}

async function killGroup(child: ChildProcess, pid: number): Promise<void> {
  if (signalGroup(pid, 'SIGKILL')) await isGone(child, pid, STOP_GRACE_MS)
}

async function isGone(child: ChildProcess, pid: number, withinMs: number): Promise<boolean> {
  for (let waited = 0; waited < withinMs; waited += POLL_MS) {
    if (!signalGroup(pid, 0)) return true
    const hasExited = child.exitCode !== null || child.signalCode !== null
    if (hasExited && areZombies(pid)) return true
    await delay(POLL_MS)
  }
  return false
}

/**
 * Whether all processes left in a group have ended. kill(2) still counts processes that were not reaped; process 1 must reap a
 * process that outlives its parent, and in a container process 1 often does not. False without /proc.
 */
function areZombies(group: number): boolean {
  const members = processIds()
    .map(readStat)
    .filter((stat) => stat?.group === group)
  return members.length > 0 && members.every(isZombie)
}

interface Stat {
  readonly state: string
  readonly group: number
}

/** Undefined without such a process, or without /proc. `pid (name) state ppid pgrp …`: a name may hold anything (proc_pid_stat(5)). */
function readStat(pid: number | string): Stat | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const [state = '', , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { state, group: Number(group) }
  } catch {
    return undefined
  }
}

function isZombie(stat: Stat | undefined): boolean {
  return stat?.state === 'Z' || stat?.state === 'X'
}

function processIds(): string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  } catch {
    return []
  }
}

/** Whether this process, of any user, still runs. */
export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0) && !isZombie(readStat(pid))
  } catch (error) {
    return memberOf(error, 'code') === 'EPERM'
  }
}

/** False if the group has no process left. A negative id addresses the group (kill(2)). */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  if (IS_WINDOWS) return signal === 0 ? isRunning(pid) : endTree(pid)
  try {
    return process.kill(-pid, signal)
  } catch (error) {
    if (memberOf(error, 'code') === 'ESRCH') return false
    throw error
  }
}

/** Windows cannot ask a process without a window to end. */
function endTree(pid: number): boolean {
  return spawnSync('taskkill', ['/pid', String(pid), '/t', '/f'], { stdio: 'ignore' }).status === 0
}
