/** Finds the server's file, with one-line errors if it is invalid. */
import { readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, relative, resolve, sep } from 'node:path'
import { CliError, printable } from '../terminal/cli-error.ts'
import { refuseForeign, refusePlanted } from './owner.ts'

const DEFAULT_ENTRIES = ['src/server.ts', 'server.ts', 'src/index.ts']

/** The absolute path of the given entry, or of the first default one that exists. Throws `CliError`. */
export function findEntry(cwd: string, given: string | undefined): string {
  const entry = (given === undefined ? DEFAULT_ENTRIES : [given])
    .map((path) => resolve(cwd, path))
    .find((path) => statSync(path, { throwIfNoEntry: false })?.isFile())
  if (entry) {
    // Packages of a link's target are looked for above the target.
    for (const path of new Set([entry, realpathSync(entry)])) {
      refuseForeign(dirname(path))
      refusePlanted(path)
    }
    return readable(entry)
  }
  throw new CliError(
    given === undefined
      ? `there is no ${DEFAULT_ENTRIES.join(', ')}: pass the file that exports the server, or write a new project with mayfly init`
      : `there is no file ${printable(given)}: pass the file that exports the server`,
  )
}

/** esbuild treats the first as a pattern, and Node the second as a separator; neither can be escaped. */
function readable(entry: string): string {
  if (sep !== '/' || !/[*\\]/.test(entry)) return entry
  throw new CliError(
    `${printable(entry)} has a * or a \\ in its path, which neither esbuild nor Node can read: rename it`,
  )
}

export function noDefaultExport(entry: string): CliError {
  return new CliError(
    `${displayPath(entry)} has no default export: add export default new MCPServer({ ... })`,
  )
}

export function noFetch(entry: string): CliError {
  return new CliError(
    `the default export of ${displayPath(entry)}${lineOfExport(entry)} has no fetch function: make it export default new MCPServer({ ... }), or fromSdk(() => ...) for a server of an official SDK`,
  )
}

function lineOfExport(entry: string): string {
  const lines = readFileSync(entry, 'utf8').split('\n')
  const at = lines.findIndex((line) => /^\s*export\s+default\b/.test(line))
  return at < 0 ? '' : ` (line ${at + 1})`
}

/** As a user would type it. */
export function displayPath(path: string): string {
  return printable(relative(process.cwd(), path))
}
