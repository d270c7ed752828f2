/** The variables of a server that is loaded on this machine, from the project's files, the same on every target. */

import { type FSWatcher, watch } from 'node:fs'
import { isA } from '../../src/definition/error-text.ts'
import type { Project } from '../contract/target.ts'
import { CliError, printable } from '../terminal/cli-error.ts'
import { terminal } from '../terminal/terminal.ts'
import { isReserved, readEnvFile } from './env-file.ts'
import { projectFolders } from './project.ts'
import { localFiles } from './variable-files.ts'

/** An editor may write a file in several steps. */
const SETTLE_MS = 50

/** What `loadEnvFiles` put into the environment of this process. */
let loaded: EnvFiles['variables'] = {}

export interface EnvFiles {
  /** The files as a user would type them, in order of precedence. */
  readonly files: readonly string[]
  /** The variables that only these files set, without empty values and reserved names. */
  readonly variables: { readonly [name: string]: string }
  /** Why a tool must not read these files by itself: `.env sets NODE_OPTIONS`. */
  readonly objections: readonly string[]
}

type Folders = Pick<Project, 'cwd' | 'entry' | 'stage'>

/** Reads them in the project's folders, nearest first. Throws `CliError` for one that cannot be read. */
export function readEnvFiles(
  project: Folders,
  names: readonly string[] = localFiles(project.stage),
): EnvFiles {
  const read = projectFolders(project).flatMap((folder) =>
    names.map((name) => readEnvFile(project.cwd, folder, name)),
  )
  const kept = read.flatMap((file) => file.variables)
  const reserved = kept
    .filter(({ name }) => isReserved(name))
    .map(({ from, name }) => `${from} sets ${printable(name)}`)
  for (const line of reserved)
    terminal.warnOnce(`${line}, which is only taken from the environment: it is ignored`)
  const variables: { [name: string]: string } = Object.create(null)
  for (const { name, value } of kept) {
    if (!isReserved(name) && !isSetElsewhere(name)) variables[name] ??= value
  }
  return {
    files: [...new Set(kept.map(({ from }) => from))],
    variables,
    objections: [
      ...reserved,
      ...read.flatMap(({ from, differs }) => (differs === undefined ? [] : [`${from} ${differs}`])),
    ],
  }
}

function isSetElsewhere(name: string): boolean {
  return Object.hasOwn(process.env, name) && process.env[name] !== loaded[name]
}

/** Adds them to the environment of this process and its children, and prints on stderr which files were read. */
export function loadEnvFiles(project: Folders, names?: readonly string[]): void {
  const { files, variables } = readEnvFiles(project, names)
  replaceLoaded(variables)
  if (files.length > 0) terminal.note(`read ${files.join(', ')}`)
}

function replaceLoaded(variables: EnvFiles['variables']): void {
  for (const name of Object.keys(loaded)) if (!isSetElsewhere(name)) delete process.env[name]
  Object.assign(process.env, variables)
  loaded = variables
}

/**
 * Loads the files again after each change, one that is new or removed too, and calls `onChange` if a variable differs. A file that cannot
 * be read is reported, and changes nothing.
 */
export function watchEnvFiles(project: Folders, onChange: () => void): { close(): void } {
  const names = localFiles(project.stage)
  let timer: NodeJS.Timeout | undefined
  const look = (): void => {
    clearTimeout(timer)
    timer = setTimeout(() => reload(project) && onChange(), SETTLE_MS)
  }
  const watchers = projectFolders(project).flatMap((folder) => watchFolder(folder, names, look))
  // They may have changed since they were read.
  look()
  return {
    close: () => {
      clearTimeout(timer)
      for (const watcher of watchers) watcher.close()
    },
  }
}

function reload(project: Folders): boolean {
  try {
    const { files, variables } = readEnvFiles(project)
    if (toText(variables) === toText(loaded)) return false
    replaceLoaded(variables)
    terminal.note(files.length > 0 ? `read ${files.join(', ')} again` : 'no variables are left in files')
    return true
  } catch (error) {
    if (!isA(error, CliError)) throw error
    terminal.fail(error)
    return false
  }
}

function toText(variables: EnvFiles['variables']): string {
  return JSON.stringify(Object.entries(variables).sort())
}

/** Empty if the system cannot watch it. */
function watchFolder(folder: string, names: readonly string[], onFile: () => void): FSWatcher[] {
  try {
    const watcher = watch(folder, (_event, name) => {
      if (name === null || names.includes(name)) onFile()
    })
    return [watcher.on('error', () => {})]
  } catch {
    return []
  }
}
