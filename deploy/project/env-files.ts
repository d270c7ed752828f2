/** The variables of a local server, from `.dev.vars`, `.env.local` and `.env`, the same on every target. */

import type { Project } from '../contract/target.ts'
import { printable } from '../terminal/cli-error.ts'
import { terminal } from '../terminal/terminal.ts'
import { isReserved, readEnvFile } from './env-file.ts'
import { projectFolders } from './project.ts'

/** The first file with a variable wins, as with wrangler and dotenv. */
const FILES = ['.dev.vars', '.env.local', '.env']

export interface EnvFiles {
  /** The files as a user would type them, in order of precedence. */
  readonly files: readonly string[]
  /** The variables that only these files set, without empty values and reserved names. */
  readonly variables: { readonly [name: string]: string }
  /** Why a tool must not read these files by itself: `.env sets NODE_OPTIONS`. */
  readonly objections: readonly string[]
}

/** Reads them in the project's folders, nearest first. Throws `CliError` for one that cannot be read. */
export function readEnvFiles(project: Pick<Project, 'cwd' | 'entry'>): EnvFiles {
  const read = projectFolders(project).flatMap((folder) =>
    FILES.map((name) => readEnvFile(project.cwd, folder, name)),
  )
  const kept = read.flatMap((file) => file.variables)
  const reserved = kept
    .filter(({ name }) => isReserved(name))
    .map(({ from, name }) => `${from} sets ${printable(name)}`)
  for (const line of reserved)
    terminal.warnOnce(`${line}, which is only taken from the environment: it is ignored`)
  const variables: { [name: string]: string } = Object.create(null)
  for (const { name, value } of kept) {
    if (!isReserved(name) && !Object.hasOwn(process.env, name)) variables[name] ??= value
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

/** Adds them to the environment of this process and its children, and prints on stderr which files were read. */
export function loadEnvFiles(project: Pick<Project, 'cwd' | 'entry'>): void {
  const { files, variables } = readEnvFiles(project)
  Object.assign(process.env, variables)
  if (files.length > 0) terminal.note(`read ${files.join(', ')}`)
}
