/**
 * Comes before the scripts that people type in a new clone: without its packages, Node's own error would name a file, and Node 20 would not
 * even read TypeScript. Plain JavaScript for that reason.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'

const PACKAGES = join(import.meta.dirname, '..', 'node_modules')

if (
  !['typescript-7', 'node', 'esbuild', 'rolldown'].every((name) =>
    existsSync(join(PACKAGES, name, 'package.json')),
  )
) {
  console.error('The packages of this clone are not installed: run npm ci, then this again.')
  process.exit(1)
}
