/**
 * What one call of a tool runs, on the built package: the first thousand calls of a process are interpreted, and there each function costs
 * half a microsecond, whatever it does. A count does not vary with the machine, so the limit is the count itself: it may only shrink.
 */
import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'

const PROGRAM = `
import { Session } from 'node:inspector/promises'
import * as z from 'zod'
import { createTool, MCPServer } from 'mayfly-mcp'

const execute = async ({ text }) => text
const echo = createTool({ id: 'echo', inputSchema: z.object({ text: z.string() }), execute })
const server = new MCPServer({ id: 'young', name: 'young', version: '1.0.0', log: false, tools: { echo } })
const meta = (name) => 'io.modelcontextprotocol/' + name
const _meta = {
  [meta('protocolVersion')]: '2026-07-28',
  [meta('clientInfo')]: { name: 'test', version: '1.0.0' },
  [meta('clientCapabilities')]: {},
}
const params = { name: 'echo', arguments: { text: 'hello' }, _meta }
const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params })
const headers = {
  'content-type': 'application/json',
  'content-length': String(body.length),
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'tools/call',
  'mcp-name': 'echo',
}
async function call() {
  const request = new Request('https://mcp.example.com/mcp', { method: 'POST', headers, body })
  const text = await (await server.fetch(request)).text()
  if (!text.includes('"text":"hello"')) throw new Error(text)
}

await call()
const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
for (let done = 0; done < 50; done++) await call()
const { result } = await session.post('Profiler.takePreciseCoverage')
const ours = result.filter(({ url }) => /\\/dist\\/(?!.*node_modules)/.test(url))
const counts = ours.flatMap(({ functions }) => functions.map(({ functionName, ranges: [{ count }] }) => [functionName, count / 50]))
const called = counts.filter(([, count]) => count >= 1)
console.log(JSON.stringify({
  functions: called.length,
  calls: Math.round(called.reduce((sum, [, count]) => sum + count, 0)),
  names: called.map(([name]) => name),
}))
process.exit()
`

/** Node's own globals, which workerd loads when they are first read: `process` with its streams takes longer than all else of a first call. */
const NODE_GLOBALS = `
const read = []
for (const name of ['process', 'global', 'setImmediate', 'clearImmediate']) {
  const value = globalThis[name]
  Object.defineProperty(globalThis, name, { get: () => (read.push(name), value), configurable: true })
}
`

describe('a call of a tool', () => {
  it('reads no global of Node', () => {
    const program = PROGRAM.replace(
      'await call()\n',
      `${NODE_GLOBALS}await call()\nconsole.log(JSON.stringify(read))\nprocess.exit()\n`,
    )
    const printed = execFileSync(process.execPath, ['--input-type=module', '--eval', program], {
      encoding: 'utf8',
    })
    expect(JSON.parse(printed)).toEqual([])
  })

  it('runs no more functions than it did', () => {
    const printed = execFileSync(process.execPath, ['--input-type=module', '--eval', PROGRAM], {
      encoding: 'utf8',
    })
    const { functions, calls, names } = JSON.parse(printed) as Record<string, unknown>

    expect(names).toContain('callTool')
    expect(functions).toBeLessThanOrEqual(90)
    expect(calls).toBeLessThanOrEqual(110)
  })
})
