/** What `mayfly build` makes of `import()`: a file of its own, where the platform can open one later. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as esbuild from 'esbuild'
import fc from 'fast-check'
import { unzipSync } from 'fflate'
import { describe, expect, test } from 'vitest'
import { type Bundle, splitBundle } from '../../deploy/build/split.ts'
import { MayflyProcess, Project } from './_dev-process.ts'

type Files = { readonly [path: string]: string }

class Arranged extends Project {
  constructor(files: Files) {
    super()
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(this.folder, path)), { recursive: true })
      this.write(path, text)
    }
  }

  /** The files below `folder`, by name. */
  async built(target: string, folder = ''): Promise<Map<string, string>> {
    const { code, stderr } = await new MayflyProcess(['build', '--target', target], this.folder).exited
    expect({ code, stderr: stderr.replace(/^mayfly: .* next: .*$/m, '') }).toMatchObject({ code: 0 })
    const at = join(this.folder, 'dist', target, folder)
    return new Map(readdirSync(at).map((name) => [name, readFileSync(join(at, name), 'latin1')]))
  }
}

const SERVER = `import { greeting } from './shared.ts'
export default {
  async fetch() {
    const { report } = await import('./report.ts')
    return new Response(greeting + report())
  },
}`
const PROJECT: Files = {
  'package.json': '{ "name": "a", "type": "module" }',
  'server.ts': SERVER,
  'shared.ts': `export const greeting = 'hello, ' + Object.keys({ shared: 1 })`,
  'report.ts': `import { greeting } from './shared.ts'\nexport const report = () => 'the-report of ' + greeting`,
}

const TARGETS = [
  ['node', '', 'server.mjs'],
  ['deno', '', 'server.js'],
  ['bun', '', 'server.js'],
  ['vercel', '.vercel/output/functions/mcp.func', 'index.mjs'],
] as const

describe('mayfly build', { timeout: 120_000 }, () => {
  test.for(TARGETS)(
    '--target %s writes what is loaded later beside the program',
    async ([target, folder, main]) => {
      await using project = new Arranged(PROJECT)
      const files = await project.built(target, folder)
      expect(files.get(main)?.includes('the-report')).toBe(false)
      const [name, ...others] = [...files.keys()].filter((one) => /^report-\w{8}\.m?js$/.test(one))
      expect(others).toEqual([])
      expect(files.get(name!)?.includes('the-report')).toBe(true)

      const again = await project.built(target, folder)
      expect(again).toEqual(files)
      project.write('report.ts', PROJECT['report.ts']!.replace('the-report', 'another'))
      const changed = await project.built(target, folder)
      expect(changed.has(name!)).toBe(false)
      expect(changed.size).toBe(files.size)
    },
  )

  test('--target lambda has them in its zip, and runs from it', async () => {
    await using project = new Arranged(PROJECT)
    const zip = (await project.built('lambda')).get('function.zip')!
    const files = unzipSync(Buffer.from(zip, 'latin1'))
    expect(Object.keys(files)[0]).toBe('index.mjs')
    expect(Object.keys(files).filter((name) => name.startsWith('report-'))).toHaveLength(1)
    for (const [name, content] of Object.entries(files)) project.write(name, content)
    const script = `globalThis.awslambda = { streamifyResponse: (handler) => handler }
      const { handler } = await import('./index.mjs')
      const event = { version: '2.0', rawPath: '/mcp', rawQueryString: '', headers: {}, isBase64Encoded: false,
        requestContext: { http: { method: 'GET', path: '/mcp', sourceIp: '192.0.2.1' }, domainName: 'a.example' } }
      console.log((await handler(event, { getRemainingTimeInMillis: () => 1000 })).body)`
    rmSync(join(project.folder, 'report.ts'))
    const args = ['--input-type=module', '-e', script]
    expect(String(execFileSync(process.execPath, args, { cwd: project.folder }))).toBe(
      'hello, sharedthe-report of hello, shared\n',
    )
  })

  test.for([
    ['supabase', 'supabase/functions/a', 'index.js'],
    ['netlify', 'netlify/functions', 'mcp.mjs'],
    ['netlify-edge', 'netlify/edge-functions', 'mcp.js'],
    ['vercel-edge', '.vercel/output/functions/mcp.func', 'index.js'],
  ] as const)('--target %s stays one file, with everything in it', async ([target, folder, main]) => {
    await using project = new Arranged(PROJECT)
    const files = await project.built(target, folder)
    expect(files.get(main)?.includes('the-report')).toBe(true)
    expect([...files.keys()].filter((name) => /\.m?js$/.test(name))).toEqual([main])
  })

  test('finds a secret in a file beside the program', async () => {
    await using project = new Arranged({ ...PROJECT, '.env': 'API_KEY=the-report of the year 2026\n' })
    project.write('report.ts', `export const report = () => 'the-report of the year 2026'`)
    const { code, stderr } = await new MayflyProcess(['build', '--target', 'node'], project.folder).exited
    expect(code).toBe(1)
    expect(stderr).toMatch(/would contain the value of API_KEY from \.env, in report-\w{8}\.mjs/)
  })

  test('tells the place of an error in a file beside the program', async () => {
    await using project = new Arranged({
      ...PROJECT,
      'shared.ts': `export const greeting: string = 'hello'\n\nif (process.env.BROKEN) throw new RangeError('no ' + greeting)`,
    })
    const files = await project.built('node')
    expect([...files].filter(([, text]) => text.includes('RangeError("no'))).not.toEqual([])
    const failed = (): unknown =>
      execFileSync(process.execPath, ['dist/node/server.mjs'], {
        cwd: project.folder,
        env: { ...process.env, BROKEN: '1' },
        stdio: 'pipe',
      })
    expect(failed).toThrow('cannot load the server: RangeError: no hello (shared.ts:3:31)')
  })
})

