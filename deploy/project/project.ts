/** The user's project: its name and its files. */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Project } from '../contract/target.ts'
import { CliError, printable } from '../terminal/cli-error.ts'
import { findEntry } from './entry.ts'
import { ownHomes } from './out-place.ts'
import { isOwnFile, isOwnFolder, refuseForeign } from './owner.ts'

/** Throws `CliError` when there is no entry. */
export function readProject(cwd: string, entry: string | undefined): Project {
  refuseForeign(cwd)
  const found = findEntry(cwd, entry)
  return { cwd, entry: found, name: projectName(cwd, found) }
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

/** The name of the entry's package, otherwise of the folder, as every platform accepts it. */
export function projectName(cwd: string, entry: string = join(cwd, 'package.json')): string {
  return deploymentName(packageOf(entry)?.name ?? basename(cwd))
}

const MAX_NAME = 40
const DIGEST_CHARACTERS = 7

/**
 * Lower case letters, digits and dashes, beginning with a letter, at most 40 characters. `@acme/shop` is `acme-shop`. A longer name ends in a
 * digest of the whole, so that two that begin alike stay two.
 */
export function deploymentName(named: string): string {
  const name = named
    .toLowerCase()
    .replace(/[^a-z\d]+/g, '-')
    .replace(/^[^a-z]+|-+$/g, '')
  if (name === '') return 'mcp-server'
  if (name.length <= MAX_NAME) return name
  const digest = createHash('sha256').update(named).digest('hex').slice(0, DIGEST_CHARACTERS)
  return `${name.slice(0, MAX_NAME - DIGEST_CHARACTERS - 1).replace(/-+$/, '')}-${digest}`
}

/**
 * Throws `CliError` if another package of the repository's workspaces has the same name for its deployments: `my_shop` and `my-shop`. Packages
 * of other repositories are not known.
 */
export function refuseSameName({ cwd, entry, name }: Project): void {
  const own = packageOf(entry)
  const other = workspaceFolders(projectFolders({ cwd, entry })).find((folder) => {
    const named = packageName(folder)
    return named !== undefined && named !== own?.name && deploymentName(named) === name
  })
  if (own === undefined || other === undefined) return
  throw new CliError(
    `${printable(own.name)} and ${printable(packageName(other)!)} would both be deployed as ${name}, and replace each other: rename one of them in package.json`,
  )
}

/** The folders of npm's, yarn's and pnpm's workspaces, as far as their patterns are folders or end in `/*`. */
function workspaceFolders(folders: readonly string[]): string[] {
  return folders.flatMap((folder) =>
    workspacePatterns(folder).flatMap((pattern) => {
      const path = join(folder, pattern.replace(/\/\*{1,2}$/, ''))
      if (!/\/\*{1,2}$/.test(pattern)) return [path]
      if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return []
      return readdirSync(path).map((name) => join(path, name))
    }),
  )
}

function workspacePatterns(folder: string): string[] {
  const { workspaces } = (manifestIn(folder) ?? {}) as { workspaces?: unknown }
  const listed: unknown = Array.isArray(workspaces)
    ? workspaces
    : (workspaces as { packages?: unknown } | undefined)?.packages
  const pnpm = join(folder, 'pnpm-workspace.yaml')
  const lines =
    existsSync(pnpm) && isOwnFile(pnpm) ? readFileSync(pnpm, 'utf8').match(/^\s*-\s+\S+/gm) : undefined
  return [
    ...(Array.isArray(listed) ? listed : []),
    ...(lines ?? []).map((line) => line.replace(/^\s*-\s+/, '').replaceAll(/['"]/g, '')),
  ].filter((pattern): pattern is string => typeof pattern === 'string' && !pattern.startsWith('!'))
}

/** The nearest package above a file that has a name. */
function packageOf(file: string): { readonly folder: string; readonly name: string } | undefined {
  for (const folder of foldersUpToRoot(dirname(file))) {
    const name = packageName(folder)
    if (name !== undefined) return { folder, name }
  }
  return undefined
}

/** The value of this name in `"mayfly": { … }`, from the nearest package.json that has it. */
export function nearestDeclared(project: Pick<Project, 'cwd' | 'entry'>, name: string): unknown {
  return projectFolders(project)
    .map((folder) => declared(folder, name))
    .find((found) => found !== undefined)
}

/** Whether it says `"mayfly": { "<what>": "dynamodb" }`: then a deployment to Lambda makes the table. */
export function makesTable(
  project: Pick<Project, 'cwd' | 'entry'>,
  what: 'tasks' | 'grants' | 'events',
): boolean {
  return nearestDeclared(project, what) === 'dynamodb'
}

/** The value of a name in `"mayfly": { … }` of the folder's package.json. */
export function declared(folder: string, name: string): unknown {
  const { mayfly } = (manifestIn(folder) ?? {}) as { mayfly?: { readonly [name: string]: unknown } }
  return mayfly?.[name]
}

export function packageName(cwd: string): string | undefined {
  const { name } = (manifestIn(cwd) ?? {}) as { name?: unknown }
  return typeof name === 'string' && name !== '' ? name : undefined
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
