import { describe, expect, it } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { type Module, parseModule, readModules } from './_modules.ts'

const src = readModules('src')
const adapters = readModules('adapters')
const deploy = readModules('deploy')

/** What each layer may import besides itself: everything to its right, and events also interaction. */
const LAYERS: { readonly [layer: string]: readonly string[] } = {
  mastra: ['sdk', 'http', 'auth', 'request', 'interaction', 'events', 'definition'],
  'mcp-use': ['request', 'interaction', 'definition'],
  sdk: ['http', 'auth', 'protocol', 'request', 'interaction', 'events', 'definition'],
  http: ['auth', 'protocol', 'request', 'interaction', 'events', 'definition'],
  auth: ['request', 'interaction', 'events', 'definition'],
  keys: ['auth', 'definition'],
  keyed: ['definition'],
  'sign-in': ['keyed', 'http', 'auth', 'request', 'interaction', 'events', 'definition'],
  protocol: ['request', 'interaction', 'events', 'definition'],
  request: ['interaction', 'events', 'definition'],
  events: ['interaction', 'definition'],
  interaction: ['definition'],
  definition: [],
  extension: ['protocol', 'request', 'interaction', 'events', 'definition'],
  tasks: ['extension', 'http', 'request', 'interaction', 'events', 'definition'],
  'mcp-events': [
    'tasks',
    'extension',
    'keyed',
    'protocol',
    'http',
    'request',
    'interaction',
    'events',
    'definition',
  ],
  webhook: ['http', 'events', 'definition'],
  retrieval: ['request', 'definition'],
  otel: ['protocol', 'request', 'definition'],
  testing: ['auth', 'request', 'interaction', 'definition'],
  /** Stands beside the server: of it, only how tools are described. */
  client: ['definition'],
  gateway: ['client', 'extension', 'tasks', 'request', 'interaction', 'events', 'definition'],
}

/** The rooms of the command line, from top to bottom: each may import what is below it. */
const ROOMS = [
  'commands',
  'keys',
  'events',
  'tasks',
  'playground',
  'check',
  'registry',
  'add',
  'init',
  'ingest',
  'targets',
  'doctor',
  'build',
  'run',
  'project',
  'contract',
  'terminal',
]

const SERVER = ['src/server.ts', 'src/server-app.ts', 'src/server-info.ts', 'src/config.ts']

/** What users import, the server and its configuration: they stand above the layers and may import them all. */
const TOP = [
  ...new Set(
    Object.values(manifest.exports)
      .flatMap((entry) => (typeof entry === 'string' ? [] : Object.values(entry)))
      .flatMap((file) => /^\.\/dist\/(src\/[\w-]+)\.js$/.exec(file)?.[1] ?? [])
      .map((name) => `${name}.ts`),
  ),
  ...SERVER,
]

const layerOf = (file: string): string | undefined => /^src\/([^/]+)\//.exec(file)?.[1]

/** Imports that point against the arrows, types included: `a → b`. */
function violations(modules: readonly Module[], isAllowed: (from: string, to: string) => boolean): string[] {
  return modules.flatMap(({ file, imports }) =>
    imports
      .filter((one) => one.file !== undefined && !isAllowed(file, one.file))
      .map((one) => `${file} → ${one.file}`),
  )
}

function isAllowedInSrc(from: string, to: string): boolean {
  if (TOP.includes(from)) return SERVER.includes(to) || layerOf(to) !== undefined
  const [own, other] = [layerOf(from), layerOf(to)]
  if (own === undefined || other === undefined) return false
  return own === other || LAYERS[own]?.includes(other) === true
}

/** The first cycle of imports, types included, as the files on it. */
function findCycle(modules: readonly Module[]): string[] | undefined {
  const targets = new Map(
    modules.map(({ file, imports }) => [file, imports.flatMap((one) => one.file ?? [])]),
  )
  const done = new Set<string>()
  const visit = (file: string, path: readonly string[]): string[] | undefined => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file]
    if (done.has(file)) return undefined
    for (const next of targets.get(file) ?? []) {
      const cycle = visit(next, [...path, file])
      if (cycle !== undefined) return cycle
    }
    done.add(file)
    return undefined
  }
  for (const { file } of modules) {
    const cycle = visit(file, [])
    if (cycle !== undefined) return cycle
  }
  return undefined
}

