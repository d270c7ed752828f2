/**
 * `npm run new -- ../shop --target node`: packs this clone and creates a project that depends on the tarball, which is in the project. For as
 * long as the package is not on npm; everything after the folder is passed to `mayfly init`.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, relative, resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname, '..')
const USAGE = 'pass a folder outside of this clone: npm run new -- ../shop --target node'

/** Creates the project with the package's own `mayfly init`, in this clone or in an installed package, and returns the exit code. */
export function createProject(
  tarball: string,
  [folder = '', ...options]: readonly string[],
  { cwd, cli }: { readonly cwd: string; readonly cli: string },
): number {
  const { status } = spawnSync(process.execPath, [cli, 'init', folder, ...options], { cwd, stdio: 'inherit' })
  if (status !== 0) return status ?? 1
  const project = resolve(cwd, folder)
  const name = basename(tarball)
  copyFileSync(tarball, join(project, name))
  rewrite(join(project, 'package.json'), (text) => {
    const manifest = JSON.parse(text) as { dependencies: { [name: string]: string } }
    manifest.dependencies['mayfly-mcp'] = `file:${name}`
    return `${JSON.stringify(manifest, null, 2)}\n`
  })
  return 0
}

function rewrite(file: string, change: (text: string) => string): void {
  if (existsSync(file)) writeFileSync(file, change(readFileSync(file, 'utf8')))
}

/** Whether the folder would be a part of this clone, whose packages and settings the project would find. */
function isInside(folder: string): boolean {
  return !relative(ROOT, folder).startsWith('..')
}

function main([folder, ...options]: readonly string[]): number {
  // npm runs scripts in the folder of the package.
  const cwd = process.env.INIT_CWD ?? process.cwd()
  if (folder === undefined || folder.startsWith('-') || isInside(resolve(cwd, folder))) {
    process.stderr.write(`${USAGE}\n`)
    return 2
  }
  const packed = mkdtempSync(join(tmpdir(), 'mayfly-new-'))
  try {
    const args = ['pack', '--silent', '--pack-destination', packed]
    const name = execFileSync('npm', args, {
      cwd: ROOT,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const tarball = join(packed, name.trim().split('\n').at(-1) ?? '')
    return createProject(tarball, [folder, ...options], { cwd, cli: join(ROOT, 'dist/deploy/cli.js') })
  } finally {
    rmSync(packed, { recursive: true, force: true })
  }
}

if (process.argv[1] === import.meta.filename) process.exitCode = main(process.argv.slice(2))
