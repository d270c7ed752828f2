/** Files of the user that are replaced as a whole: a rename would ignore that their owner protected them. */
import { randomUUID } from 'node:crypto'
import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { isSystemError } from '../terminal/system-error.ts'
import { withLock } from './lock.ts'
import { whyNotWritten } from './owner.ts'

export interface Replacement {
  /** The owner and mode of the file that is replaced. Undefined for a new file, which gets the system's defaults. */
  readonly stats: Stats | undefined
  /** Whether the file still is what the text was made from. */
  readonly isUnchanged: () => boolean
  /** The error if other processes hold the lock for too long, or the file may be of another user. */
  readonly toError: (reason: string) => Error
}

/**
 * Writes a file that does not exist, and that only its owner may read. If this user is root, that is the owner of its folder: the server
 * that reads the file seldom runs as root.
 */
export function writeNewFile(path: string, text: string): void {
  const file = openSync(path, 'wx', 0o600)
  try {
    writeFileSync(file, text)
    if (process.getuid?.() === 0) keepOwner(file, statSync(dirname(path)))
  } finally {
    closeSync(file)
  }
}

/** By this user, and not only because this user is root. */
export function isWritable(path: string, { mode }: Stats): boolean {
  if ((mode & 0o222) === 0) return false
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/**
 * Replaces a file atomically, since another program may be reading it. False, with the file unchanged, if it is not the same any more: of
 * several processes that replace it at once, none overwrites what another has written. Throws system errors, for example for a full disk.
 */
export function replaceFile(path: string, text: string, replacement: Replacement): boolean {
  const { stats, isUnchanged, toError } = replacement
  const reason = whyNotWritten(path)
  if (reason !== undefined) throw toError(reason)
  const temporary = `${path}.${randomUUID()}.tmp`
  try {
    writeWhole(temporary, text, stats)
    return withLock(`${path}.mayfly-lock`, toError, (isHeld) => {
      if (!isUnchanged() || !isHeld()) return false
      renameSync(temporary, path)
      return true
    })
  } finally {
    rmSync(temporary, { force: true })
  }
}

/** Throws if it cannot be written completely. */
function writeWhole(path: string, text: string, stats: Stats | undefined): void {
  // Other users cannot read it before it gets its owner and mode.
  const file = openSync(path, 'wx', stats === undefined ? 0o666 : 0o600)
  try {
    writeFileSync(file, text)
    if (stats !== undefined) {
      keepOwner(file, stats)
      fchmodSync(file, stats.mode & 0o777)
    }
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Only root may give a file to another user. */
function keepOwner(file: number, { uid, gid }: Stats): void {
  const now = fstatSync(file)
  if (now.uid === uid && now.gid === gid) return
  try {
    fchownSync(file, uid, gid)
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'EPERM') throw error
  }
}
