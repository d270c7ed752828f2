/** A registry on loopback that knows what lock files of the repository name: enough for npm to decide what it would install. */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { ROOT } from './_packed.ts'

interface Locked {
  readonly name?: string
  readonly version?: string
}

/** @param folders with a package-lock.json; of each package the first version is the latest. */
export async function startLockRegistry(
  folders: readonly string[],
): Promise<AsyncDisposable & { readonly url: string }> {
  const known = new Map<string, Map<string, Locked>>()
  for (const folder of folders) {
    const file = readFileSync(join(ROOT, folder, 'package-lock.json'), 'utf8')
    const { packages } = JSON.parse(file) as { packages: { readonly [path: string]: Locked } }
    for (const [path, locked] of Object.entries(packages)) {
      const name = locked.name ?? path.split('node_modules/').at(-1)!
      if (path === '' || locked.version === undefined) continue
      const versions = known.get(name) ?? new Map<string, Locked>()
      if (!versions.has(locked.version)) versions.set(locked.version, locked)
      known.set(name, versions)
    }
  }
  const server = createServer((request, response) => {
    const name = decodeURIComponent((request.url ?? '').slice(1))
    const versions = known.get(name)
    response.writeHead(versions === undefined ? 404 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(versions === undefined ? { error: 'not found' } : packument(name, versions)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function packument(name: string, versions: ReadonlyMap<string, Locked>): object {
  const [latest] = versions.keys()
  const entries = [...versions].map(([version, locked]) => [
    version,
    { ...locked, name, dist: { tarball: `http://127.0.0.1/${name}/-/${version}.tgz` } },
  ])
  return { name, 'dist-tags': { latest }, versions: Object.fromEntries(entries) }
}
