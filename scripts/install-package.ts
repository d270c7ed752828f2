/** Packages of their own, pinned, that only some of the tests and benchmarks need: too large for everybody's `npm ci`. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Installs what the folder's package.json declares, unless these versions are there.
 *
 * @param command `install` where the lock file lacks other systems' optional packages, because not all of them are published: `ci`
 * refuses such a lock file. Nothing is written to it.
 */
export function installPackage(folder: string, command: 'ci' | 'install' = 'ci'): void {
  if (isInstalled(folder)) return
  const args = command === 'ci' ? ['ci'] : ['install', '--no-save']
  // Its own words go to stderr: some callers print their result on stdout.
  execFileSync('npm', [...args, '--no-audit', '--no-fund'], { cwd: folder, stdio: ['ignore', 2, 2] })
}

/** What the folder's package.json declares: versions by name. */
export function declaredVersions(folder: string): { readonly [name: string]: string } {
  const { dependencies, devDependencies } = readManifest(folder)
  return { ...dependencies, ...devDependencies }
}

interface Manifest {
  readonly version?: string
  readonly dependencies?: { readonly [name: string]: string }
  readonly devDependencies?: { readonly [name: string]: string }
}

function isInstalled(folder: string): boolean {
  return Object.entries(declaredVersions(folder)).every(([name, version]) => {
    const installed = join(folder, 'node_modules', name)
    return existsSync(installed) && readManifest(installed).version === exactVersion(version)
  })
}

/** Of an alias, such as `npm:@mastra/mcp@2.0.0`, too. */
function exactVersion(wanted: string): string {
  return wanted.slice(wanted.lastIndexOf('@') + 1)
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
}
