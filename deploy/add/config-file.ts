/** Reads and replaces a client's configuration file: through links, at once or not at all, and never over somebody else's change. */

import { randomUUID } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { UnreadableError } from './format.ts'

export interface ConfigFile {
  /** The file itself, where `path` is a link to it. */
  readonly real: string
  /** Undefined where there is none yet, or where it is empty. */
  readonly text: string | undefined
  /** A byte order mark, which stays. */
  readonly mark: string
  readonly mode: number
}

/** More than any configuration is. */
const MAX_BYTES = 16 * 1024 * 1024

/** Throws `UnreadableError` for what is no text file. */
export function readConfig(path: string): ConfigFile {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) {
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink())
      throw new UnreadableError('is a link to a file that does not exist')
    return { real: path, text: undefined, mark: '', mode: 0o644 }
  }
  if (!found.isFile()) throw new UnreadableError('is not a file')
  if (found.size > MAX_BYTES) throw new UnreadableError('is larger than 16 MiB')
  const real = realpathSync(path)
  const whole = decode(readFileSync(real))
  const mark = whole.startsWith('\ufeff') ? '\ufeff' : ''
  const text = whole.slice(mark.length)
  return { real, text: text.trim() === '' ? undefined : text, mark, mode: found.mode & 0o777 }
}

/** Throws `UnreadableError` where the file changed since it was read. */
export function replaceConfig({ real, text: before, mark, mode }: ConfigFile, text: string): void {
  mkdirSync(dirname(real), { recursive: true })
  const temporary = `${real}.${randomUUID()}.tmp`
  const file = openSync(temporary, 'wx', mode)
  try {
    writeSync(file, mark + text)
    fsyncSync(file)
    closeSync(file)
    if (readConfig(real).text !== before)
      throw new UnreadableError('has just been changed by another program')
    renameSync(temporary, real)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new UnreadableError('is not UTF-8 text')
  }
}
