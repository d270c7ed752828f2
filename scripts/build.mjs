/**
 * `npm run build`: compiles the package into `dist`. The new folder takes the place of the old one at the end, when it is whole: tests
 * and servers that run from `dist` meanwhile never see half of it. Plain JavaScript, since `npm ci` also runs it on Node 20.
 */
import './installed.mjs'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { transformSync } from 'esbuild'

const ROOT = join(import.meta.dirname, '..')
const DIST = join(ROOT, 'dist')
const WORK = join(ROOT, 'node_modules/.cache', `build-${process.pid}`)
const built = join(WORK, 'new')
const replaced = join(WORK, 'old')

mkdirSync(WORK, { recursive: true })
const compiler = join(ROOT, 'node_modules/typescript-7/bin/tsc')
const args = [compiler, '-p', join(ROOT, 'tsconfig.build.json'), '--outDir', built]
const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' })
if (status === 0) {
  minifyPlayground()
  if (existsSync(DIST)) renameSync(DIST, replaced)
  renameSync(built, DIST)
}
rmSync(WORK, { recursive: true, force: true })
process.exit(status ?? 1)

/** `mayfly dev` serves these modules to browsers as they are. */
function minifyPlayground() {
  const folder = join(built, 'deploy/playground/browser')
  for (const name of readdirSync(folder).filter((name) => name.endsWith('.js'))) {
    const file = join(folder, name)
    const { code } = transformSync(readFileSync(file, 'utf8'), {
      minify: true,
      format: 'esm',
      target: 'es2024',
    })
    writeFileSync(file, code)
  }
}
