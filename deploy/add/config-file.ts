/** Reads and replaces a client's configuration file: through links, at once or not at all, and never over somebody else's change. */

import { randomUUID } from 'node:crypto'
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { isSystemError } from '../terminal/system-error.ts'
import { UnreadableError } from './format.ts'

export interface ConfigFile {
  /** The file itself, where `path` is a link to it. */
  readonly real: string
  /** Undefined where there is none yet, or where it is empty. */
  readonly text: string | undefined
  /** A byte order mark, which stays. */
  readonly mark: string
  /** Its owner and mode, which stay. Undefined where there is none yet: then the system's defaults hold. */
  readonly stats: Stats | undefined
}

/** More than any configuration is. */
const MAX_BYTES = 16 * 1024 * 1024

/** Throws `UnreadableError` for what is no text file. */
export function readConfig(path: string): ConfigFile {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) {
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink())
      throw new UnreadableError('is a link to a file that does not exist')
    return { real: path, text: undefined, mark: '', stats: undefined }
  }
  if (!found.isFile()) throw new UnreadableError('is not a file')
  if (found.size > MAX_BYTES) throw new UnreadableError('is larger than 16 MiB')
  const real = realpathSync(path)
  const whole = decode(readFileSync(real))
  const mark = whole.startsWith('\ufeff') ? '\ufeff' : ''
  const text = whole.slice(mark.length)
  return { real, text: text.trim() === '' ? undefined : text, mark, stats: found }
}

/** Throws `UnreadableError` where the file changed since it was read, and errors of the system: then it is as it was. */
export function replaceConfig({ real, text: before, mark, stats }: ConfigFile, text: string): void {
  mkdirSync(dirname(real), { recursive: true })
  const temporary = `${real}.${randomUUID()}.tmp`
  try {
    writeWhole(temporary, mark + text, stats)
    if (readConfig(real).text !== before)
      throw new UnreadableError('has just been changed by another program')
    renameSync(temporary, real)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

/** Throws where not all of it is on the disk, such as a full one. */
function writeWhole(path: string, text: string, stats: Stats | undefined): void {
  // Nobody else reads a private file while it has no owner and mode of its own.
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

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new UnreadableError('is not UTF-8 text')
  }
}
