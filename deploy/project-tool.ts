/** Tools come from the user's project, so that its pinned versions count, else from beside Mayfly. */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { CliError } from './cli-error.ts'

/** The file a module name stands for. Throws a `CliError` saying how to install its package. */
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
