/** Packages of their own, pinned, that only some of the tests and benchmarks need: too large for everybody's `npm ci`. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** npm mostly waits for the network and the disk. */
const AT_ONCE = 3

/**
 * Installs what each folder's package.json declares, unless these versions are there, some at the same time.
 *
 * @param command `install` where the lock file lacks other systems' optional packages, because not all of them are published: `ci`
 * refuses such a lock file. Nothing is written to it.
 */
export async function installPackages(
  folders: readonly string[],
  command: 'ci' | 'install' = 'ci',
): Promise<void> {
  const left = folders.filter((folder) => !isInstalled(folder))
  const work = async (): Promise<void> => {
    for (let folder = left.shift(); folder !== undefined; folder = left.shift())
      await install(folder, command)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
}

async function install(folder: string, command: 'ci' | 'install'): Promise<void> {
  const args = command === 'ci' ? ['ci'] : ['install', '--no-save']
  // Its own words go to stderr: some callers print their result on stdout.
  const npm = spawn('npm', [...args, '--no-audit', '--no-fund'], { cwd: folder, stdio: ['ignore', 2, 2] })
  const [code] = await once(npm, 'exit')
  if (code !== 0) throw new Error(`npm ${args.join(' ')} ended with ${code} in ${folder}.`)
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
