/** Temporary folders of a command, removed when it ends. */
import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { afterDeath, atExit } from '../run/ending.ts'
import { isRunning } from '../run/process-group.ts'
import { isSystemError, systemError } from '../terminal/system-error.ts'

export interface WorkFolder {
  readonly folder: string
  /** Removes the folder and its content; safe to call twice. */
  dispose(): void
}

/** The name contains the machine and the process. Earlier versions omitted the machine. */
const NAME = /-(?:([\da-f]{8})-)?(\d+)$/

/**
 * In the project's `node_modules/.mayfly`: ignored by linters and version control, and packages resolve there. Removes the folders of
 * killed processes. Throws `CliError` if it cannot be created.
 */
export function createWorkFolder(cwd: string, label: string): WorkFolder {
  const all = join(cwd, 'node_modules', '.mayfly')
  const folder = join(all, `${basename(label)}-${machine()}-${process.pid}`)
  try {
    mkdirSync(all, { recursive: true })
    removeLeftovers(all)
    mkdirSync(folder, { recursive: true })
  } catch (error) {
    throw isSystemError(error) ? systemError(`cannot write ${all}`, error) : error
  }
  return disposable(folder)
}

/** `$1` is the folder. Removed twice, since processes may still write while they shut down (`process-group.ts`). */
const REMOVE = 'rm -rf -- "$1"; sleep 9; rm -rf -- "$1"'

/**
 * In the system's temporary folder; only this user can read it. It is removed even if this process is killed. Throws `CliError` if it
 * cannot be created.
 */
export function createTempFolder(): WorkFolder {
  try {
    const { folder, dispose } = disposable(mkdtempSync(resolve(tmpdir(), 'mayfly-')))
    const forget = afterDeath(REMOVE, [folder])
    return {
      folder,
      dispose: () => {
        dispose()
        forget()
      },
    }
  } catch (error) {
    throw isSystemError(error) ? systemError(`cannot write ${tmpdir()}`, error) : error
  }
}

function disposable(folder: string): WorkFolder {
  const remove = (): void => rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  const forget = atExit(remove)
  return {
    folder,
    dispose: () => {
      forget()
      remove()
    },
  }
}

function removeLeftovers(all: string): void {
  // A link could lead to another user's files.
  if (!lstatSync(all).isDirectory()) return
  for (const name of readdirSync(all)) {
    const [, where = machine(), pid] = NAME.exec(name) ?? []
    if (pid === undefined || where !== machine() || isRunning(Number(pid))) continue
    rmSync(join(all, name), { recursive: true, force: true })
  }
}

/** A container that shares the folder has separate process ids. */
function machine(): string {
  return createHash('sha256').update(hostname()).digest('hex').slice(0, 8)
}
