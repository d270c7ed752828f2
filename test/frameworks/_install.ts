/** Installs the frameworks, each in a package of its own, where they are not there yet, and links `mayfly-mcp` into them. */
import { existsSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { installPackages } from '../../scripts/install-package.ts'
import { FRAMEWORKS } from './_frameworks.ts'

const ROOT = join(import.meta.dirname, '../..')

const folders = FRAMEWORKS.map(({ folder }) => join(import.meta.dirname, folder))

await installPackages(folders)
for (const folder of folders) {
  const own = join(folder, 'node_modules/mayfly-mcp')
  if (!existsSync(own)) symlinkSync(ROOT, own)
}
