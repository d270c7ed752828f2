import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { STRICT, typeFaults } from '../_type-check.ts'
import { type PackedPackage, run, unpackPackage } from './_packed.ts'
import exported from './exports.json' with { type: 'json' }

/** Values and types by entry point; adding one is a decision, taking one away breaks users. */
const API: { readonly [entry: string]: { values: string[]; types: string[] } } = exported

let packed: PackedPackage
beforeAll(() => {
  packed = unpackPackage()
})
afterAll(() => packed.remove())

const CONSUMER = `
import { createMemoryBus, createPrompt, createResource, createTool, jsonSchema, MCPServer } from 'mayfly-mcp'
import type { CallToolResult, Env, McpContext } from 'mayfly-mcp'
import { cloudflare } from 'mayfly-mcp/cloudflare'
import { nodeListener, serve } from 'mayfly-mcp/node'
import * as z from 'zod'

declare module 'mayfly-mcp' {
  interface Env { readonly DATABASE_URL: string }
}

const add = createTool({
  id: 'add',
  inputSchema: z.object({ a: z.number(), b: z.number().default(1) }),
  outputSchema: z.object({ sum: z.number() }),
  execute: ({ a, b }, ctx) => {
    const url: string = ctx.env.DATABASE_URL
    ctx.log('info', url)
    return { sum: a + b }
  },
})
const greet = createTool({
  id: 'greet',
  inputSchema: jsonSchema<{ name: string }>({ type: 'object', properties: { name: { type: 'string' } } }),
  execute: ({ name }): CallToolResult => ({ content: [{ type: 'text', text: name.toUpperCase() }] }),
})
export const server = new MCPServer({
  id: 'consumer',
  name: 'Consumer',
  version: '1.0.0',
  bus: createMemoryBus(),
  tools: { add, greet },
  prompts: { review: createPrompt({ argsSchema: { code: z.string() }, get: ({ code }) => code.trim() }) },
  resources: [createResource({ uriTemplate: 'users://{id}', read: ({ variables }) => variables.id ?? '' })],
  setup: (request, { headers }) => {
    if (headers.has('x-admin')) request.tool('add').disable()
  },
})
server.registerTool('who', { inputSchema: { loud: z.boolean() } }, ({ loud }, ctx: McpContext) => String(loud && ctx.era))
export const worker = { fetch: cloudflare(server) }
export const listener = nodeListener(server)
export const started = serve(server, { port: 0 })
export type Url = Env['DATABASE_URL']

declare const given: string | undefined
createTool({ id: 'titled', title: given, description: given, execute: () => '' })
export const published = new MCPServer({
  name: 'Published',
  version: '1.0.0',
  instructions: given,
  http: { publicUrl: given, allowedHosts: given?.split(',') },
})
// @ts-expect-error a variable that is not set would leave the server open
new MCPServer({ name: 'Open', version: '1.0.0', auth: undefined })

// @ts-expect-error the output must match the outputSchema
createTool({ id: 'bad', outputSchema: z.object({ sum: z.number() }), execute: () => ({ sum: 'three' }) })
`

/** What TypeScript says of a file in the project that has the package installed. */
function diagnose(moduleResolution: 'NodeNext' | 'Bundler', text: string): string[] {
  const file = join(packed.project, `consumer-${moduleResolution}.ts`)
  writeFileSync(file, text)
  const isNode = moduleResolution === 'NodeNext'
  const program = ts.createProgram([file], {
    target: ts.ScriptTarget.ES2022,
    module: isNode ? ts.ModuleKind.NodeNext : ts.ModuleKind.ESNext,
    moduleResolution: isNode ? ts.ModuleResolutionKind.NodeNext : ts.ModuleResolutionKind.Bundler,
    lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
    types: ['node'],
    typeRoots: [join(packed.project, 'node_modules/@types')],
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    noEmit: true,
  })
  return ts
    .getPreEmitDiagnostics(program)
    .map(
      ({ file: where, messageText }) =>
        `${where?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`,
    )
}

