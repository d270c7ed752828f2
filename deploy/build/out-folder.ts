/**
 * The folder that a build writes. A build runs in a folder next to it and replaces it when done, so a build that fails, is refused or is
 * killed changes nothing. Only the output of an earlier build is replaced; a marker file identifies it.
 */

import { createHash, randomBytes } from 'node:crypto'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { memberOf } from '../../src/definition/error-text.ts'
import { type Place, realPlace, refusal, refusePlace } from '../project/out-place.ts'
import { atExit } from '../run/ending.ts'
import { isRunning } from '../run/process-group.ts'
import { printable } from '../terminal/cli-error.ts'
import { isSystemError, systemError } from '../terminal/system-error.ts'

/** The marker file in each folder that a build wrote. */
export const MARKER = '.mayfly-build'

const MARKER_TEXT = 'mayfly build wrote this folder. The next build removes everything in it.\n'

/** Files that make a folder a user's project, even with our marker in it: it is never replaced. */
const PROJECT_FILES = ['package.json', '.git']

/** How often a build tries to replace a folder that other builds replace at the same time. */
const MAX_TRIES = 20

export interface OutFolder {
  /** Where to build. It contains only the marker. */
  readonly staging: string
  /** Replaces the earlier content with the new build. Throws `CliError`. */
  commit(): void
  /** Removes the build unless it was committed. Safe to call twice. */
  discard(): void
}

/** Removes a folder with all its content. Removes links without following them. */
export type Remove = (folder: string) => void

const removeFolder: Remove = (folder) => rmSync(folder, { recursive: true, force: true, maxRetries: 3 })

/**
 * Throws `CliError`, without changing anything, for a folder with files that no build wrote; for the project, home or root folder or a
 * parent of them; and for a folder inside the project's sources.
 */
export function openOutFolder(place: Place, remove: Remove = removeFolder): OutFolder {
  return orRefuse(place.out, () => {
    const out = realPlace(place.out)
    refusePlace(out, place)
    return stage(out, place.out, remove)
  })
}

function stage(out: string, displayed: string, remove: Remove): OutFolder {
  const parent = dirname(out)
  stateOf(out, displayed)
  const created = mkdirSync(parent, { recursive: true })
  recover(out, remove)
  const state = stateOf(out, displayed)
  const name = join(parent, `${prefixOf(out)}${process.pid}-${randomBytes(4).toString('hex')}`)
  const staging = `${name}.new`
  mkdirSync(staging)
  if (state !== 'missing') chmodSync(staging, statSync(out).mode & 0o7777)
  mark(staging)
  let isOpen = true
  const discard = (): void => {
    if (!isOpen) return
    isOpen = false
    forget()
    removeBuild(staging, remove)
    if (created !== undefined) removeEmpty(parent, created)
  }
  const forget = atExit(discard)
  const commit = (): void => {
    // The build tool may have emptied the folder first.
    mark(staging)
    const old = replace(out, staging, name, displayed)
    isOpen = false
    forget()
    for (const folder of old) removeBuild(folder, remove)
  }
  return { staging, discard, commit: () => orRefuse(displayed, commit) }
}

function orRefuse<Result>(displayed: string, act: () => Result): Result {
  try {
    return act()
  } catch (error) {
    throw isSystemError(error) ? systemError(`cannot write ${printable(displayed)}`, error) : error
  }
}

/** Moves `staging` to `out`, and returns where the earlier content is now. If several builds finish at the same time, the last one wins. */
function replace(out: string, staging: string, name: string, displayed: string): string[] {
  const moved: string[] = []
  for (let tries = 0; ; tries++) {
    const state = stateOf(out, displayed)
    try {
      // Atomic if `out` does not exist or is empty.
      if (state !== 'ours') {
        renameSync(staging, out)
        return moved
      }
      const old = `${name}.${tries}.old`
      renameSync(out, old)
      moved.push(old)
      renameSync(staging, out)
      return moved
    } catch (error) {
      const code = memberOf(error, 'code')
      const isTaken = code === 'ENOTEMPTY' || code === 'EEXIST' || code === 'ENOENT'
      if (isTaken && tries < MAX_TRIES && isMarked(staging)) continue
      const last = moved.pop()
      if (last !== undefined && stateOf(out, displayed) === 'missing') renameSync(last, out)
      throw error
    }
  }
}

/** Cleans up after a killed build: restores the earlier build, and removes leftovers next to it. */
function recover(out: string, remove: Remove): void {
  const parent = dirname(out)
  const prefix = prefixOf(out)
  for (const name of readdirSync(parent).sort()) {
    const [, pid, kind] =
      new RegExp(`^${prefix.replaceAll('.', '\\.')}(\\d+)-[\\da-f]+(?:\\.\\d+)?\\.(new|old)$`).exec(name) ??
      []
    if (pid === undefined || isRunning(Number(pid))) continue
    const left = join(parent, name)
    if (!isMarked(left)) continue
    if (kind === 'old' && lstatSync(out, { throwIfNoEntry: false }) === undefined) renameSync(left, out)
    else removeBuild(left, remove)
  }
}

/** Folders next to it that this machine made: process ids of other machines cannot be checked here. */
function prefixOf(out: string): string {
  const short = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 8)
  return `.mayfly-${short(basename(out))}-${short(hostname())}-`
}

/** Throws `CliError` for a path that must not be replaced. */
function stateOf(folder: string, displayed: string): 'missing' | 'empty' | 'ours' {
  const found = lstatSync(folder, { throwIfNoEntry: false })
  if (found === undefined) return 'missing'
  if (found.isSymbolicLink()) throw refusal(displayed, 'is a link')
  if (!found.isDirectory()) throw refusal(displayed, 'is not a folder')
  const names = readdirSync(folder)
  if (names.length === 0) return 'empty'
  if (PROJECT_FILES.some((name) => names.includes(name))) throw refusal(displayed, 'holds a project')
  if (!isMarked(folder)) throw refusal(displayed, 'contains files that mayfly build did not write')
  return 'ours'
}

function mark(folder: string): void {
  writeFileSync(join(folder, MARKER), MARKER_TEXT)
}

function isMarked(folder: string): boolean {
  if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return false
  const path = join(folder, MARKER)
  const found = lstatSync(path, { throwIfNoEntry: false })
  return found?.isFile() === true && readFileSync(path, 'utf8') === MARKER_TEXT
}

/** Only a folder with the marker is ever removed with its content. */
function removeBuild(folder: string, remove: Remove): void {
  if (isMarked(folder)) remove(folder)
}

/** Removes the parent folders that were created for a failed build. */
function removeEmpty(folder: string, first: string): void {
  for (let path = folder; path.length >= first.length; path = dirname(path)) {
    try {
      rmdirSync(path)
    } catch {
      // Another process uses it now.
      return
    }
  }
}
