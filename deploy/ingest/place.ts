/** Where a command runs, and its project: what is stored must not depend on the folder that it runs in. */
import { existsSync, realpathSync } from 'node:fs'
import { basename, dirname, join, relative, sep } from 'node:path'
import { manifestIn, projectFolders } from '../project/project.ts'

export interface Place {
  readonly cwd: string
  /** The real path of the project's outermost folder, otherwise of the current one. */
  readonly root: string
  /** The project's name, from package.json or its folder. */
  readonly project: string
}

export function placeOf(cwd: string): Place {
  const root = realpathSync(projectFolders({ cwd, entry: join(cwd, 'ingest') }).at(-1) ?? cwd)
  const { name } = (manifestIn(root) ?? {}) as { name?: unknown }
  return { cwd, root, project: typeof name === 'string' ? name : basename(root) }
}

/** Relative to the project, with `/`. The folders that lead to it are real ones; its own name may be of a link. */
export function pathIn(root: string, path: string): string {
  const folder = dirname(path)
  return relative(root, join(existsSync(folder) ? realpathSync(folder) : folder, basename(path)))
    .split(sep)
    .join('/')
}
