/** Errors of the operating system (no permission, a full disk), as one line. */
import { isA, memberOf } from '../../src/definition/error-text.ts'
import { CliError } from './cli-error.ts'

/** `EACCES`, `ENOSPC` and similar come with the call that failed. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return (
    isA(error, Error) && memberOf(error, 'syscall') !== undefined && memberOf(error, 'code') !== undefined
  )
}

/** `cannot write dist/node (EACCES)` and, if known, the reason. */
export function systemError(what: string, { code }: NodeJS.ErrnoException): CliError {
  return new CliError(`${what} (${code})${REMEDIES[code ?? ''] ?? ''}`)
}

const REMEDIES: { readonly [code: string]: string } = {
  EACCES: ': permission denied',
  EPERM: ': permission denied',
  EROFS: ': the file system is read-only',
  ENOSPC: ': the disk is full',
  EDQUOT: ': the disk quota is used up',
  ENOTDIR: ': a part of the path is not a folder',
  ELOOP: ': its links form a cycle',
  ENAMETOOLONG: ': the path is too long',
  EBUSY: ': something is mounted there; pass a folder in it',
  EXDEV: ': something is mounted there; pass a folder in it',
}
