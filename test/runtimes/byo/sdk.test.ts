/** Servers of both official SDKs, unchanged, as what `mayfly build` makes of them. */
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
} from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { LoggingMessageNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bun } from '../../../deploy/targets/bun/target.ts'
import { cloudflare } from '../../../deploy/targets/cloudflare/target.ts'
import { deno } from '../../../deploy/targets/deno/target.ts'
import { lambda } from '../../../deploy/targets/lambda/target.ts'
import { node } from '../../../deploy/targets/node/target.ts'
import { vercelEdge } from '../../../deploy/targets/vercel/target.ts'
import { type ServedArtefact, serveArtefact } from '../_artefact.ts'
import { CWD as LAMBDA } from '../lambda/_function.ts'

const FOLDER = new URL('../../../examples/sdk/', import.meta.url).pathname

const PLATFORMS = [
  ['workerd', cloudflare, FOLDER],
  ['Node', node, FOLDER],
  ['deno', deno, FOLDER],
  ['bun', bun, FOLDER],
  ['Vercel Edge', vercelEdge, FOLDER],
  ['Lambda', lambda, LAMBDA],
] as const

describe.each(PLATFORMS)('an SDK v1 server on %s', (_platform, target, cwd) => {
  let served: ServedArtefact
  beforeAll(async () => {
    served = await serveArtefact(`${FOLDER}v1.ts`, target, cwd)
  })
  afterAll(() => served?.stop())

  it('is called by a legacy client, which hears what the tool logs', async () => {
    const client = new Client({ name: 'legacy', version: '1' })
    const logged: unknown[] = []
    client.setNotificationHandler(
      LoggingMessageNotificationSchema,
      ({ params }) => void logged.push(params.data),
    )
    await client.connect(new StreamableHTTPClientTransport(served.url) as never)
    const { structuredContent } = await client.callTool({
      name: 'add_days',
      arguments: { date: '2026-11-21', days: 10 },
    })
    expect(structuredContent).toEqual({ date: '2026-12-01' })
    expect(logged).toEqual(['10 days after 2026-11-21'])
    const refused = await client.callTool({ name: 'add_days', arguments: { date: 'soon', days: 1 } })
    expect(refused.isError).toBe(true)
    await client.close()
  })

  it('is found by a client that speaks both eras', async () => {
    const client = new ModernClient({ name: 'both', version: '1' }, { versionNegotiation: { mode: 'auto' } })
    await client.connect(new ModernTransport(served.url))
    expect((await client.listTools()).tools).toHaveLength(1)
    await client.close()
  })
})

describe.each(PLATFORMS)('an SDK v2 server on %s', (platform, target, cwd) => {
  let served: ServedArtefact
  beforeAll(async () => {
    served = await serveArtefact(`${FOLDER}v2.ts`, target, cwd)
  })
  afterAll(() => served?.stop())

  it('is called in both eras', async () => {
    const legacy = new Client({ name: 'legacy', version: '1' })
    await legacy.connect(new StreamableHTTPClientTransport(served.url) as never)
    const modern = new ModernClient(
      { name: 'modern', version: '1' },
      { versionNegotiation: { mode: { pin: '2026-07-28' } } },
    )
    await modern.connect(new ModernTransport(served.url))
    const call = { name: 'add_days', arguments: { date: '2026-11-21', days: 10 } }
    for (const client of [legacy, modern]) {
      expect((await client.callTool(call)).structuredContent).toEqual({ date: '2026-12-01' })
      await client.close()
    }
  })

  it.runIf(platform === 'workerd')('its factory has the bindings', async () => {
    const client = new ModernClient({ name: 'both', version: '1' }, { versionNegotiation: { mode: 'auto' } })
    await client.connect(new ModernTransport(served.url))
    expect((await client.callTool({ name: 'region' })).content).toEqual([{ type: 'text', text: 'nearby' }])
    await client.close()
  })
})
