/**
 * Reads and replaces a client's configuration file: follows links, writes atomically, and never overwrites a change made by another
 * program.
 */

import { lstatSync, mkdirSync, readFileSync, realpathSync, type Stats, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { whyNotWritten } from '../project/owner.ts'
import { isWritable, replaceFile } from '../project/written-file.ts'
import { UnreadableError } from './format.ts'

export interface ConfigFile {
  /** The file itself, where `path` is a link to it. */
  readonly real: string
  /** Undefined if the file does not exist yet or is empty. */
  readonly text: string | undefined
  /** A byte order mark, which is preserved. */
  readonly mark: string
  /** The owner and mode, which are preserved. Undefined for a new file, which gets the system's defaults. */
  readonly stats: Stats | undefined
}

/** Larger than any real configuration. */
const MAX_BYTES = 16 * 1024 * 1024

/** Throws `UnreadableError` if it is not a text file, or may be of another user. */
export function readConfig(path: string): ConfigFile {
  const reason = whyNotWritten(path)
  if (reason !== undefined) throw new UnreadableError(reason)
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

/** Another program has changed the file since it was read. */
export class ChangedError extends UnreadableError {
  override name = 'ChangedError'

  constructor() {
    super('has just been changed by another program')
  }
}

/**
 * Throws `ChangedError` if the file changed since it was read, `UnreadableError` if it is read-only, and system errors; the file is then
 * unchanged. Of several processes that replace it at once, none overwrites what another has written.
 */
export function replaceConfig({ real, text: before, mark, stats }: ConfigFile, text: string): void {
  // A rename would replace a file that its owner has protected.
  if (stats !== undefined && !isWritable(real, stats))
    throw new UnreadableError('is read-only: make it writable')
  mkdirSync(dirname(real), { recursive: true })
  const isReplaced = replaceFile(real, mark + text, {
    stats,
    isUnchanged: () => readConfig(real).text === before,
    toError: (reason) => new UnreadableError(reason),
  })
  if (!isReplaced) throw new ChangedError()
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new UnreadableError('is not UTF-8 text')
  }
}
