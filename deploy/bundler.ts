/** The user's esbuild, and its results as lines. */
import { pathToFileURL } from 'node:url'
import type { BuildFailure, Message, Metafile } from 'esbuild'
import { CliError } from './cli-error.ts'
import { noDefaultExport, shown } from './entry.ts'
import { resolveTool } from './project-tool.ts'

/** Loads the project's esbuild, else the one beside Mayfly. Throws `CliError` when there is none. */
export async function loadEsbuild(cwd: string): Promise<typeof import('esbuild')> {
  return import(pathToFileURL(resolveTool('esbuild', cwd)).href)
}

/** One line an error: `src/server.ts:3:5: Expected ";" but found "x"`. */
export function buildErrors(errors: readonly Message[]): CliError {
  return new CliError(errors.map(({ location, text }) => `${place(location)}${text}`).join('\n'))
}

export function isBuildFailure(error: unknown): error is BuildFailure {
  return error instanceof Error && 'errors' in error && Array.isArray(error.errors)
}

/** Throws `CliError` when the entry's bundle exports no default. */
export function requireDefaultExport(metafile: Metafile, entry: string): void {
  const outputs = Object.values(metafile.outputs)
  if (!outputs.some((output) => output.entryPoint && output.exports.includes('default'))) {
    throw noDefaultExport(entry)
  }
}

function place(location: Message['location']): string {
  return location ? `${shown(location.file)}:${location.line}:${location.column + 1}: ` : ''
}
