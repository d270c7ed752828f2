import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, posix } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readModules } from '../architecture/_modules.ts'
import { startLockRegistry } from './_lock-registry.ts'
import { BIN, type PackedPackage, ROOT, run, unpackPackage } from './_packed.ts'

let packed: PackedPackage
beforeAll(() => {
  packed = unpackPackage()
})
afterAll(() => packed.remove())

describe('the tarball', () => {
  it('holds the compiled sources, their types and its documents and examples, and nothing else', () => {
    const documents = ['package.json', 'README.md', 'LICENSE', 'llms.txt', 'CHANGELOG.md', 'SECURITY.md']
    documents.push('dist/THIRD-PARTY.txt')
    const examples = /^examples\/(?!.*node_modules)[\w/.[\]+-]+\/(?:[\w+-]+(?:\.d)?\.ts|wrangler\.toml)$/
    const others =
      /^(?:dist\/(?:src|adapters|deploy|chunks)\/[\w/-]+\.(?:js|js\.map|d\.ts)|docs\/[\w/-]+\.(?:md|svg|png))$/
    expect(packed.files.filter((file) => !others.test(file) && !examples.test(file)).sort()).toEqual(
      documents.sort(),
    )
    expect(packed.files).toContain('docs/deploy/lambda.md')
    expect(packed.files.length).toBeGreaterThan(100)
  })

  it('has every file that its README and its pages link to', () => {
    const pages = packed.files.filter((file) => file === 'README.md' || /^docs\/.*\.md$/.test(file))
    const dead = pages.flatMap((page) =>
      Array.from(
        readFileSync(join(packed.installed, page), 'utf8').matchAll(/\]\((?!https?:|mailto:|#)([^)#\s]+)/g),
        ([, link]) => posix.join(posix.dirname(page), link!),
      ).filter((file) => !packed.files.includes(file)),
    )
    expect(pages.length).toBeGreaterThan(40)
    expect(dead).toEqual([])
  })

  it('installs silently: no script that npm would ask about', () => {
    const { scripts = {} } = packed.manifest as { scripts?: Record<string, string> }
    const asked = [
      'preinstall',
      'install',
      'postinstall',
      'prepublish',
      'preprepare',
      'prepare',
      'postprepare',
    ]
    expect(asked.filter((name) => Object.hasOwn(scripts, name))).toEqual([])
  })

  it('names a repository, a home page and a place for bugs only once there are some', () => {
    expect(packed.manifest).not.toHaveProperty('repository')
    expect(packed.manifest).not.toHaveProperty('homepage')
    expect(packed.manifest).not.toHaveProperty('bugs')
  })

  it('has types of the library alone, for every module', () => {
    const types = packed.files.filter((file) => file.startsWith('dist/') && file.endsWith('.d.ts'))
    const wanted = [...readModules('src'), ...readModules('adapters')].map(
      ({ file }) => `dist/${file.replace(/\.ts$/, '.d.ts')}`,
    )
    expect(types.sort()).toEqual(wanted.sort())
  })

  it('has one script for each page of the playground', () => {
    const served = 'dist/deploy/playground/browser/'
    expect(packed.files.filter((file) => file.startsWith(served))).toEqual([
      `${served}main.js`,
      `${served}tasks.js`,
    ])
  })

  it('names no path of the machine that built it', () => {
    for (const file of packed.files) {
      expect(readFileSync(join(packed.installed, file), 'utf8'), file).not.toContain(ROOT.replace(/\/$/, ''))
    }
  })

  it('refers to no source map that it does not hold, and holds none that nothing refers to', () => {
    const referring = packed.files.filter(
      (file) =>
        file.endsWith('.js') &&
        readFileSync(join(packed.installed, file), 'utf8').includes('sourceMappingURL'),
    )
    const maps = packed.files.filter((file) => file.endsWith('.map'))
    expect(maps.sort()).toEqual(referring.map((file) => `${file}.map`).sort())
  })

  it('licenses itself as it says: MIT', () => {
    expect(readFileSync(join(packed.installed, 'LICENSE'), 'utf8')).toContain('MIT License')
    expect(packed.manifest).toMatchObject({ license: 'MIT' })
  })

  it('has a CLI that runs where it is installed', () => {
    const cli = join(packed.installed, 'dist/deploy/cli.js')
    expect(readFileSync(cli, 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/)
    expect(run(process.execPath, [cli, '--help'], packed.project)).toContain('mayfly')
  })
})

describe('npm installs it beside', () => {
  const LOCKS = ['.', 'test/byo', 'test/runtimes/node/hono-1']

  /** What npm would install in an empty project, by its path there. */
  async function install(...wanted: string[]): Promise<{ readonly [path: string]: { version?: string } }> {
    await using registry = await startLockRegistry(LOCKS)
    const project = mkdtempSync(join(tmpdir(), 'mayfly-beside-'))
    try {
      const folder = join(project, 'app')
      mkdirSync(folder)
      writeFileSync(join(folder, 'package.json'), '{ "name": "app", "private": true }')
      const settings = ['--registry', registry.url, '--cache', join(project, 'cache'), '--fetch-retries', '0']
      // What npm refuses is read from what it prints, and `npm run --silent` hands its silence on.
      settings.push('--loglevel', 'error')
      const args = [
        'install',
        '--package-lock-only',
        '--ignore-scripts',
        '--no-audit',
        '--no-fund',
        ...settings,
      ]
      await promisify(execFile)('npm', [...args, packed.tarball, ...wanted], { cwd: folder })
      const lock = readFileSync(join(folder, 'package-lock.json'), 'utf8')
      return (JSON.parse(lock) as { packages: { [path: string]: { version?: string } } }).packages
    } finally {
      rmSync(project, { recursive: true, force: true, maxRetries: 5 })
    }
  }

  it.each([
    ['@hono/node-server', ['@hono/node-server@1.19.19'], '1.19.19'],
    ['@hono/node-server', ['@hono/node-server@2.1.8'], '2.1.8'],
    ['@mastra/mcp', ['@mastra/mcp@1.18.0', '@mastra/core@1.71.0'], '1.18.0'],
    ['@mastra/mcp', ['@mastra/mcp@2.0.0', '@mastra/core@1.71.0'], '2.0.0'],
    ['@modelcontextprotocol/sdk', ['@modelcontextprotocol/sdk'], undefined],
  ])('%s: %j', async (name, wanted, version) => {
    const installed = await install(...wanted)
    const found = installed[`node_modules/${name}`]?.version

    expect(version ?? found).toBe(found)
    expect(installed['node_modules/mayfly-mcp']).toBeDefined()
    // What the Node adapter gets.
    expect(installed['node_modules/@hono/node-server']?.version).toMatch(/^(?:1\.19\.(?:9|\d\d)|2\.)/)
  })

  it('what its peers do not allow is refused: npm decides here as it does for users', async () => {
    await expect(install('@modelcontextprotocol/server@2.0.0')).rejects.toThrow(/ERESOLVE/)
  })
})

describe('the linters of packages', () => {
  it('publint finds nothing', () => {
    expect(run(join(BIN, 'publint'), [packed.tarball, '--strict'], packed.project)).toContain('All good')
  })

  it('attw finds nothing: the types resolve as the modules do, ESM only', () => {
    const args = [packed.tarball, '--profile', 'esm-only', '--format', 'json']
    const { analysis } = JSON.parse(run(join(BIN, 'attw'), args, packed.project)) as {
      analysis: { problems?: { kind: string; resolutionKind?: string }[]; entrypoints: object }
    }
    const ignored = ['node10', 'node16-cjs']
    const problems = (analysis.problems ?? []).filter(
      ({ resolutionKind = '' }) => !ignored.includes(resolutionKind),
    )
    expect(problems).toEqual([])
    expect(Object.keys(analysis.entrypoints)).toHaveLength(Object.keys(packed.manifest.exports).length)
  })
})
