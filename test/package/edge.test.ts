import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createContext, runInContext } from 'node:vm'
import { build, type Metafile } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type PackedPackage, ROOT, run, unpackPackage } from './_packed.ts'

const WORKER = `
import { createTool, jsonSchema, MCPServer } from 'mayfly-mcp'

const greet = createTool({
  id: 'greet',
  inputSchema: jsonSchema({ type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }),
  execute: ({ name }) => 'Hello ' + name,
})

export default new MCPServer({ id: 'edge', name: 'Edge', version: '1.0.0', log: false, tools: { greet } })
`

let packed: PackedPackage
let code: string
let metafile: Metafile

/** Bundles a worker as edge platforms do. */
async function bundle(name: string, text: string): Promise<{ code: string; metafile: Metafile }> {
  const entry = join(packed.project, name)
  writeFileSync(entry, text)
  const { outputFiles, metafile } = await build({
    entryPoints: [entry],
    absWorkingDir: packed.project,
    bundle: true,
    write: false,
    metafile: true,
    format: 'iife',
    globalName: 'worker',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: ['workerd', 'worker'],
    legalComments: 'none',
    minifyWhitespace: true,
  })
  return { code: outputFiles[0]!.text, metafile }
}

/** The packages of which something is left in the bundle. */
function packagesIn({ outputs }: Metafile): string[] {
  const inputs = Object.values(outputs).flatMap((output) => Object.entries(output.inputs))
  const used = inputs.filter(([, { bytesInOutput }]) => bytesInOutput > 0)
  const names = used.flatMap(([path]) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? [])
  return [...new Set(names)].sort()
}

beforeAll(async () => {
  packed = unpackPackage()
  ;({ code, metafile } = await bundle('worker.js', WORKER))
})
afterAll(() => packed.remove())

/** A global scope as an edge platform has it: web standards, no `process`, no `Buffer`, no code from strings. */
function edgeScope(): object {
  const standard = {
    AbortController,
    atob,
    btoa,
    clearTimeout,
    console,
    crypto,
    DOMException,
    Headers,
    performance,
    queueMicrotask,
    ReadableStream,
    Request,
    Response,
    setTimeout,
    TextDecoder,
    TextEncoder,
    URL,
  }
  return createContext(standard, { codeGeneration: { strings: false, wasm: false } })
}

describe('a bundled worker', () => {
  it('holds no module but ours and the validator, and leaves nothing to import', () => {
    expect(packagesIn(metafile)).toEqual(['@cfworker/json-schema', 'mayfly-mcp'])
    expect(Object.values(metafile.outputs).flatMap(({ imports }) => imports)).toEqual([])
  })

  it('without jsonSchema() does not hold the validator either', async () => {
    const plain = `import { MCPServer } from 'mayfly-mcp'
      export default new MCPServer({ id: 'x', name: 'X', version: '1.0.0' })`
    expect(packagesIn((await bundle('plain.js', plain)).metafile)).toEqual(['mayfly-mcp'])
  })

  it.each(['mastra', 'mcp-use', 'sdk-context'])(
    'of mayfly-mcp/%s leaves nothing to import',
    async (entry) => {
      const text = `import { MCPServer } from 'mayfly-mcp/${entry}'
      export default new MCPServer({ id: 'x', name: 'X', version: '1.0.0' })`
      const made = await bundle(`${entry}.js`, text)
      expect(packagesIn(made.metafile)).toEqual(['mayfly-mcp'])
      expect(Object.values(made.metafile.outputs).flatMap(({ imports }) => imports)).toEqual([])
    },
  )

  it('names no Node module and builds no code from strings', () => {
    expect(code).not.toMatch(/["'`]node:/)
    expect(code).not.toMatch(/\beval\(|new Function\b|\bFunction\(/)
    expect(code).not.toMatch(/(?<![\w$.])(process|Buffer|__dirname|require)(?=[.([])/)
  })

  it('loads and answers where there is neither process nor Buffer nor eval', async () => {
    const { default: server } = runInContext(`${code};worker`, edgeScope()) as {
      default: { fetch(request: Request): Promise<Response> }
    }
    const call = async (args: object) => {
      const body = JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'greet', arguments: args },
      })
      const headers = { 'content-type': 'application/json' }
      const response = await server.fetch(
        new Request('https://edge.example/mcp', { method: 'POST', headers, body }),
      )
      return (await response.json()) as { result: { content: { text: string }[]; isError?: boolean } }
    }
    expect((await call({ name: 'Ada' })).result.content).toEqual([{ type: 'text', text: 'Hello Ada' }])
    expect((await call({ name: 5 })).result.isError).toBe(true)
  })
})

describe('wrangler.toml', () => {
  it('deploys: wrangler deploy --dry-run passes', () => {
    const outdir = join(packed.project, 'deployed')
    const wrangler = join(ROOT, 'node_modules/wrangler/bin/wrangler.js')
    const output = run(process.execPath, [wrangler, 'deploy', '--dry-run', '--outdir', outdir], ROOT)
    expect(output).toContain('--dry-run: exiting now.')
    rmSync(outdir, { recursive: true, force: true })
  })
})
