/** Modules of the project that are named on the command line. */

import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, extname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { textOf } from '../../src/definition/error-text.ts'
import { refuseForeignSources } from '../project/owner.ts'
import { CliError, printable } from '../terminal/cli-error.ts'

/** The default export of a file. Throws `CliError` if it is missing, or the file does not load. */
export async function loadDefault(cwd: string, file: string, what: string): Promise<unknown> {
  const path = resolve(cwd, file)
  if (!existsSync(path))
    throw new CliError(`${printable(file)} does not exist: pass a module whose default export is ${what}`)
  if (/^\.[cm]?ts$/.test(extname(path)) && !process.features.typescript)
    throw new CliError(
      `this Node cannot load ${printable(file)}: use Node 22.18 or later, or write it as .mjs`,
    )
  refuseForeignSources([path], [cwd, dirname(path)])
  const loaded = await import(pathToFileURL(path).href).catch((error: unknown) => {
    throw new CliError(`${printable(file)} does not load: ${printable(textOf(error))}`)
  })
  const { default: exported } = loaded as { default?: unknown }
  if (exported === undefined) throw new CliError(`${printable(file)} has no default export: make it ${what}`)
  return exported
}

/** A package of the project. Throws `CliError` if it is not installed. */
export async function loadPackage(cwd: string, name: string): Promise<unknown> {
  try {
    return await import(pathToFileURL(createRequire(join(cwd, 'package.json')).resolve(name)).href)
  } catch {
    throw new CliError(`the package ${name} is not installed: run npm install ${name}`)
  }
}
