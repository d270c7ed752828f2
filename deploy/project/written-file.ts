/** Files of the user that are replaced as a whole: a rename would ignore that their owner protected them. */
import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  openSync,
  type Stats,
  writeFileSync,
} from 'node:fs'
import { isSystemError } from '../terminal/system-error.ts'

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
 * Writes a new file with the owner and mode of the one that it will replace. Throws if it cannot be written completely, for example to a
 * full disk.
 */
export function writeWhole(path: string, text: string, stats: Stats | undefined): void {
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
