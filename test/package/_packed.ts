/**
 * The package as users get it: packed by npm, unpacked into the `node_modules` of an empty project, with the dependencies
 * it declares linked beside it. Nothing is downloaded, and what is not declared is not there.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inject } from 'vitest'

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))
export const BIN = join(ROOT, 'node_modules/.bin')

export interface Manifest {
  name: string
  exports: Record<string, string | { types: string; default: string }>
  dependencies: Record<string, string>
  peerDependencies: Record<string, string>
}

export interface PackedPackage {
  readonly tarball: string
  /** Paths in the tarball, without the leading `package/`. */
  readonly files: readonly string[]
  /** The empty project it is installed in. */
  readonly project: string
  /** Where it is installed. */
  readonly installed: string
  readonly manifest: Manifest
  /** What users can import: `mayfly-mcp`, `mayfly-mcp/node`, … */
  readonly entries: readonly string[]
  remove(): void
}

/** A new project with the package in it. */
export function unpackPackage(): PackedPackage {
  const directory = mkdtempSync(join(tmpdir(), 'mayfly-package-'))
  const { path: tarball, files } = inject('tarball')
  const project = join(directory, 'project')
  const modules = join(project, 'node_modules')
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest
  const installed = join(modules, manifest.name)
  mkdirSync(installed, { recursive: true })
  run('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1'], directory)
  writeFileSync(
    join(project, 'package.json'),
    JSON.stringify({ name: 'empty', private: true, type: 'module' }),
  )
  const declared = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })
  for (const name of [...declared, '@types/node']) link(name, modules)
  return {
    tarball,
    files,
    project,
    installed,
    manifest,
    entries: Object.keys(manifest.exports)
      .filter((key) => key !== './package.json')
      .map((key) => manifest.name + key.slice(1)),
    remove: () => rmSync(directory, { recursive: true, force: true }),
  }
}

function link(name: string, modules: string): void {
  const target = join(ROOT, 'node_modules', name)
  if (!existsSync(target)) return
  const path = join(modules, name)
  mkdirSync(dirname(path), { recursive: true })
  symlinkSync(target, path)
}

/** Runs a program and returns what it printed; throws with what it complained of. */
export function run(command: string, args: readonly string[], cwd: string): string {
  return execFileSync(command, args, {
    cwd,
    encoding: 'utf8',
    // attw prints more than a megabyte.
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: environment(),
  })
}

function environment(): NodeJS.ProcessEnv {
  return { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0', WRANGLER_SEND_METRICS: 'false' }
}