describe('the arrows', () => {
  it('every folder of src is a layer', () => {
    const folders = new Set(src.flatMap(({ file }) => layerOf(file) ?? []))
    expect([...folders].filter((folder) => !Object.hasOwn(LAYERS, folder))).toEqual([])
    expect(
      src
        .filter(({ file }) => layerOf(file) === undefined)
        .map(({ file }) => file)
        .sort(),
    ).toEqual([...TOP].sort())
  })

  it('a layer imports only what is to its right', () => {
    expect(violations(src, isAllowedInSrc)).toEqual([])
  })

  it('src imports nothing outside of it', () => {
    expect(violations(src, (_from, to) => to.startsWith('src/'))).toEqual([])
  })

  it('an adapter imports src, and nothing of deploy or of another platform’s adapter', () => {
    const platformOf = (file: string) => /^adapters\/_?([a-z]+)/.exec(file)?.[1]
    const isOwn = (from: string, to: string) =>
      platformOf(to) !== undefined && platformOf(to) === platformOf(from)
    // What the buses, what the stores, and what substitutes for requests share belongs to no platform.
    const isShared = (to: string) => /^(src|adapters\/_bus|adapters\/_fetch|adapters\/_tasks)\//.test(to)
    expect(violations(adapters, (from, to) => isShared(to) || isOwn(from, to))).toEqual([])
  })

  it('deploy imports itself, adapters and src', () => {
    expect(violations(deploy, (_from, to) => /^(deploy|adapters|src)\//.test(to))).toEqual([])
  })

  it('a room of deploy imports only what is below it', () => {
    const roomOf = (file: string) => /^deploy\/([^/]+)\//.exec(file)?.[1] ?? file
    const floor = (file: string) => ['deploy/cli.ts', ...ROOMS].indexOf(roomOf(file))
    expect(deploy.map(({ file }) => file).filter((file) => floor(file) === -1)).toEqual([])
    expect(violations(deploy, (from, to) => !to.startsWith('deploy/') || floor(from) <= floor(to))).toEqual(
      [],
    )
  })

  it('no imports in a circle, not even of types', () => {
    expect(findCycle(src)).toBeUndefined()
    expect(findCycle([...src, ...adapters, ...deploy])).toBeUndefined()
  })

  it('every import says its extension, as Node runs the sources', () => {
    const modules = [...src, ...adapters, ...deploy]
    expect(modules.length).toBeGreaterThan(40)
    expect(violations(modules, (_from, to) => to.endsWith('.ts'))).toEqual([])
  })
})

describe('these tests', () => {
  it('see an arrow that points the other way, in every form an import has', () => {
    for (const code of [
      `import { answer } from '../protocol/answer.ts'`,
      `import type { Answer } from '../protocol/answer.ts'`,
      `export * from '../protocol/answer.ts'`,
      `export type { Answer } from '../protocol/answer.ts'`,
      `type Answer = import('../protocol/answer.ts').Answer`,
      `const load = () => import('../protocol/answer.ts')`,
      `import '../protocol/answer.ts'`,
    ]) {
      expect(violations([parseModule('src/definition/bad.ts', code)], isAllowedInSrc), code).toHaveLength(1)
    }
  })

  it('see a circle, also one that types close', () => {
    const ring = (keyword: string) => [
      parseModule('src/http/a.ts', `import { b } from './b.ts'`),
      parseModule('src/http/b.ts', `import ${keyword} { c } from './c.ts'`),
      parseModule('src/http/c.ts', `import { a } from './a.ts'`),
    ]
    const circle = ['src/http/a.ts', 'src/http/b.ts', 'src/http/c.ts', 'src/http/a.ts']
    expect(findCycle(ring(''))).toEqual(circle)
    expect(findCycle(ring('type'))).toEqual(circle)
    expect(findCycle(ring('').slice(0, 2))).toBeUndefined()
  })
})
