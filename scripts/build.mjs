/**
 * `npm run build`: compiles the package into `dist`. The new folder takes the place of the old one at the end, when it is whole: tests
 * and servers that run from `dist` meanwhile never see half of it. Plain JavaScript, since `npm ci` also runs it on Node 20.
 */
import './installed.mjs'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'

// Once the packages are known to be there: a static import would come before that.
const { buildSync } = await import('esbuild')

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
  bundlePlayground()
  if (existsSync(DIST)) renameSync(DIST, replaced)
  renameSync(built, DIST)
}
rmSync(WORK, { recursive: true, force: true })
process.exit(status ?? 1)

/** `mayfly dev` serves browsers one module for each page: page.ts of the playground names them. */
function bundlePlayground() {
  const folder = join(built, 'deploy/playground/browser')
  const bundled = join(WORK, 'browser')
  buildSync({
    entryPoints: ['main', 'tasks'].map((page) => join(folder, `${page}.js`)),
    outdir: bundled,
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2024',
    charset: 'utf8',
  })
  rmSync(folder, { recursive: true })
  renameSync(bundled, folder)
}
