/** The server that `mayfly init` writes, and its test: small, real, and the same for every platform. */

export const serverSource = (
  name: string,
): string => `import { createResource, createTool, MCPServer } from 'mayfly-mcp'
import * as z from 'zod'

const rollDice = createTool({
  id: 'roll_dice',
  title: 'Roll dice',
  description: 'Rolls dice and adds them up',
  inputSchema: z.object({
    count: z.int().min(1).max(20).default(1).describe('How many dice'),
    sides: z.int().min(2).max(100).default(6).describe('Sides of each'),
  }),
  outputSchema: z.object({ rolls: z.array(z.int()), total: z.int() }),
  mcp: { annotations: { readOnlyHint: true } },
  execute: ({ count, sides }, ctx) => {
    ctx.log('info', { count, sides })
    const rolls = Array.from({ length: count }, () => 1 + Math.floor(Math.random() * sides))
    return { rolls, total: rolls.reduce((sum, roll) => sum + roll, 0) }
  },
})

const startOver = createTool({
  id: 'start_over',
  description: 'Forgets all rolls, after asking the user',
  mcp: { annotations: { destructiveHint: true } },
  execute: async (_input, ctx) => {
    const answer = await ctx.elicit('Forget all rolls?', z.object({ confirm: z.boolean() }))
    return answer.action === 'accept' && answer.content.confirm ? 'Forgotten' : 'Kept'
  },
})

const rules = createResource({
  uri: 'dice://rules',
  name: 'rules',
  mimeType: 'text/plain',
  read: () => 'The highest total wins.',
})

export default new MCPServer({
  id: '${name}',
  name: '${name}',
  version: '0.1.0',
  description: 'Rolls dice',
  tools: { roll_dice: rollDice, start_over: startOver },
  resources: [rules],
})
`

export const TEST_SOURCE = `import { expect, it } from 'vitest'
import server from '../src/server.ts'

it('rolls as many dice as it is asked to', async () => {
  const result = await server.executeTool('roll_dice', { count: 3, sides: 6 })

  expect(result).toMatchObject({ total: expect.any(Number) })
  expect((result as { rolls: number[] }).rolls).toHaveLength(3)
})

it('answers a client over HTTP', async () => {
  const response = await server.fetch(
    new Request('http://localhost/mcp', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'roll_dice', arguments: { count: 30 } },
      }),
    }),
  )

  // Too many dice: the model is told which field is wrong, and can correct itself.
  expect(await response.json()).toMatchObject({ result: { isError: true } })
})
`
