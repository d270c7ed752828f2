/** What `mayfly build` makes answers on each runtime that npm brings. Everything else they must do: `npm run test:runtimes`. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect, it } from 'vitest'
import { findTarget } from '../../deploy/targets/all.ts'
import { serveArtefact } from '../runtimes/_artefact.ts'

it.each([
  ['workerd', 'cloudflare', 'test/contract/fixture.ts'],
  // Its tools have several contexts and schemas: a bundler once put the schema library behind the tools that use it.
  ['workerd, every feature', 'cloudflare', 'examples/everything/server.ts'],
  ['deno', 'deno', 'test/contract/fixture.ts'],
  ['bun', 'bun', 'test/contract/fixture.ts'],
  ['Node', 'node', 'test/contract/fixture.ts'],
  ['edge-runtime', 'vercel-edge', 'test/contract/fixture.ts'],
])('on %s', async (_runtime, target, entry) => {
  const { url, stop } = await serveArtefact(entry, findTarget(target))
  try {
    const client = new Client({ name: 'smoke', version: '1.0.0' })
    await client.connect(new StreamableHTTPClientTransport(url))
    const { tools } = await client.listTools()
    await client.close()
    expect(tools.length).toBeGreaterThan(10)
  } finally {
    await stop()
  }
})
