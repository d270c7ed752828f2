/** The servers of `frameworks/`: a package of its own, installed when it is missing, as it is too large for everybody's `npm ci`. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { FRAMEWORKS } from './entry.ts'

/** The pinned packages with their versions. */
export function frameworkVersions(): { readonly [name: string]: string } {
  const manifest = JSON.parse(readFileSync(join(FRAMEWORKS, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>
  }
  return manifest.dependencies
}

export function installFrameworks(): void {
  const isInstalled = Object.entries(frameworkVersions()).every(([name, version]) => {
    const manifest = join(FRAMEWORKS, 'node_modules', name, 'package.json')
    return (
      existsSync(manifest) &&
      (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version === version
    )
  })
  if (isInstalled) return
  // Not npm ci: it takes the optional packages of other systems, which npm install leaves out of the lockfile, for missing.
  execFileSync('npm', ['install', '--no-save', '--no-audit', '--no-fund'], {
    cwd: FRAMEWORKS,
    stdio: ['ignore', 2, 2],
  })
}
