/** What an import opens: few files, none of the command line's, and nothing that is loaded later. */
import { existsSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join, posix } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { type Module, readModules } from '../architecture/_modules.ts'
import { type PackedPackage, ROOT, run, unpackPackage } from './_packed.ts'

/** In the tarball: the entry points, the commands, what these start, and what they share. */
const MOST_FILES = 136

/** Of this package, by what is imported. */
const MOST_OPENED: { readonly [entry: string]: number } = {
  'mayfly-mcp': 4,
  'mayfly-mcp/cloudflare': 8,
  'mayfly-mcp/node': 10,
  'mayfly-mcp/client': 10,
}

let packed: PackedPackage
beforeAll(() => {
  packed = unpackPackage()
})
afterAll(() => packed.remove())

/** The files of this package that Node loads for an import: `dist/src/index.js`. */
function openedBy(entry: string): string[] {
  const code = `
    import { registerHooks } from 'node:module'
    import { fileURLToPath } from 'node:url'
    const load = (url, context, next) => {
      if (url.startsWith('file:')) console.log(fileURLToPath(url))
      return next(url, context)
    }
    registerHooks({ load })
    await import('${entry}')`
  const files = run(process.execPath, ['--input-type=module', '-e', code], packed.project).split('\n')
  const own = `${packed.installed}/`
  return files.filter((file) => file.startsWith(own)).map((file) => file.slice(own.length))
}

interface SourceMap {
  readonly sources: readonly string[]
  readonly sourcesContent?: readonly unknown[]
}

/** Undefined for a file that only hands on what another one has. */
function mapOf(file: string): SourceMap | undefined {
  const path = join(packed.installed, `${file}.map`)
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as SourceMap) : undefined
}

/** The sources that a file was made of, as paths in this repository. */
const sourcesOf = (file: string): string[] =>
  (mapOf(file)?.sources ?? []).map((source) => posix.join(posix.dirname(file), source))

const scripts = (): string[] => packed.files.filter((file) => file.endsWith('.js'))

describe('the modules of the package', () => {
  it(`are in ${MOST_FILES} files at most`, () => {
    expect(scripts().length).toBeLessThanOrEqual(MOST_FILES)
  })

  it('are made of all sources, each of which is in one file', () => {
    const sources = scripts()
      .flatMap(sourcesOf)
      .filter((source) => !source.startsWith('node_modules/'))
    expect(sources.length).toBeGreaterThan(500)
    expect(sources.filter((source) => !existsSync(join(ROOT, source)))).toEqual([])
    expect(sources.filter((source, index) => sources.indexOf(source) !== index)).toEqual([])
  })

  it('are readable: not minified', () => {
    for (const file of scripts().filter((one) => !one.includes('/browser/'))) {
      const code = readFileSync(join(packed.installed, file), 'utf8')
      const lines = code.split('\n').filter((line) => !/^(?:import|export) /.test(line))
      expect(lines.join().length / lines.length, file).toBeLessThan(300)
    }
  })
})

/** The libraries that are a part of sign-in. */
const isOfSignIn = (entry: string, source: string): boolean =>
  entry.startsWith('mayfly-mcp/sign-in') &&
  /^node_modules\/(?:@cloudflare\/workers-oauth-provider|oauth4webapi)\//.test(source)

/** The modules of this package that `import()` loads in one, as paths in this repository. */
const loadedLater = ({ file, text }: Module): string[] =>
  Array.from(text.matchAll(/\bimport\('(\.[^']+)'\)(?!\.)/g), ([, path]) =>
    posix.join(posix.dirname(file), path!),
  )

describe('an import opens', () => {
  it.each(Object.entries(MOST_OPENED))('of %s: at most %i files', (entry, most) => {
    const opened = openedBy(entry)
    expect(opened.length).toBeGreaterThan(0)
    expect(opened.length, opened.join('\n')).toBeLessThanOrEqual(most)
  })

  it('nothing of the command line or its playground, whichever entry point it is', () => {
    for (const entry of packed.entries) {
      const sources = openedBy(entry).flatMap(sourcesOf)
      expect(
        sources.filter((source) => !/^(?:src|adapters)\//.test(source) && !isOfSignIn(entry, source)),
        entry,
      ).toEqual([])
    }
  })

  it('nothing of what mayfly-mcp loads at its first use', () => {
    const modules = [...readModules('src'), ...readModules('adapters')]
    const later = modules.flatMap(loadedLater)
    const now = openedBy('mayfly-mcp').flatMap(sourcesOf)
    expect(later.length).toBeGreaterThan(0)
    expect(now).toContain('src/server.ts')
    expect(later.filter((file) => now.includes(file))).toEqual([])
  })
})

describe('where an error is', () => {
  it('is told by the sources, where Node reads source maps', () => {
    const code = `
      import { MCPServer } from 'mayfly-mcp'
      const options = { id: 'x', name: 'X', version: '1', nonsense: 1 }
      try { new MCPServer(options) } catch ({ stack }) { console.log(stack) }`
    const stack = run(
      process.execPath,
      ['--enable-source-maps', '--input-type=module', '-e', code],
      packed.project,
    )
    const [, name, line] =
      /^ +at (?:new )?(\w+) \(.*\bsrc\/definition\/unknown-option\.ts:(\d+):\d+\)$/m.exec(stack) ?? []
    const source = readFileSync(join(ROOT, 'src/definition/unknown-option.ts'), 'utf8').split('\n')
    expect(source[Number(line) - 1], `${name} in ${stack}`).toMatch(/\bthrow new TypeError|refuse/)
  })

  it('needs no text of the sources in the package, which would be twice as large', () => {
    const maps = scripts().flatMap((file) => mapOf(file) ?? [])
    expect(maps.length).toBeGreaterThan(50)
    expect(maps.filter(({ sourcesContent }) => sourcesContent?.some((text) => text))).toEqual([])
  })
})

describe('the packages that are a part of our files', () => {
  it('come with their licences, and are not installed beside them', () => {
    const text = readFileSync(join(packed.installed, 'dist/THIRD-PARTY.txt'), 'utf8')
    const parts = scripts()
      .flatMap(sourcesOf)
      .flatMap((source) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1] ?? [])
    expect([...new Set(parts)].sort()).toEqual([
      '@cloudflare/workers-oauth-provider',
      'fflate',
      'jsonc-parser',
      'oauth4webapi',
      'smol-toml',
    ])
    for (const name of parts) expect(text).toMatch(new RegExp(`^${name} \\d`, 'm'))
    expect(text.match(/Permission is hereby granted|Redistribution and use/g)).toHaveLength(5)
    expect(Object.keys(packed.manifest.dependencies).filter((name) => parts.includes(name))).toEqual([])
  })
})

