/** What a server loads by `import()` is a file of its own in the build, and is opened on the real runtime when it is first used. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { bun } from '../../deploy/targets/bun/target.ts'
import { deno } from '../../deploy/targets/deno/target.ts'
import { lambda } from '../../deploy/targets/lambda/target.ts'
import { node } from '../../deploy/targets/node/target.ts'
import { vercel } from '../../deploy/targets/vercel/target.ts'
import { serveArtefact } from './_artefact.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

const SERVER = `import { createTool, MCPServer } from 'mayfly-mcp'
import { state } from './state.ts'
state.loaded.push('server')
const report = createTool({ id: 'report', execute: async () => (await import('./report.ts')).report() })
const loaded = createTool({ id: 'loaded', execute: () => state.loaded.join() })
export default new MCPServer({ id: 'a', name: 'A', version: '1.0.0', tools: { report, loaded }, log: false })`
const REPORT = `import { UserError } from 'mayfly-mcp'
import { state } from './state.ts'
state.loaded.push('report')
export const report = () => { throw new UserError('refused after ' + state.loaded.join()) }`

const folder = mkdtempSync(join(tmpdir(), 'mayfly-split-'))
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
mkdirSync(join(folder, 'node_modules'))
symlinkSync(ROOT, join(folder, 'node_modules/mayfly-mcp'))
for (const name of ['@hono', 'hono', 'deno', 'bun'])
  symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name))
writeFileSync(join(folder, 'package.json'), '{ "name": "a", "type": "module" }')
writeFileSync(join(folder, 'state.ts'), 'export const state = { loaded: [] as string[] }')
writeFileSync(join(folder, 'report.ts'), REPORT)
writeFileSync(join(folder, 'server.ts'), SERVER)

test.for([
  ['node', node, ''],
  ['deno', deno, ''],
  ['bun', bun, ''],
  ['lambda', lambda, undefined],
  ['vercel', vercel, '.vercel/output/functions/mcp.func'],
] as const)('%s', { timeout: 240_000 }, async ([, target, at]) => {
  const { url, outDir, stop } = await serveArtefact('server.ts', target, folder, 'a')
  try {
    const call = async (name: string): Promise<unknown> => {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { name, arguments: {} },
        }),
      })
      const { result } = (await response.json()) as {
        result: { content: { text: string }[]; isError?: true }
      }
      return { text: result.content[0]?.text, isError: result.isError ?? false }
    }
    const plain = await call('loaded')
    const refused = await call('report')

    expect(plain).toEqual({ text: 'server', isError: false })
    // The part has the program's own modules: its state, and the class of the error whose message is for the client.
    expect(refused).toEqual({ text: 'refused after server,report', isError: true })
    if (at === undefined) return
    const names = readdirSync(join(outDir, at))
    expect(names.filter((name) => name.startsWith('report-'))).not.toEqual([])
    expect(existsSync(join(outDir, 'report.ts'))).toBe(false)
  } finally {
    await stop()
  }
})
