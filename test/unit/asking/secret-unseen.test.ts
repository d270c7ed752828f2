/** MAYFLY_SECRET is in no answer and in no line of the log, whatever is wrong with it or with the call. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { createTool, MCPServer } from '../../../src/index.ts'
import { callTool, initialize, legacy, modern } from '../_client.ts'

const lines: string[] = []
beforeEach(() => {
  lines.length = 0
  for (const method of ['log', 'error', 'warn', 'info', 'debug'] as const)
    vi.spyOn(console, method).mockImplementation((...said) => void lines.push(said.map(String).join(' ')))
})
afterEach(() => void vi.restoreAllMocks())

const ask = createTool({
  id: 'ask',
  execute: async (_input, ctx) => {
    await ctx.step('first', () => 1)
    const answer = await ctx.elicit('Sure?', z.object({ sure: z.boolean() }))
    await ctx.elicit('Really?', z.object({ sure: z.boolean() }))
    return answer.action
  },
})
const fail = createTool({
  id: 'fail',
  execute: () => {
    throw new Error('It broke.')
  },
})

it.each([
  ['a good one', 'correct-horse-battery-staple-correct-horse'],
  ['a short one', 'tr0ub4dor'],
  ['a short one behind a good one', 'correct-horse-battery-staple-correct-horse,tr0ub4dor'],
])('%s → unseen [log.secrets]', async (_what, secret) => {
  const parts = secret.split(',')
  for (const legacyPolicy of ['explain', 'arguments'] as const) {
    for (const config of [{}, { secret: parts.filter((part) => part.length >= 32) }]) {
      const hasOwn = (config.secret?.length ?? 0) > 0
      const server = new MCPServer({
        id: 'hush',
        name: 'Hush',
        version: '1.0.0',
        tools: { ask, fail },
        legacy: legacyPolicy,
        ...(hasOwn && config),
      })
      const options = { platform: { env: hasOwn ? {} : { MAYFLY_SECRET: secret } } }
      const meta = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } }
      const answers = [
        await callTool(server, 'ask', {}, { ...options, meta }),
        await modern(
          server,
          'tools/call',
          { name: 'ask', requestState: 'made.up', inputResponses: {} },
          { ...options, meta },
        ),
        await callTool(server, 'fail', {}, options),
        await modern(server, 'server/discover', {}, options),
        await initialize(server),
        await legacy(server, 'tools/call', { name: 'ask', arguments: {} }, options),
        await legacy(
          server,
          'tools/call',
          { name: 'ask', arguments: { _continue: { token: 'x', answers: {} } } },
          options,
        ),
      ]
      const page = await server.handle(
        new Request('https://mcp.example/', { headers: { accept: 'text/html' } }),
        options.platform,
      )
      const told = [
        await page.text(),
        ...answers.map(({ message, headers }) => JSON.stringify([message, [...headers]])),
        ...lines,
      ]
      expect(told.length).toBeGreaterThan(answers.length + 2)
      for (const part of parts) expect(told.join('\n')).not.toContain(part)
    }
  }
})
