/** The variables that a server is given on this machine: from `.dev.vars`, `.env.local` and `.env`, on every target alike. */

import type { Project } from '../contract/target.ts'
import { terminal } from '../terminal/terminal.ts'
import { projectFolders } from './project.ts'
import { readEnvFile } from './secrets.ts'

/** The first that has a variable counts, as with wrangler and the dotenv family. */
const FILES = ['.dev.vars', '.env.local', '.env']

export interface EnvFiles {
  /** The files as a user would type them, in order of precedence. */
  readonly files: readonly string[]
  /** The variables that only they set; empty values are left out. */
  readonly variables: { readonly [name: string]: string }
}

/** Reads them in the project's folders, nearest first. Throws `CliError` for one that cannot be read. */
export function readEnvFiles(project: Pick<Project, 'cwd' | 'entry'>): EnvFiles {
  const kept = projectFolders(project).flatMap((folder) =>
    FILES.flatMap((name) => readEnvFile(project.cwd, folder, name)),
  )
  const variables: { [name: string]: string } = Object.create(null)
  for (const { name, value } of kept) {
    if (!Object.hasOwn(process.env, name)) variables[name] ??= value
  }
  return { files: [...new Set(kept.map(({ from }) => from))], variables }
}

/** Puts them into the environment of this process and of those that it starts, and says on stderr which were read. */
export function loadEnvFiles(project: Pick<Project, 'cwd' | 'entry'>): void {
  const { files, variables } = readEnvFiles(project)
  Object.assign(process.env, variables)
  if (files.length > 0) terminal.note(`read ${files.join(', ')}`)
}
