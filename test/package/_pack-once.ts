/** Packs the package once for all suites of a run. Without scripts: `prepack` would rebuild dist under tests that run. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'

export interface Tarball {
  readonly path: string
  /** Paths in the tarball, without the leading `package/`. */
  readonly files: readonly string[]
}

declare module 'vitest' {
  export interface ProvidedContext {
    tarball: Tarball
  }
}

/** Each suite has this module for itself, so the process remembers. */
const PACKED = Symbol.for('mayfly.tests.tarball')
const packs = globalThis as typeof globalThis & { [PACKED]?: Tarball }

/** Every suite that needs the tarball names this setup; the first one packs. */
export default function setup({ provide }: TestProject): () => void {
  const directory = mkdtempSync(join(tmpdir(), 'mayfly-tarball-'))
  packs[PACKED] ??= pack(directory)
  provide('tarball', packs[PACKED])
  return () => rmSync(directory, { recursive: true, force: true })
}

function pack(directory: string): Tarball {
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', directory]
  const cwd = fileURLToPath(new URL('../../', import.meta.url))
  const printed = execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
  const [packed] = JSON.parse(printed) as [{ filename: string; files: { path: string }[] }]
  return { path: join(directory, packed.filename), files: packed.files.map(({ path }) => path) }
}
