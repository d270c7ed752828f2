/**
 * Whose files a command uses. In a shared folder such as /tmp, another user may put files above a project that would run as this user: a
 * package, a configuration, variables. CVE-2022-24765 is the same in git.
 *
 * Windows has no owners that Node shows. There, the folder of a drive is never read, in which any user may create folders.
 */
import { existsSync, lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { dirname, join, resolve, sep } from 'node:path'
import { CliError, printable } from '../terminal/cli-error.ts'
import { terminal } from '../terminal/terminal.ts'

const ROOT = 0

/** Whether a folder above `start` belongs to this user, or to the owner of `start`. */
export function isOwnFolder(folder: string, start: string): boolean {
  return ownersOf(folder).every((owner) => isUser(owner) || ownersOf(start).includes(owner))
}

/** Whether a file belongs to this user, to root, or to the owner of its folder. A link counts with its own owner and its target's. */
export function isOwnFile(path: string): boolean {
  return isOwnAt(path, dirname(path))
}

/** The same, and says so once if it does not. */
export function isOwnFileOrWarn(path: string, displayed: string): boolean {
  if (isOwnFile(path)) return true
  terminal.warnOnce(`${displayed} belongs to another user: it is not read`)
  return false
}

/**
 * What Node, Deno and the bundlers look for in every folder above a file. They use the nearest of each group; every `node_modules`, and
 * every deno.json, which may be of a workspace.
 */
const ALL = ['node_modules', 'deno.json', 'deno.jsonc']
const NEAREST = [['tsconfig.json', 'jsconfig.json'], ['package.json']]

/** Throws `CliError` if the code in `start` would be built or run with something above it that belongs to another user. */
export function refuseForeign(start: string): void {
  let groups = NEAREST
  for (let folder = start; ; folder = dirname(folder)) {
    const exists = (name: string): boolean => ownersOf(join(folder, name)).length > 0
    const used = [...ALL, ...groups.flat()].filter(exists)
    const foreign = used.map((name) => join(folder, name)).find((path) => !isOwnAt(path, start))
    // In a folder that not everyone may write to, such as an image's, packages may belong to any user.
    if (foreign !== undefined && (folder !== start || isShared(start))) throw foreignError(foreign)
    groups = groups.filter((names) => !names.some((name) => used.includes(name)))
    if (dirname(folder) === folder) return
  }
}

/** Whether another user put the file into a folder that everyone may write to. In others, such as an image's, files may be of any user. */
export function isPlanted(path: string): boolean {
  return !isOwnFile(path) && isShared(dirname(path))
}

/** Throws `CliError` for a file that another user planted. */
export function refusePlanted(path: string): void {
  if (isPlanted(path))
    throw new CliError(`${printable(path)} belongs to another user: move the project to a folder of yours`)
}

/** As many as Linux follows. */
const MAX_LINKS = 40

/**
 * Why a file must not be written: another user planted it, or a link in its path, which could lead to any file of this user. A link counts
 * with its own owner, who must be root, this user or the owner of the current folder.
 */
export function whyNotWritten(path: string): string | undefined {
  const link = foreignLinkIn(resolve(path), MAX_LINKS)
  if (link !== undefined) return `is behind a link of another user, ${printable(link)}: remove the link`
  return existsSync(path) && isPlanted(path) ? 'belongs to another user: remove it' : undefined
}

function foreignLinkIn(path: string, left: number): string | undefined {
  const folder = dirname(path)
  if (folder === path || left === 0) return undefined
  const above = foreignLinkIn(folder, left)
  if (above !== undefined || !lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return above
  const { uid } = lstatSync(path)
  const trusted = [ROOT, process.geteuid?.() ?? uid, ...ownersOf(process.cwd())]
  return trusted.includes(uid) ? foreignLinkIn(resolve(folder, readlinkSync(path)), left - 1) : path
}

/**
 * Throws `CliError` if one of these files belongs to another user, or is in a folder of another user, by its real path. Root, this user and
 * the owners of the `starts` are trusted. An installed package counts as of the owner of its node_modules.
 */
export function refuseForeignSources(files: readonly string[], starts: readonly string[]): void {
  const packages = `${sep}node_modules${sep}`
  const reals = new Set(files.filter((file) => existsSync(file)).map((file) => realpathSync(file)))
  const sources = new Set<string>()
  for (const real of reals) {
    const at = real.indexOf(packages)
    if (at < 0) sources.add(real).add(dirname(real))
    // As in `refuseForeign`.
    else if (!starts.includes(real.slice(0, at)) || isShared(real.slice(0, at)))
      sources.add(real.slice(0, at + packages.length - 1))
  }
  const foreign = [...sources].find((path) => !starts.some((start) => isOwnAt(path, start)))
  if (foreign !== undefined) throw foreignError(foreign)
}

function foreignError(path: string): CliError {
  return new CliError(
    `${printable(path)} belongs to another user, and this project would be built or run with it: move the project to a folder of yours`,
  )
}

function isOwnAt(path: string, start: string): boolean {
  return ownersOf(path).every((owner) => owner === ROOT || isUser(owner) || ownersOf(start).includes(owner))
}

function isShared(folder: string): boolean {
  return (statSync(folder).mode & 0o002) !== 0
}

function isUser(owner: number): boolean {
  return owner === process.geteuid?.()
}

/** Of the path and, if it is a link, of its target. Empty on Windows, or if it does not exist. */
function ownersOf(path: string): number[] {
  if (process.geteuid === undefined) return []
  return [lstatSync, statSync].flatMap((look) => {
    try {
      const found = look(path, { throwIfNoEntry: false })
      return found === undefined ? [] : [found.uid]
    } catch {
      return []
    }
  })
}
