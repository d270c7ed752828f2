/** Finds the server's file, with one-line errors if it is invalid. */
import { readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, relative, resolve, sep } from 'node:path'
import { CliError, printable } from '../terminal/cli-error.ts'
import { refuseForeign, refusePlanted } from './owner.ts'

const DEFAULT_ENTRIES = ['src/server.ts', 'server.ts', 'src/index.ts']

/** The absolute path of the given entry, or of the first default one that exists. Throws `CliError`. */
export function findEntry(cwd: string, given: string | undefined): string {
  const entry = given === undefined ? defaultEntry(cwd) : firstFile(cwd, [given])
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
      ? `there is no ${DEFAULT_ENTRIES.join(', ')}: ${whatToPass(cwd)}`
      : `there is no file ${printable(given)}: pass the file that exports the server`,
  )
}

/** The absolute path of the entry that is taken if none is given. */
export function defaultEntry(cwd: string): string | undefined {
  return firstFile(cwd, DEFAULT_ENTRIES)
}

function firstFile(cwd: string, paths: readonly string[]): string | undefined {
  return paths.map((path) => resolve(cwd, path)).find(isFile)
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true
}

/** What people call the file where it is not one of the default names. */
const LIKELY_ENTRIES = [
  'src/server.js',
  'server.js',
  'src/index.js',
  'index.ts',
  'index.js',
  'app.ts',
  'app.js',
  'src/app.ts',
  'src/app.js',
]

function whatToPass(cwd: string): string {
  const likely = LIKELY_ENTRIES.find((path) => isFile(resolve(cwd, path)))
  if (likely !== undefined) return `pass ${likely}, if it exports the server, as in mayfly dev ${likely}`
  return statSync(resolve(cwd, 'package.json'), { throwIfNoEntry: false }) === undefined
    ? 'go to the folder of your project, or write a new one with npx mayfly-mcp init shop --target node'
    : 'pass the file that exports the server, or write a new project with npx mayfly-mcp init shop --target node'
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
    `${displayPath(entry)} has no default export: ${whatToExport(readFileSync(entry, 'utf8'))}`,
  )
}

/** By the first line of the source that says what there is instead. */
function whatToExport(source: string): string {
  const [, exported] =
    /^export (?:const|let|var) ([\w$]+)[^=]*=\s*(?:await )?(?:new \w*MCPServer|from(?:Sdk|Node)|new Hono)\b/m.exec(
      source,
    ) ?? []
  if (exported !== undefined) return `write export default ${exported}, beside the export named ${exported}`
  if (/^[\w$.]*\.listen\(/m.test(source))
    return "write export default fromNode(app, { mcpPath: '/mcp' }) in place of listen, with fromNode of mayfly-mcp/from-node"
  return 'add export default new MCPServer({ ... })'
}

/** `found`: what the default export is, and what to write; it begins with "it is". */
export function noFetch(entry: string, found = GUESS): CliError {
  // Without any, it is a script, which the bundler takes for CommonJS with an empty object.
  if (!/\bexports?\b/.test(readFileSync(entry, 'utf8'))) return noDefaultExport(entry)
  return new CliError(
    `the default export of ${displayPath(entry)}${lineOfExport(entry)} has no fetch function: ${found}`,
  )
}

const GUESS =
  'make it export default new MCPServer({ ... }), or fromSdk(() => ...) for a server of an official SDK'

function lineOfExport(entry: string): string {
  const lines = readFileSync(entry, 'utf8').split('\n')
  const at = lines.findIndex((line) => /^\s*export\s+default\b/.test(line))
  return at < 0 ? '' : ` (line ${at + 1})`
}

/** As a user would type it. */
export function displayPath(path: string): string {
  return printable(relative(process.cwd(), path))
}
