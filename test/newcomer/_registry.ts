/**
 * A registry on loopback, which has what is installed here and nothing else: npm installs from it as it would from its own. Platforms'
 * binaries are served as scripts that run the installed ones: 100 MB each would be copied for every project.
 */
import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Registry extends AsyncDisposable {
  readonly url: string
}

interface Manifest {
  readonly name: string
  readonly version: string
  readonly bin?: { readonly [name: string]: string }
  readonly scripts?: { readonly [name: string]: string }
}

interface Published {
  readonly manifest: Manifest
  /** Where it is installed, or its tarball. */
  readonly source: string
}

/** Stand in for tools that are too large for this: `mayfly deploy` only looks whether they are there. test/platform-clis runs the others. */
const STAND_INS: readonly Published[] = [
  { manifest: { name: 'netlify-cli', version: '27.10.2', bin: { netlify: 'run.js' } }, source: standIn() },
  { manifest: { name: 'vercel', version: '58.10.0', bin: { vercel: 'run.js' } }, source: standIn() },
]

function standIn(): string {
  return join(import.meta.dirname, 'stand-in')
}

const MAX_COPIED_BYTES = 8_000_000

/** @param roots folders with `node_modules` in them; of the same version the first counts. @param tarball of the package under test. */
export async function startRegistry(roots: readonly string[], tarball: string): Promise<Registry> {
  const packages = new Map<string, Map<string, Published>>()
  const publish = (published: Published): void => {
    const { name, version } = published.manifest
    const versions = packages.get(name) ?? new Map<string, Published>()
    if (!versions.has(version)) versions.set(version, published)
    packages.set(name, versions)
  }
  publish({
    manifest: JSON.parse(
      execFileSync('tar', ['-xzOf', tarball, 'package/package.json'], { encoding: 'utf8' }),
    ) as Manifest,
    source: tarball,
  })
  for (const published of STAND_INS) publish(published)
  for (const root of roots)
    for (const published of installedIn(join(root, 'node_modules'))) publish(published)

  const folder = mkdtempSync(join(tmpdir(), 'mayfly-registry-'))
  const server = createServer((request, response) => {
    const [name = '', version] = decodeURIComponent(request.url ?? '')
      .slice(1)
      .split('/-/')
    const versions = packages.get(name)
    const one = version === undefined ? undefined : versions?.get(version.replace(/\.tgz$/, ''))
    response.setHeader('cache-control', 'public, max-age=3600')
    if (one !== undefined) response.end(packed(one, folder))
    else if (versions !== undefined && version === undefined) {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(packument(name, versions, `http://${request.headers.host}`)))
    } else response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":"not found"}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function* installedIn(modules: string): Generator<Published> {
  if (!existsSync(modules)) return
  for (const entry of readdirSync(modules)) {
    if (entry.startsWith('.')) continue
    const names = entry.startsWith('@') ? readdirSync(join(modules, entry)) : [undefined]
    for (const name of names) {
      const source = name === undefined ? join(modules, entry) : join(modules, entry, name)
      const file = join(source, 'package.json')
      if (!existsSync(file)) continue
      const manifest = JSON.parse(readFileSync(file, 'utf8')) as Partial<Manifest>
      if (manifest.name !== undefined && manifest.version !== undefined) {
        yield { manifest: manifest as Manifest, source }
      }
      yield* installedIn(join(source, 'node_modules'))
    }
  }
}

function packument(name: string, versions: ReadonlyMap<string, Published>, origin: string): object {
  const [latest] = versions.keys()
  return {
    name,
    'dist-tags': { latest },
    versions: Object.fromEntries(
      [...versions].map(([version, { manifest }]) => [
        version,
        {
          ...manifest,
          hasInstallScript: ['preinstall', 'install', 'postinstall'].some(
            (script) => manifest.scripts?.[script] !== undefined,
          ),
          dist: { tarball: `${origin}/${name}/-/${version}.tgz` },
        },
      ]),
    ),
  }
}

function packed({ manifest, source }: Published, folder: string): Buffer {
  const { name, version } = manifest
  if (source.endsWith('.tgz')) return readFileSync(source)
  const file = join(folder, `${name.replace('/', '+')}@${version}.tgz`)
  if (!existsSync(file)) {
    const stage = join(folder, 'stage')
    rmSync(stage, { recursive: true, force: true })
    copy(source, join(stage, 'package'))
    if (source === standIn()) writeFileSync(join(stage, 'package/package.json'), JSON.stringify(manifest))
    restoreBinary(name, source, join(stage, 'package'))
    execFileSync('tar', ['-cf', file, '-C', stage, 'package'])
  }
  return readFileSync(file)
}

function copy(from: string, to: string): void {
  mkdirSync(to, { recursive: true })
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (entry.name === 'node_modules') continue
    if (entry.isDirectory()) copy(source, target)
    else if (!entry.isFile()) continue
    else if (isLargeProgram(source)) writeFileSync(target, runInstead(source), { mode: 0o755 })
    else cpSync(source, target)
  }
}

/** A large library, such as a `.node` file, is copied all the same. */
function isLargeProgram(file: string): boolean {
  const { size, mode } = statSync(file)
  return size > MAX_COPIED_BYTES && (mode & 0o111) !== 0 && !file.endsWith('.node')
}

const runInstead = (program: string): string => `#!/bin/sh\nexec '${program}' "$@"\n`

/** Bun moves its program out of the platform's package as it is installed. */
function restoreBinary(name: string, source: string, to: string): void {
  if (!name.startsWith('@oven/bun-')) return
  const program = join(source, '../../bun/bin/bun.exe')
  mkdirSync(join(to, 'bin'), { recursive: true })
  if (existsSync(program)) writeFileSync(join(to, 'bin/bun'), runInstead(program), { mode: 0o755 })
}
