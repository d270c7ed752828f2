/**
 * The folder that a build writes. A build is made beside it and takes its place when it is done: one that fails, is refused or
 * is killed leaves what was there. What is replaced is only what an earlier build has left, which its marker file tells.
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
import { type Place, realPlace, refusal, refusePlace } from '../project/out-place.ts'
import { atExit } from '../run/ending.ts'
import { isRunning } from '../run/process-group.ts'
import { printable } from '../terminal/cli-error.ts'
import { isSystemError, systemError } from '../terminal/system-error.ts'

/** In each folder that a build has written. */
export const MARKER = '.mayfly-build'

const MARKER_TEXT = 'mayfly build has written this folder. The next build removes everything in it.\n'

/** Files that make a folder a user's project, even with our marker in it: it is never replaced. */
const PROJECT_FILES = ['package.json', '.git']

/** If more builds than this end in one folder at once, one of them gives up. */
const MAX_TRIES = 20

export interface OutFolder {
  /** Where to build. It holds nothing but the marker. */
  readonly staging: string
  /** Puts what was built in the place of what was there. Throws `CliError`. */
  commit(): void
  /** Removes what was built, unless it was committed. Safe to call twice. */
  discard(): void
}

/** Removes a folder with all its content. Links in it are removed and not followed. */
export type Remove = (folder: string) => void

const removeFolder: Remove = (folder) => rmSync(folder, { recursive: true, force: true, maxRetries: 3 })

/**
 * Throws `CliError`, having changed nothing, for a folder that is not new, not empty and not an earlier build's; that is or holds
 * the project, the home or the root; or that lies in the project's sources.
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
    // The tool that built into it may have emptied it first.
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

/** Moves `staging` to `out`, and returns where the earlier content is now. If builds end at once, they take turns and the last one stays. */
function replace(out: string, staging: string, name: string, displayed: string): string[] {
  const moved: string[] = []
  for (let tries = 0; ; tries++) {
    const state = stateOf(out, displayed)
    try {
      // In one step, if there is nothing or an empty folder.
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
      const { code } = error as NodeJS.ErrnoException
      const isTaken = code === 'ENOTEMPTY' || code === 'EEXIST' || code === 'ENOENT'
      if (isTaken && tries < MAX_TRIES && isMarked(staging)) continue
      const last = moved.pop()
      if (last !== undefined && stateOf(out, displayed) === 'missing') renameSync(last, out)
      throw error
    }
  }
}

/** Cleans up after a killed build: puts the earlier build back, and removes what lies beside it. */
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

/** Folders beside it that this machine made: process ids of other machines mean nothing here. */
function prefixOf(out: string): string {
  const short = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 8)
  return `.mayfly-${short(basename(out))}-${short(hostname())}-`
}

/** Throws `CliError` for what must not be replaced. */
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

/** Removes folders that were made for a build that failed. */
function removeEmpty(folder: string, first: string): void {
  for (let path = folder; path.length >= first.length; path = dirname(path)) {
    try {
      rmdirSync(path)
    } catch {
      // Another process uses it by now.
      return
    }
  }
}
