/** The user's project: its name and its files. */
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Project } from '../contract/target.ts'
import { findEntry } from './entry.ts'
import { ownHomes } from './out-place.ts'
import { isOwnFile, isOwnFolder, refuseForeign } from './owner.ts'

/** Throws `CliError` when there is no entry. */
export function readProject(cwd: string, entry: string | undefined): Project {
  refuseForeign(cwd)
  return { cwd, entry: findEntry(cwd, entry), name: projectName(cwd) }
}

/**
 * The folders of the project, nearest first: from the current folder and the entry's folder up to the repository's root, otherwise up to
 * the outermost package, and never beyond a folder of another user. A command may run in a subfolder while its files are at the root. An
 * entry that is a link counts in both of its folders.
 */
export function projectFolders({ cwd, entry }: Pick<Project, 'cwd' | 'entry'>): string[] {
  return [...new Set([cwd, dirname(entry), dirname(realPath(entry))].flatMap(foldersUpToRoot))]
}

/** Returns the path itself if it does not exist. */
function realPath(path: string): string {
  return existsSync(path) ? realpathSync(path) : path
}

function foldersUpToRoot(start: string): string[] {
  const above = [start]
  let own = 1
  const homes = ownHomes()
  for (let folder = start; dirname(folder) !== folder && !homes.includes(folder); folder = dirname(folder)) {
    if (!isOwnFolder(folder, start)) break
    if (folder !== start) above.push(folder)
    if (existsSync(join(folder, 'package.json')) && isOwnFile(join(folder, 'package.json')))
      own = above.length
    if (existsSync(join(folder, '.git'))) return above
  }
  return above.slice(0, own)
}

/** A name that every platform accepts: lower case letters, digits and dashes, beginning with a letter, at most 40 characters. */
export function projectName(cwd: string): string {
  const named = packageName(cwd) ?? basename(cwd)
  const name = named
    .toLowerCase()
    .replace(/^@[^/]+\//, '')
    .replace(/[^a-z\d]+/g, '-')
    .replace(/^[^a-z]+/, '')
    .slice(0, 40)
    .replace(/-+$/, '')
  return name === '' ? 'mcp-server' : name
}

/** The value of this name in `"mayfly": { … }`, from the nearest package.json that has it. */
export function nearestDeclared(project: Pick<Project, 'cwd' | 'entry'>, name: string): unknown {
  return projectFolders(project)
    .map((folder) => declared(folder, name))
    .find((found) => found !== undefined)
}

/** The value of a name in `"mayfly": { … }` of the folder's package.json. */
export function declared(folder: string, name: string): unknown {
  const { mayfly } = (manifestIn(folder) ?? {}) as { mayfly?: { readonly [name: string]: unknown } }
  return mayfly?.[name]
}

function packageName(cwd: string): string | undefined {
  const { name } = (manifestIn(cwd) ?? {}) as { name?: unknown }
  return typeof name === 'string' ? name : undefined
}

/** Parses package.json. Undefined if it is missing, of another user, or invalid, which npm reports. */
export function manifestIn(folder: string): unknown {
  const path = join(folder, 'package.json')
  if (!existsSync(path) || !isOwnFile(path)) return undefined
  try {
    return JSON.parse(readFileSync(path, 'utf8').replace(/^\ufeff/, ''))
  } catch {
    return undefined
  }
}
