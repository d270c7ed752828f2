/** Installs what the newcomer's npm is to find beside the repository's own packages, where it is not there yet. */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')

execFileSync(process.execPath, [join(ROOT, 'test/runtimes/_install.ts')], { stdio: 'inherit' })
if (!existsSync(join(import.meta.dirname, 'node_modules/node/bin/node'))) {
  execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: import.meta.dirname, stdio: 'inherit' })
}
