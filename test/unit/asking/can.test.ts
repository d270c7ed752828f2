/** `ctx.can` says what `ctx.elicit` then does, in every cell of the degradation matrix that concerns a form. */
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import {
  createMemoryRendezvous,
  createTool,
  type MCPServer,
  type MCPServerConfig,
} from '../../../src/index.ts'
import {
  createServer,
  initialize,
  legacy,
  legacyRequest,
  META,
  modern,
  readAnswer,
  StreamReader,
  textOf,
} from '../_client.ts'
import { askedIn } from './_rounds.ts'

const form = z.object({ ok: z.boolean() })
const tools = {
  can: createTool({ id: 'can', execute: (_input, ctx) => String(ctx.can('elicitation.form').available) }),
  ask: createTool({ id: 'ask', execute: async (_input, ctx) => (await ctx.elicit('?', form)).action }),
}
const secret = 'a-secret-of-the-tests-that-is-long-enough'
const rendezvous = createMemoryRendezvous()

const CONFIGURATIONS: readonly Partial<MCPServerConfig>[] = (
  ['explain', 'arguments', 'rendezvous'] as const
).flatMap((policy) =>
  [{}, { secret }, { rendezvous }, { secret, rendezvous }].map((more) => ({ legacy: policy, ...more })),
)
const CAPABILITIES = [{}, { elicitation: {} }, { elicitation: { url: {} } }]

const CASES = CONFIGURATIONS.flatMap((config) =>
  CAPABILITIES.map((capabilities) => ({ config, capabilities })),
)

const label = (config: Partial<MCPServerConfig>) => `${Object.keys(config).join('+')}=${config.legacy}`

describe.each(CASES)('$config.legacy, $capabilities', ({ config, capabilities }) => {
  const server = createServer({ tools, ...config })

  it(`modern, ${label(config)} → can is what happens`, async () => {
    const meta = { [META.clientCapabilities]: capabilities }
    const can = textOf(await modern(server, 'tools/call', { name: 'can' }, { meta })) === 'true'
    const answer = await modern(server, 'tools/call', { name: 'ask' }, { meta })
    expect(askedIn(answer).length > 0).toBe(can)
    expect(answer.error?.code === -32021).toBe(!can)
  })

  it(`legacy, ${label(config)} → can is what happens`, async () => {
    const token = (await initialize(server, { capabilities })).headers.get('mcp-session-id')!
    const headers = { 'mcp-session-id': token }
    const can = textOf(await legacy(server, 'tools/call', { name: 'can' }, { headers })) === 'true'
    expect(await isAsked(server, headers)).toBe(can)
  })
})

/** Whether a legacy client is asked: on the stream, or through the model. */
async function isAsked(server: MCPServer, headers: { readonly [name: string]: string }): Promise<boolean> {
  const response = await server.fetch(legacyRequest('tools/call', { name: 'ask' }, { headers }))
  if (response.headers.get('content-type') === 'text/event-stream') {
    const stream = new StreamReader(response)
    const first = await stream.next()
    await stream.cancel()
    return first !== undefined && 'method' in first && first.method === 'elicitation/create'
  }
  const { result } = await readAnswer(response)
  const meta = result?._meta as Record<string, unknown> | undefined
  expect(Object.keys(meta ?? {})).toHaveLength(1)
  return meta?.['mayfly/continue'] !== undefined
}