describe('the order in which modules run', { timeout: 120_000 }, () => {
  const ORDERED: Files = {
    ...PROJECT,
    'server.ts': `import './first.ts'\n${SERVER}`,
    'first.ts': `globalThis.FIRST = 'set'`,
    'shared.ts': `export const greeting = 'hello, ' + globalThis.FIRST`,
  }
  // esbuild tells no format of a module without imports and exports.
  const UNTYPED = {
    ...ORDERED,
    'package.json': '{ "name": "a" }',
    'server.ts': `import './first.js'\n${SERVER}`,
  }

  // As `dotenv/config` is: where its importer stands, not where its code is.
  const COMMON = { ...ORDERED, 'server.ts': `import './first.cjs'\n${SERVER}` }

  test.for([
    ORDERED,
    { ...UNTYPED, 'first.js': ORDERED['first.ts']! },
    { ...COMMON, 'first.cjs': ORDERED['first.ts']! },
  ])(
    'stays what it is: one file if a shared module would run before what its importer imports first',
    async (arranged) => {
      await using project = new Arranged(arranged)
      const files = await project.built('bun')
      expect([...files.keys()].filter((name) => name.endsWith('.js'))).toEqual(['server.js'])
      expect(files.get('server.js')?.includes('the-report')).toBe(true)
    },
  )

  test('is of no matter for packages that declare no side effects', async () => {
    await using project = new Arranged({
      ...ORDERED,
      'server.ts': ORDERED['server.ts']!.replace('./shared.ts', 'shared'),
      'report.ts': PROJECT['report.ts']!.replace('./shared.ts', 'shared'),
      'node_modules/shared/package.json': `{ "name": "shared", "type": "module", "exports": "./a.js", "sideEffects": false }`,
      'node_modules/shared/a.js': `export const greeting = 'hello ' + Object.keys({ shared: 1 })`,
    })
    const files = await project.built('bun')
    expect([...files.keys()].filter((name) => /^(?:report|chunk)-/.test(name))).toHaveLength(2)
  })

  /** Module 0 is the entry. Each imports later ones, as an ES module does or as CommonJS, and the entry loads some of them when it runs. */
  const GRAPHS = fc
    .array(
      fc.record({
        isCommon: fc.boolean(),
        imports: fc.uniqueArray(fc.integer({ min: 1, max: 6 }), { maxLength: 4 }),
      }),
      { minLength: 3, maxLength: 7 },
    )
    .chain((modules) =>
      fc.record({
        modules: fc.constant(modules),
        loads: fc.uniqueArray(fc.integer({ min: 1, max: modules.length - 1 }), { minLength: 1 }),
      }),
    )

  test('of ES modules and CommonJS is the order without a bundle, whatever imports what', async () => {
    await using project = new Arranged({ 'package.json': '{ "type": "module" }' })
    const bundle: Bundle = (all) => esbuild.build({ ...all, write: false, metafile: true })
    const graphs: number[] = []
    for (const [index, { modules, loads }] of fc.sample(GRAPHS, { seed: 1, numRuns: 150 }).entries()) {
      const folder = join(project.folder, `graph${index}`)
      const isCommon = (one: number): boolean => one > 0 && modules[one]!.isCommon
      const nameOf = (one: number): string => `./m${one}.${isCommon(one) ? 'cjs' : 'mjs'}`
      for (const [at, { imports }] of modules.entries()) {
        const needed = imports.filter(
          (one) => one > at && one < modules.length && (!isCommon(at) || isCommon(one)),
        )
        const lines = needed.map((one) =>
          isCommon(at) ? `require('${nameOf(one)}')` : `import '${nameOf(one)}'`,
        )
        const load = `export const load = async () => { ${loads.map((one) => `await import('${nameOf(one)}')`).join('\n')} }`
        const file = join(`graph${index}`, nameOf(at))
        mkdirSync(folder, { recursive: true })
        project.write(file, [...lines, `globalThis.ran.push(${at})`, ...(at === 0 ? [load] : [])].join('\n'))
      }
      const options = {
        stdin: { contents: `export * from './m0.mjs'`, resolveDir: folder },
        absWorkingDir: folder,
        outfile: join(folder, 'out/main.mjs'),
        bundle: true,
        platform: 'node',
        format: 'esm',
        logLevel: 'silent',
      } as const
      const split = await splitBundle(bundle, options, (await bundle(options)).metafile)
      if (split === undefined) continue
      graphs.push(index)
      mkdirSync(join(folder, 'out'))
      for (const { path, contents } of split) project.write(path.slice(project.folder.length), contents)
    }
    expect(graphs.length).toBeGreaterThan(30)
    const script = `const orderOf = async (file) => {
        globalThis.ran = []
        await (await import(file)).load()
        return ran.join()
      }
      for (const graph of ${JSON.stringify(graphs)}) {
        const [intended, found] = [await orderOf('./graph' + graph + '/m0.mjs'), await orderOf('./graph' + graph + '/out/main.mjs')]
        if (intended !== found) console.log(graph, intended, found)
      }`
    project.write('orders.mjs', script)
    expect(execFileSync(process.execPath, ['orders.mjs'], { cwd: project.folder, encoding: 'utf8' })).toBe('')
  })
})