interface Planned {
  readonly size: number
  readonly imports: readonly string[]
  readonly later: readonly string[]
}

describe('which modules share a file', () => {
  it('is the same in whatever order the bundler finds them', async () => {
    const { planChunks } = (await import(join(ROOT, 'scripts/chunks.mjs'))) as {
      planChunks(
        modules: ReadonlyMap<string, Planned>,
        entries: readonly string[],
        optional: readonly string[],
      ): Map<string, string>
    }
    const { published, started } = (await import(join(ROOT, 'scripts/entries.mjs'))) as Entries
    const entries = [...published(manifest), ...started(ROOT)]
    const nameOf = (file: string) => file.replace(/\.ts$/, '')
    const modules = ['src', 'adapters', 'deploy'].flatMap(readModules).map((module) => {
      const { file, text, imports } = module
      const part: Planned = {
        size: text.length,
        imports: imports.map(({ specifier, file: imported }) => nameOf(imported ?? specifier)),
        later: loadedLater(module).map(nameOf),
      }
      return [nameOf(file), part] as const
    })
    const plan = (found: typeof modules) =>
      [...planChunks(new Map(found), entries, Object.keys(manifest.peerDependencies))].sort()
    const expected = plan(modules)
    expect(new Set(expected.map(([, chunk]) => chunk)).size).toBeGreaterThan(10)
    const turned = (by: number) => [...modules.slice(by), ...modules.slice(0, by)]
    for (const found of [modules.toReversed(), turned(100), turned(300), turned(500).reverse()])
      expect(plan(found)).toEqual(expected)
  })
})

interface Entries {
  readonly published: (manifest: unknown) => readonly string[]
  readonly started: (root: string) => readonly string[]
}

interface Needs {
  /** The packages without which it cannot be loaded: what it imports before it runs. */
  readonly now: readonly string[]
  /** All packages and modules of Node that it may import, also later: a bundler for a platform without one refuses it. */
  readonly ever: readonly string[]
}

async function needsOf(file: string): Promise<Needs> {
  const { metafile } = await build({
    entryPoints: [file],
    bundle: true,
    write: false,
    metafile: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    logLevel: 'error',
  })
  const [entry] = Object.values(metafile.outputs).map(({ entryPoint }) => entryPoint!)
  const follow = (isFollowed: (kind: string) => boolean): string[] => {
    const found = new Set<string>()
    const visited = new Set<string>()
    const visit = (path: string): void => {
      if (visited.has(path)) return
      visited.add(path)
      for (const { path: imported, kind, external } of metafile.inputs[path]?.imports ?? []) {
        if (!isFollowed(kind)) continue
        if (!external) visit(imported)
        else found.add(isBuiltin(imported) ? imported : imported.match(/^(?:@[^/]+\/)?[^/]+/)![0])
      }
    }
    visit(entry!)
    return [...found].sort()
  }
  return {
    now: follow((kind) => kind !== 'dynamic-import').filter((name) => !isBuiltin(name)),
    ever: follow(() => true),
  }
}

describe('without an optional package, or a module of Node', () => {
  it('all works that did not import it before its modules shared files', async () => {
    const optional = Object.keys(manifest.peerDependencies)
    const { published, started } = (await import(join(ROOT, 'scripts/entries.mjs'))) as Entries
    const needs = new Set<string>()
    for (const entry of [...published(manifest), ...started(ROOT)]) {
      const own = await needsOf(join(packed.installed, 'dist', `${entry}.js`))
      const wanted = await needsOf(join(ROOT, `${entry}.ts`))
      const more = own.now.filter((name) => optional.includes(name) && !wanted.now.includes(name))
      expect(more, entry).toEqual([])
      const everMore = own.ever.filter((name) => !wanted.ever.includes(name))
      expect(entry.startsWith('deploy/') ? [] : everMore, entry).toEqual([])
      for (const name of own.now) needs.add(name)
    }
    // Some entry points do need one.
    expect([...needs]).toContain('@modelcontextprotocol/client')
  })

  it('the command line starts', () => {
    expect(run(process.execPath, [join(packed.installed, 'dist/deploy/cli.js'), '--help'], '/')).toContain(
      'mayfly',
    )
  })
})
