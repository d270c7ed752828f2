/** What a model reads when its user cannot be asked: plain words. What the operator may configure is in the log. */
import { expect, it, vi } from 'vitest'
import * as z from 'zod'
import { createResource, createTool } from '../../../src/index.ts'
import { createServer, initialize, legacy, modern, textOf } from '../_client.ts'

/** Words for those who run or write the server. */
const ADVICE = /configure|rendezvous|\bbus\b|secret|MAYFLY_|deployment|platform|adapter|\bpass\b|http\./i

const tool = (ask: (ctx: Parameters<Parameters<typeof createTool>[0]['execute']>[1]) => Promise<unknown>) =>
  createTool({ id: 't', execute: async (_input, ctx) => void (await ask(ctx)) })

const TOOLS = {
  form: tool((ctx) => ctx.elicit('Which?', z.object({ name: z.string() }))),
  url: tool((ctx) => ctx.elicit('Sign in', 'https://shop.example/in')),
  sampling: tool((ctx) => ctx.createMessage({ messages: [], maxTokens: 1 })),
  roots: tool((ctx) => ctx.listRoots()),
}

const resource = createResource({
  uri: 'a://b',
  name: 'b',
  read: async (_uri, ctx) => {
    const answer = await (ctx as never as { elicit(text: string, schema: unknown): Promise<unknown> }).elicit(
      'Which?',
      z.object({ name: z.string() }),
    )
    return JSON.stringify(answer)
  },
})

it.each(['explain', 'rendezvous', 'arguments'] as const)(
  'legacy: %s → no advice for developers in any answer',
  async (policy) => {
    const warned = vi.spyOn(console, 'warn').mockImplementation(() => undefined)
    const server = createServer({ tools: TOOLS, resources: [resource], legacy: policy })
    const opened = await initialize(server, { capabilities: { elicitation: {}, sampling: {}, roots: {} } })
    const session = opened.headers.get('mcp-session-id') ?? ''
    for (const headers of [{}, { 'mcp-session-id': session }] as const) {
      for (const name of Object.keys(TOOLS)) {
        const answer = await legacy(server, 'tools/call', { name, arguments: {} }, { headers })
        const text = answer.error?.message ?? textOf(answer)
        expect([name, text]).toEqual([name, expect.not.stringMatching(ADVICE)])
        expect(text).toMatch(
          /cannot be asked. A client of MCP 2026-07-28 or later|must visit a URL|needs answers from the user/,
        )
      }
      const read = await legacy(server, 'resources/read', { uri: 'a://b' }, { headers })
      expect(read.error?.message).toMatch(/cannot be asked/)
      expect(read.error?.message).not.toMatch(ADVICE)
    }
    for (const name of Object.keys(TOOLS)) {
      const answer = await modern(server, 'tools/call', { name, arguments: {} })
      expect([name, answer.error?.message ?? textOf(answer)]).toEqual([
        name,
        expect.not.stringMatching(ADVICE),
      ])
    }
    warned.mockRestore()
  },
)

it('the operator finds the remedy in the log, once', async () => {
  vi.resetModules()
  const fresh = await import('../../../src/index.ts')
  const form = fresh.createTool({
    id: 'form',
    execute: async (_input, ctx) => void (await ctx.elicit('Which?', z.object({ name: z.string() }))),
  })
  const server = new fresh.MCPServer({ name: 'a', version: '1', log: false, tools: { form } })
  const warned = vi.spyOn(console, 'warn').mockImplementation(() => undefined)
  const opened = await initialize(server, { capabilities: { elicitation: {} } })
  const headers = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' }
  for (let calls = 0; calls < 3; calls++)
    await legacy(server, 'tools/call', { name: 'form', arguments: {} }, { headers })
  const lines = warned.mock.calls.map(([line]) => (JSON.parse(line as string) as { message: string }).message)
  warned.mockRestore()
  expect(lines).toEqual([
    expect.stringMatching(/^A client could not be asked \(elicitation\.form\): .* configure a rendezvous/),
  ])
})