describe('Mayfly’s own parts', () => {
  const PARTS = Array.from({ length: 8 }, (_, index) => index)
  const at = (path: string): string => `node_modules/mayfly-mcp/dist/${path}`
  /** Each needs another subset of what the start needs, and of what only parts need. */
  const partOf = (index: number): string => {
    const needed = ['core', 'later'].flatMap((name) =>
      [0, 1, 2].filter((bit) => (index >> bit) & 1).map((bit) => `${name}${bit}`),
    )
    const imports = needed.map((name) => `import { ${name} } from './${name}.js'`)
    return `${imports.join('\n')}\nexport const part${index} = () => [${needed.join(', ')}].map((one) => one())`
  }
  const modules = Object.fromEntries(
    [0, 1, 2].flatMap((bit) =>
      ['core', 'later'].map((name) => [
        at(`${name}${bit}.js`),
        `const state = Object.keys({ ${name}${bit}: 1 })\nexport const ${name}${bit} = () => state.push('again') && state.join()`,
      ]),
    ),
  )
  const FILES: Files = {
    ...modules,
    [at('../package.json')]: `{ "name": "mayfly-mcp", "type": "module", "sideEffects": false }`,
    ...Object.fromEntries(PARTS.map((index) => [at(`part${index}.js`), partOf(index)])),
    // The adapter of a platform, whose package must run after what the server imports first.
    [at('adapter.js')]: `import { host } from 'host'\nexport const hosted = () => host`,
    'node_modules/host/package.json': `{ "name": "host", "type": "module", "exports": "./host.js" }`,
    'node_modules/host/host.js': `export const host = 'after ' + globalThis.FIRST`,
    'first.js': `globalThis.FIRST = 'first'`,
    [at('index.js')]: [
      ...[0, 1, 2].map((bit) => `import { core${bit} } from './core${bit}.js'`),
      `export const start = () => [core0(), core1(), core2()]`,
      `export const load = [${PARTS.map((index) => `() => import('./part${index}.js')`).join(', ')}]`,
    ].join('\n'),
  }

  test('are one file each, beside one for what the start needs and one for what they share', async () => {
    await using project = new Arranged(FILES)
    const options = {
      stdin: {
        contents: `import './first.js'
          import { load, start } from './${at('index.js')}'
          import { hosted } from './${at('adapter.js')}'
          const started = [hosted(), ...start()]
          const parts = await Promise.all(load.map((one) => one()))
          console.log(JSON.stringify([started, ...parts.map((part) => Object.values(part)[0]())]))`,
        resolveDir: project.folder,
      },
      absWorkingDir: project.folder,
      outfile: join(project.folder, 'out/main.mjs'),
      bundle: true,
      minify: true,
      format: 'esm',
      logLevel: 'silent',
    } as const
    const bundle: Bundle = (all) => esbuild.build({ ...all, write: false, metafile: true })
    const whole = await bundle(options)

    const split = (await splitBundle(bundle, options, whole.metafile))!

    mkdirSync(join(project.folder, 'out'))
    for (const { path, contents } of split) project.write(path.slice(project.folder.length), contents)
    rmSync(join(project.folder, 'node_modules'), { recursive: true })
    const names = readdirSync(join(project.folder, 'out')).map((name) => name.replace(/-\w{8}\./, '.'))
    expect(names.sort()).toEqual([
      ...['chunk.mjs', 'chunk.mjs', 'main.mjs'],
      ...PARTS.map((index) => `part${index}.mjs`),
    ])
    const output = execFileSync(process.execPath, ['out/main.mjs'], { cwd: project.folder, encoding: 'utf8' })
    const [started, ...called] = JSON.parse(output) as string[][]
    expect(started).toEqual(['after first', 'core0,again', 'core1,again', 'core2,again'])
    // One instance of each module: what the last part sees is what all have left.
    expect(called.at(-1)).toEqual(
      ['core', 'later'].flatMap((name) =>
        [0, 1, 2].map((bit) => [`${name}${bit}`, ...Array(name === 'core' ? 5 : 4).fill('again')].join()),
      ),
    )
  })
})
