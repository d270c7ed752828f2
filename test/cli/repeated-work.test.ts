/** `mayfly dev` and `mayfly preview` tell of work that a tool did again before its question. */
import { symlinkSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { testPort } from '../_port.ts'
import { META, modern } from '../unit/_client.ts'
import { MayflyProcess, Project, stopAll } from './_dev-process.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const shop = createServer((_request, response) => void response.end('{}'))
await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve))

afterAll(async () => {
  await stopAll()
  shop.close()
})

const SERVER = `
import { createTool, MCPServer } from 'mayfly-mcp'
import * as z from 'zod'

const charge = createTool({
  id: 'charge',
  execute: async (_input, ctx) => {
    await fetch('http://127.0.0.1:${(shop.address() as AddressInfo).port}/charges', { method: 'POST' })
    const answer = await ctx.elicit('Sure?', z.object({ sure: z.boolean() }))
    return answer.action
  },
})

export default new MCPServer({ name: 'Shop', version: '1.0.0', tools: { charge } })
`

describe.for([
  ['dev', 'node'],
  ['dev', 'cloudflare'],
  ['dev', 'deno'],
  ['dev', 'bun'],
  ['preview', 'node'],
])('mayfly %s --target %s', { timeout: 120_000 }, ([command, target]) => {
  test('names the tool, what it sent and the line', async () => {
    await using project = new Project()
    project.write('server.ts', SERVER)
    project.write('package.json', '{ "name": "shop", "type": "module" }')
    project.linkPackage()
    for (const name of ['zod', 'wrangler', 'deno', 'bun', 'esbuild'])
      symlinkSync(join(ROOT, 'node_modules', name), join(project.folder, 'node_modules', name))
    const port = await testPort()
    await using mayfly = new MayflyProcess(
      [command!, '--target', target!, '--port', `${port}`],
      project.folder,
    )
    await mayfly.ready()
    const url = mayfly.stdout.replace(/^ready /, '').trim()
    const server = { handle: (request: Request) => fetch(new Request(url, request)) }
    const meta = { [META.clientCapabilities]: { elicitation: { form: {} } } }
    const { result } = await modern(server, 'tools/call', { name: 'charge', arguments: {} }, { meta })
    const [key] = Object.keys(result!.inputRequests as object)
    const inputResponses = { [key!]: { action: 'accept', content: { sure: true } } }
    const again = await modern(
      server,
      'tools/call',
      { name: 'charge', arguments: {}, inputResponses },
      { meta },
    )
    expect(again.result).toMatchObject({ content: [{ text: 'accept' }] })
    const said = await mayfly.says('ran again')
    expect(said).toMatch(/Tool \\?"charge\\?" ran again .+fetch \(POST 127\.0\.0\.1:\d+\) at \S+:\d+:\d+/)
    if (target === 'node' && command === 'dev') expect(said).toMatch(/server\.ts:8:\d+/)
  })
})
