/** Installs the frameworks, each in a package of its own, where they are not there yet, and links `mayfly-mcp` into them. */
import { existsSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { installPackage } from '../../scripts/install-package.ts'
import { FRAMEWORKS } from './_frameworks.ts'

const ROOT = join(import.meta.dirname, '../..')

for (const { folder } of FRAMEWORKS) {
  const cwd = join(import.meta.dirname, folder)
  installPackage(cwd)
  const own = join(cwd, 'node_modules/mayfly-mcp')
  if (!existsSync(own)) symlinkSync(ROOT, own)
}