/** The names a module exports, types among them, as its shipped declarations say. */
function declaredNames(entry: string): { values: string[]; types: string[] } {
  const file = join(packed.project, 'names.ts')
  writeFileSync(file, `import * as entry from '${entry}'\nexport { entry }\n`)
  const program = ts.createProgram([file], {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    noEmit: true,
  })
  const checker = program.getTypeChecker()
  const [first] = program.getSourceFile(file)!.statements
  const module = checker.getSymbolAtLocation((first as ts.ImportDeclaration).moduleSpecifier)!
  const values: string[] = []
  const types: string[] = []
  for (const symbol of checker.getExportsOfModule(module)) {
    const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
    ;(target.flags & ts.SymbolFlags.Value ? values : types).push(symbol.name)
  }
  return { values: values.sort(), types: types.sort() }
}

/** The declarations it reaches that add members to an interface of another. */
function additionsOf(entry: string): string[] {
  const { types } = packed.manifest.exports[entry.replace(packed.manifest.name, '.')] as { types: string }
  const reached = new Set([join(packed.installed, types)])
  for (const file of reached)
    for (const [, path] of readFileSync(file, 'utf8').matchAll(
      /(?:from |import\()['"](\.[^'"]+)\.[jt]s['"]/g,
    ))
      reached.add(join(dirname(file), `${path}.d.ts`))
  return [...reached].filter((file) => /^declare module/m.test(readFileSync(file, 'utf8'))).sort()
}

describe('installed in an empty project', () => {
  it('every entry point can be imported by plain Node, and does nothing else', () => {
    const code = `
      const names = {}
      for (const entry of process.argv.slice(1)) names[entry] = Object.keys(await import(entry)).sort()
      console.log(JSON.stringify(names))`
    const output = run(
      process.execPath,
      ['--input-type=module', '-e', code, ...packed.entries],
      packed.project,
    )
    const values = Object.fromEntries(Object.entries(API).map(([entry, names]) => [entry, names.values]))
    expect(JSON.parse(output)).toEqual(values)
  })

  it('exports what exports.json lists, types included: a change of either is a change of the API', () => {
    const names = Object.fromEntries(packed.entries.map((entry) => [entry, declaredNames(entry)]))
    expect(names).toEqual(API)
  }, 180_000)

  it('what is not an entry point cannot be imported', () => {
    const code = `
      const codes = []
      for (const path of ['/dist/src/server.js', '/src/server.ts', '/deploy'])
        await import('${packed.manifest.name}' + path).catch(({ code }) => codes.push(code))
      console.log(codes.join())`
    const output = run(process.execPath, ['--input-type=module', '-e', code], packed.project)
    expect(new Set(output.trim().split(','))).toEqual(new Set(['ERR_PACKAGE_PATH_NOT_EXPORTED']))
  })

  it('a server in it answers', () => {
    const code = `
      import { createTool, MCPServer } from 'mayfly-mcp'
      const hello = createTool({ id: 'hello', execute: () => 'Hello' })
      const server = new MCPServer({ id: 'x', name: 'X', version: '1', log: false, tools: { hello } })
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'hello' } })
      const headers = { 'content-type': 'application/json' }
      console.log(await (await server.fetch(new Request('https://x.example/mcp', { method: 'POST', headers, body }))).text())`
    const output = run(process.execPath, ['--input-type=module', '-e', code], packed.project)
    expect(JSON.parse(output)).toMatchObject({
      id: 1,
      result: { content: [{ type: 'text', text: 'Hello' }] },
    })
  })

  it('the declarations of an entry point are whole without what others add to them', () => {
    // Entry points that bring the same additions are compiled together: one after the other, they take minutes.
    const groups: { [additions: string]: string[] } = {}
    for (const entry of packed.entries) {
      const additions = additionsOf(entry).join()
      groups[additions] = [...(groups[additions] ?? []), entry]
    }
    expect(Object.keys(groups).length).toBeGreaterThan(1)
    const faults = Object.values(groups).flatMap((entries, at) => {
      const file = join(packed.project, `alone-${at}.ts`)
      writeFileSync(file, entries.map((entry) => `import '${entry}'\n`).join(''))
      const typeRoots = [join(packed.project, 'node_modules/@types')]
      const found = typeFaults([file], { compilerOptions: { ...STRICT, typeRoots, skipLibCheck: false } })
      return found.filter((fault) => /(?:^|\/)mayfly-mcp\/dist\//.test(fault))
    })
    expect(faults).toEqual([])
  })

  it.each(['NodeNext', 'Bundler'] as const)(
    'a consumer type-checks under %s, declarations of libraries included',
    (moduleResolution) => {
      expect(diagnose(moduleResolution, CONSUMER)).toEqual([])
    },
  )
})
