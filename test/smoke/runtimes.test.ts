/** What `mayfly build` makes answers on each runtime that npm brings. Everything else they must do: `npm run test:runtimes`. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect, it } from 'vitest'
import { findTarget } from '../../deploy/targets/all.ts'
import { serveArtefact } from '../runtimes/_artefact.ts'

it.each([
  ['workerd', 'cloudflare'],
  ['deno', 'deno'],
  ['bun', 'bun'],
  ['Node', 'node'],
  ['edge-runtime', 'vercel-edge'],
])('on %s', async (_runtime, target) => {
  const { url, stop } = await serveArtefact('test/contract/fixture.ts', findTarget(target))
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
