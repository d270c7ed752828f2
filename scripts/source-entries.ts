/** For vitest: what imports the package by its name gets the sources, not what was built last. */
import { join } from 'node:path'
import manifest from '../package.json' with { type: 'json' }

const ROOT = join(import.meta.dirname, '..')

/** The source file of an entry point, such as `mayfly-mcp/node`; undefined for any other module. */
function sourceOf(id: string): string | undefined {
  if (!/^mayfly-mcp(?:\/|$)/.test(id)) return undefined
  const entries: { readonly [entry: string]: string | { readonly default: string } } = manifest.exports
  const entry = entries[id.replace('mayfly-mcp', '.')]
  if (typeof entry !== 'object') return undefined
  return join(ROOT, entry.default.replace('./dist/', '').replace(/\.js$/, '.ts'))
}

export const sourceEntries = { name: 'mayfly-source-entries', enforce: 'pre', resolveId: sourceOf } as const
