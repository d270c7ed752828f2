/** Where a build may be written: never over the project, home or root folder, and never inside the project's sources. */
import { existsSync, lstatSync, realpathSync, statSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { CliError, printable } from '../terminal/cli-error.ts'

export interface Place {
  /** Absolute path of the folder to write. */
  readonly out: string
  /** The project's folder. */
  readonly cwd: string
  /** Absolute paths of the server's files: its entry, and the project's files that it imports. */
  readonly sources: readonly string[]
  /** Default: the home folders of this user. */
  readonly homes?: readonly string[]
}

/** Folders that belong to other tools. */
const KEPT = ['.git', '.hg', '.svn', 'node_modules']

/** `cannot build into /src, which is a link: pass a folder that is only for built files with --out` */
export function refusal(out: string, why: string): CliError {
  return new CliError(
    `cannot build into ${printable(out)}, which ${why}: pass a folder that is only for built files with --out`,
  )
}

/** `path` with every link followed except in its last part; parts that do not exist are unchanged. */
export function realPlace(path: string): string {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found?.isDirectory() === true) return realpathSync.native(path)
  const parent = dirname(path)
  return parent === path ? path : join(realFolder(parent), basename(path))
}

/** Throws `CliError`. `out` is a real path. */
export function refusePlace(out: string, { out: displayed, cwd, sources, homes = ownHomes() }: Place): void {
  if (dirname(out) === out) throw refusal(displayed, 'is the root folder')
  if (homes.some((home) => holds(out, home))) throw refusal(displayed, 'is or holds your home folder')
  const own = [cwd, ...sources]
  if (own.some((path) => holds(out, path))) throw refusal(displayed, 'holds a project')
  const kept = upwards(out).find((folder) => KEPT.includes(basename(folder)) && !holds(folder, cwd))
  if (kept !== undefined) throw refusal(displayed, `is inside ${basename(kept)}`)
  const folders = sources.map(realFolder).map(dirname)
  if (folders.some((folder) => isSourceFolder(folder, cwd) && holds(folder, out))) {
    throw refusal(displayed, 'is inside the sources of a project')
  }
}

/** A folder that is or contains a project contains more than its sources. */
function isSourceFolder(folder: string, cwd: string): boolean {
  return !existsSync(join(folder, 'package.json')) && !holds(folder, cwd)
}

/** Whether `path` is `folder` or inside it, links resolved. */
function holds(folder: string, path: string): boolean {
  return [path, realFolder(path)].some((one) => upwards(one).some((above) => isSame(above, folder)))
}

/** Compares by name and, if both exist, by identity, since names may differ in case or by a mount. */
function isSame(a: string, b: string): boolean {
  if (a === b) return true
  const [first, second] = [a, b].map((path) => statSync(path, { bigint: true, throwIfNoEntry: false }))
  return first !== undefined && second !== undefined && first.dev === second.dev && first.ino === second.ino
}

/** The path itself, and every folder above it. */
function upwards(path: string): string[] {
  const parent = dirname(path)
  return parent === path ? [path] : [path, ...upwards(parent)]
}

function realFolder(path: string): string {
  try {
    return realpathSync.native(path)
  } catch {
    const parent = dirname(path)
    return parent === path ? path : join(realFolder(parent), basename(path))
  }
}

/** According to the environment and to the system; empty if neither knows. */
export function ownHomes(): string[] {
  return [homedir, () => userInfo().homedir].flatMap((find) => {
    try {
      return [find()]
    } catch {
      // Some containers run as a user without a passwd entry.
      return []
    }
  })
}
