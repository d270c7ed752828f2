/** What the playground is tried with: every kind of field, questions, progress, a picture, resources and prompts. */
import * as z from 'zod'
import { createPrompt, createResource, createTool, MCPServer } from '../../src/index.ts'

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='

const order = createTool({
  id: 'order',
  description: 'Orders flowers. Returns what it was given.',
  inputSchema: z.object({
    customer: z.string().describe('Who pays'),
    stems: z.number().int().min(1).max(99).default(3),
    express: z.boolean().optional(),
    colour: z.enum(['red', 'white', 'yellow']).default('white'),
    address: z.object({ street: z.string(), city: z.string().optional() }),
    notes: z.array(z.string()).optional(),
    extra: z.record(z.string(), z.unknown()).optional(),
  }),
  execute: (input) => input,
})

const refund = createTool({
  id: 'refund',
  description: 'Pays an order back, after asking for the amount and for a confirmation.',
  inputSchema: z.object({ orderId: z.string() }),
  mcp: { annotations: { destructiveHint: true } },
  execute: async ({ orderId }, ctx) => {
    const amount = await ctx.elicit(`How much of order ${orderId}?`, z.object({ euros: z.number() }))
    if (amount.action !== 'accept') return `The user chose ${amount.action}`
    const sure = await ctx.elicit(`Refund ${amount.content.euros} euros?`, z.object({ confirm: z.boolean() }))
    return sure.action === 'accept' && sure.content.confirm ? `Refunded ${amount.content.euros}` : 'Kept'
  },
})

const joke = createTool({
  id: 'joke',
  description: 'Lets the model of the client say something',
  execute: async (_input, ctx) => {
    const messages = [{ role: 'user' as const, content: { type: 'text', text: 'A joke, please' } }]
    const { content } = await ctx.createMessage({ messages, maxTokens: 10 })
    return content
  },
})

const count = createTool({
  id: 'count',
  description: 'Counts to three, and says so',
  execute: async (_input, ctx) => {
    for (let step = 1; step <= 3; step++) {
      await ctx.log('info', `counted ${step}`)
      await ctx.reportProgress({ progress: step, total: 3 })
    }
    return 'three'
  },
})

const wait = createTool({
  id: 'wait',
  description: 'Ends only when it is cancelled',
  execute: (_input, ctx) => new Promise((_resolve, reject) => ctx.signal.addEventListener('abort', reject)),
})

const picture = createTool({
  id: 'picture',
  description: 'Draws one pixel',
  execute: () => ({ content: [{ type: 'image', data: PNG, mimeType: 'image/png' }] }),
})

export default new MCPServer({
  id: 'flowers',
  name: 'Flowers',
  version: '1.2.3',
  secret: 'of-no-value-outside-these-tests-1',
  tools: { order, refund, joke, count, wait, picture },
  resources: [
    createResource({
      uri: 'flowers://care',
      name: 'Care',
      mimeType: 'text/plain',
      read: () => 'Water them.',
    }),
    createResource({
      uriTemplate: 'flowers://kinds/{kind}',
      name: 'Kind',
      complete: { kind: (value) => ['rose', 'rosemary', 'tulip'].filter((kind) => kind.startsWith(value)) },
      read: ({ variables: { kind } }) => `All about the ${kind}`,
    }),
  ],
  prompts: {
    card: createPrompt({
      description: 'Writes a card',
      argsSchema: z.object({ to: z.string(), tone: z.string().optional() }),
      complete: { tone: (value) => ['warm', 'formal'].filter((tone) => tone.startsWith(value)) },
      get: ({ to, tone }) => `Write a ${tone ?? 'short'} card to ${to}.`,
    }),
  },
})
