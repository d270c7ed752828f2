/** Finds tools in the user's project, so that its pinned versions are used, otherwise next to Mayfly. */
import { accessSync, constants, readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, dirname, isAbsolute, join } from 'node:path'
import { CliError } from '../terminal/cli-error.ts'

/** Resolves a module name to a file. Throws a `CliError` that says how to install the package. */
export function resolveTool(specifier: string, cwd: string): string {
  for (const from of [join(cwd, 'package.json'), import.meta.url]) {
    try {
      return createRequire(from).resolve(specifier)
    } catch {
      // Not installed there.
    }
  }
  const name = specifier.replace(/\/package\.json$/, '')
  throw new CliError(`${name} is not installed: run npm install --save-dev ${name}`)
}

/** The file of a package's program. Throws a `CliError` that says how to install it. */
export function resolveBin(name: string, cwd: string, program: string = name): string {
  const manifest = resolveTool(`${name}/package.json`, cwd)
  const { bin } = JSON.parse(readFileSync(manifest, 'utf8')) as { bin: string | Record<string, string> }
  const file = typeof bin === 'string' ? bin : bin[program]
  if (file === undefined) throw new CliError(`the package ${name} has no program ${program}`)
  return join(dirname(manifest), file)
}

/**
 * A program on the PATH, or undefined. Ignores empty and relative parts of the PATH, which would refer to the project's folder. On Windows
 * its name ends in one of PATHEXT.
 */
export function findProgram(name: string): string | undefined {
  const endings = process.platform === 'win32' ? (process.env.PATHEXT ?? '.EXE;.CMD;.BAT').split(';') : ['']
  return (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => isAbsolute(folder))
    .flatMap((folder) => endings.map((ending) => join(folder, `${name}${ending.toLowerCase()}`)))
    .find(isProgram)
}

function isProgram(path: string): boolean {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false
  // Windows looks at the ending alone.
  if (process.platform === 'win32') return true
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
