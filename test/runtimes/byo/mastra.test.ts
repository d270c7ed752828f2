/** A third party's server, Mastra's own, through its Node handler: on workerd, on Lambda and on Node. */
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
} from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cloudflare } from '../../../deploy/targets/cloudflare/target.ts'
import { lambda } from '../../../deploy/targets/lambda/target.ts'
import { node } from '../../../deploy/targets/node/target.ts'
import { type ServedArtefact, serveArtefact } from '../_artefact.ts'
import { CWD as LAMBDA } from '../lambda/_function.ts'

const MASTRA = new URL('../../../examples/mastra/', import.meta.url).pathname

describe.each([
  ['workerd', cloudflare, MASTRA],
  ['Lambda', lambda, LAMBDA],
  ['Node', node, MASTRA],
] as const)('@mastra/mcp 1.x on %s', (_platform, target, cwd) => {
  let served: ServedArtefact
  beforeAll(async () => {
    served = await serveArtefact(`${MASTRA}server.ts`, target, cwd)
  })
  afterAll(() => served?.stop())

  it('is listed and called by a legacy client', async () => {
    const client = new Client({ name: 'legacy', version: '1' })
    await client.connect(new StreamableHTTPClientTransport(served.url) as never)
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['weather'])
    const { structuredContent } = await client.callTool({ name: 'weather', arguments: { city: 'Rome' } })
    expect(structuredContent).toEqual({ report: 'It is sunny in Rome.' })
    await client.close()
  })

  it('a client that speaks both eras finds the one it speaks', async () => {
    const client = new ModernClient({ name: 'both', version: '1' }, { versionNegotiation: { mode: 'auto' } })
    await client.connect(new ModernTransport(served.url))
    const { structuredContent } = await client.callTool({ name: 'weather', arguments: { city: 'Oslo' } })
    expect(structuredContent).toEqual({ report: 'It is sunny in Oslo.' })
    await client.close()
  })

  it('stands behind our guard, with a page', async () => {
    const foreign = await fetch(served.url, {
      method: 'POST',
      headers: { origin: 'null', 'content-type': 'text/plain' },
      body: '{',
    })
    expect([403, 415]).toContain(foreign.status)
    const page = await fetch(new URL('/', served.url), { headers: { accept: 'text/html' } })
    expect(await page.text()).toContain('weather')
  })
})
