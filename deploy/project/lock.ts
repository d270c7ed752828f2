/** A lock between processes of this command: a file beside the one that it protects. */
import { randomUUID } from 'node:crypto'
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { isSystemError } from '../terminal/system-error.ts'

const WAIT_MS = 20_000
const POLL_MS = 5

/** What a lock is held for takes milliseconds: an older one was left behind by a process that was killed. */
const STALE_MS = 5000

/**
 * Runs `change`, which must be synchronous, in one process at a time. `isHeld` tells whether no other process has taken the lock meanwhile,
 * as stale. Throws what `toError` makes of the reason if others hold it for 20 seconds, and system errors.
 */
export function withLock<Result>(
  path: string,
  toError: (reason: string) => Error,
  change: (isHeld: () => boolean) => Result,
): Result {
  const own = randomUUID()
  const end = Date.now() + WAIT_MS
  while (!take(path, own)) {
    removeStale(path)
    if (Date.now() > end) throw toError(`is locked: remove ${path} if no other program uses it`)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, POLL_MS)
  }
  const isHeld = (): boolean => contentOf(path) === own
  try {
    return change(isHeld)
  } finally {
    if (isHeld()) rmSync(path, { force: true })
  }
}

function take(path: string, own: string): boolean {
  try {
    writeFileSync(path, own, { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if (isSystemError(error) && error.code === 'EEXIST') return false
    throw error
  }
}

/** By a rename, which only one process can do. */
function removeStale(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined || Date.now() - found.mtimeMs < STALE_MS) return
  const aside = `${path}.${randomUUID()}`
  try {
    renameSync(path, aside)
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOENT') return
    throw error
  }
  rmSync(aside, { force: true })
}

function contentOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
