/** What to do about an import that a bundler cannot resolve, or that its file does not export. */
import { existsSync, readdirSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { basename, dirname, join, resolve } from 'node:path'
import type { Message } from 'esbuild'
import { nearest } from '../../src/definition/unknown-option.ts'
import { exportRemedy } from '../project/entry-points.ts'
import { packageManifest } from '../project/mayfly-package.ts'

const OWN = 'mayfly-mcp'
/** The command's name: the package with this name is not ours. */
const COMMAND = 'mayfly'

/** Begins with a colon; empty for errors that are not about an import. */
export function importRemedy({ text, location }: Message): string {
  const [, path] = /^Could not resolve "([^"]+)"/.exec(text) ?? []
  if (path === undefined) return exportRemedy(text)
  const from = dirname(resolve(location?.file ?? 'entry'))
  if (/^\.{0,2}\//.test(path)) return fileRemedy(path, from)
  const [name] = /^(?:@[\w.-]+\/)?[\w-][\w.-]*/.exec(path) ?? []
  if (name === OWN) return entryPointRemedy(path)
  if (name === COMMAND && !isInstalled(name, from))
    return `: did you mean "${OWN}${path.slice(COMMAND.length)}"?`
  if (isBuiltin(path)) return ': it is a module of Node, which this platform does not have'
  if (name === undefined || path.includes(':')) return ''
  if (isInstalled(name, from)) return `: ${name} is installed, but has no such entry point`
  return `: if it is a package, run npm install ${name}`
}

function isInstalled(name: string, from: string): boolean {
  const parent = dirname(from)
  return existsSync(join(from, 'node_modules', name)) || (parent !== from && isInstalled(name, parent))
}

function fileRemedy(path: string, from: string): string {
  const folder = resolve(from, dirname(path))
  const files = filesIn(folder)
  const near = nearest(basename(path), files)
  if (near === undefined) return ': there is no such file'
  const meant = join(dirname(path), near)
  return `: there is no such file; did you mean "${path.startsWith('./') ? `./${meant}` : meant}"?`
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((file) => /\.(?:[cm]?[jt]sx?|json)$/.test(file))
  } catch {
    return []
  }
}

function entryPointRemedy(path: string): string {
  const near = nearest(
    path.slice(OWN.length + 1),
    Object.keys(packageManifest().exports).map((point) => point.slice(2)),
  )
  const meant = near === undefined ? '' : `; did you mean "${OWN}/${near}"?`
  if (path === OWN) return `: run npm install ${OWN}`
  return `: ${OWN} has no such entry point${meant || ', see docs/entry-points.md'}`
}
