/** What the entry points of this package export: which one has a name that was imported from another one. */
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isObject } from '../../src/definition/is-object.ts'
import { nearest } from '../../src/definition/unknown-option.ts'
import { packageFolder, packageManifest } from './mayfly-package.ts'

const OWN = 'mayfly-mcp'

const MISSING = [
  /^No matching export in "([^"]+)" for import "([^"]+)"/,
  /^The requested module '([^']+)' does not provide an export named '([^']+)'/,
]

/**
 * What to do about esbuild's or Node's error for a name that an entry point of this package does not export; begins with a colon. Empty for
 * other errors, and if no entry point has such a name.
 */
export function exportRemedy(message: string): string {
  const [, file, wanted] = MISSING.map((form) => form.exec(message)).find((found) => found !== null) ?? []
  if (file === undefined || wanted === undefined) return ''
  const path = realPath(file.startsWith('file:') ? fileURLToPath(file) : resolve(file))
  const all = entryPoints()
  const from = all.find(({ files }) => files.some((one) => realPath(one) === path))
  if (from === undefined) return ''
  const having = all.filter(({ files }) => exportsOf(files).includes(wanted)).map(({ name }) => `"${name}"`)
  if (having.length > 0) return `: import it from ${having.join(' or ')}`
  for (const { name, files } of [from, ...all]) {
    const near = nearest(wanted, exportsOf(files))
    if (near !== undefined) return `: did you mean "${near}" of "${name}"?`
  }
  return ''
}

interface EntryPoint {
  readonly name: string
  readonly files: readonly string[]
}

function entryPoints(): EntryPoint[] {
  return Object.entries(packageManifest().exports).flatMap(([path, conditions]) => {
    if (!isObject(conditions)) return []
    const files = Object.entries(conditions).flatMap(([condition, file]) =>
      condition === 'types' ? [] : [join(packageFolder(), String(file))],
    )
    return [{ name: path.replace('.', OWN), files: [...new Set(files)] }]
  })
}

/** Read, and not imported: an entry point may need a package that is not installed. They export by name only. */
function exportsOf(files: readonly string[]): string[] {
  return files.filter(existsSync).flatMap((file) => {
    const text = readFileSync(file, 'utf8')
    const declared = [...text.matchAll(/^export (?:async )?(?:function\*?|class|const) (\w+)/gm)]
    const listed = [...text.matchAll(/^export \{([^}]*)\}/gm)].flatMap(([, names]) =>
      names!.split(',').map((name) => name.trim().replace(/^.* as /, '')),
    )
    return [...declared.map(([, name]) => name!), ...listed.filter(Boolean)]
  })
}

function realPath(path: string): string {
  return existsSync(path) ? realpathSync(path) : path
}
