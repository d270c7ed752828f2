/**
 * What each further tool costs a server before its first call, on the built package: a fresh isolate waits for it, and runs it interpreted.
 * A count does not vary with the machine, so the limit is the count itself: it may only shrink.
 */
import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'

const PROGRAM = `
import { Session } from 'node:inspector/promises'
import * as z from 'zod'

const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })

const { createTool, MCPServer } = await import('mayfly-mcp')
const count = Number(process.argv[1])
const schemas = Array.from({ length: count }, () => z.object({ text: z.string() }))
const toolOf = (inputSchema, index) => {
  const id = 'echo_' + index
  const mcp = { annotations: { readOnlyHint: true } }
  return [id, createTool({ id, description: 'Echoes', inputSchema, mcp, execute: async ({ text }) => text })]
}
const tools = Object.fromEntries(schemas.map(toolOf))
const server = new MCPServer({ id: 'many', name: 'many', version: '1.0.0', log: false, tools })
const meta = (name) => 'io.modelcontextprotocol/' + name
const _meta = {
  [meta('protocolVersion')]: '2026-07-28',
  [meta('clientInfo')]: { name: 'test', version: '1.0.0' },
  [meta('clientCapabilities')]: {},
}
const name = 'echo_' + (count - 1)
const params = { name, arguments: { text: 'hello' }, _meta }
const headers = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'tools/call',
  'mcp-name': name,
}
const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params })
const answer = await server.fetch(new Request('https://mcp.example.com/mcp', { method: 'POST', headers, body }))
const text = await answer.text()
if (!text.includes('"text":"hello"')) throw new Error(text)

const { result } = await session.post('Profiler.takePreciseCoverage')
const ours = result.filter(({ url }) => /\\/dist\\/(?!.*node_modules)/.test(url))
const counts = ours.flatMap(({ functions }) => functions.map(({ functionName, ranges: [{ count }] }) => [functionName, count]))
console.log(JSON.stringify(counts))
process.exit()
`

type Counts = readonly (readonly [name: string, calls: number])[]

/** How often each function of ours ran, from the import to the first answer. */
function countsWith(toolCount: number): Counts {
  const args = ['--input-type=module', '--eval', PROGRAM, String(toolCount)]
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as Counts
}

describe('a server before its first call', () => {
  it('runs no more functions for each of its tools than it did', () => {
    const [few, many] = [countsWith(10), countsWith(110)]
    const sum = (counts: Counts): number => counts.reduce((all, [, calls]) => all + calls, 0)
    const named = many.filter(([, calls]) => calls >= 100).map(([name]) => name)

    expect(named).toContain('createTool')
    expect((sum(many) - sum(few)) / 100).toBeLessThanOrEqual(32)
  })

  it('compiles one schema', () => {
    const compiled = countsWith(110).filter(([name]) => name === 'compileSchemas')
    expect(compiled).toEqual([['compileSchemas', 1]])
  })
})
