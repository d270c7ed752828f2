/** What newcomers find: the packed package, in a registry on this machine, and an empty cache of npm. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT, unpackPackage } from '../package/_packed.ts'
import { startRegistry } from './_registry.ts'

const SOURCES = [ROOT, join(ROOT, 'test/platform-clis'), join(ROOT, 'test/byo'), import.meta.dirname]

export interface Arranged extends AsyncDisposable {
  /** The registry's URL. */
  readonly registry: string
  readonly cache: string
}

export async function arrange(): Promise<Arranged> {
  const packed = unpackPackage()
  const registry = await startRegistry(SOURCES, packed.tarball)
  const cache = mkdtempSync(join(tmpdir(), 'mayfly-npm-'))
  return {
    registry: registry.url,
    cache,
    async [Symbol.asyncDispose]() {
      packed.remove()
      await registry[Symbol.asyncDispose]()
      rmSync(cache, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}
