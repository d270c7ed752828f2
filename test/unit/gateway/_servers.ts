/** A gateway in front of real servers on loopback. */

import * as z from 'zod'
import { type GatewayOptions, gateway } from '../../../src/gateway.ts'
import { createPrompt, createResource, createTool, type MCPServerConfig } from '../../../src/index.ts'
import { createClient, startMayfly } from '../client/_servers.ts'

export const SECRET = 'a secret of this test that is long enough'

export const add = createTool({
  id: 'add',
  title: 'Add',
  description: 'Adds two numbers',
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  outputSchema: z.object({ sum: z.number() }),
  mcp: { annotations: { readOnlyHint: true }, _meta: { ui: 'x' } },
  execute: ({ a, b }) => ({ sum: a + b }),
})

/** Takes two steps with a question between them, and counts how often each runs. */
export function createBooking() {
  const ran = { reserve: 0, pay: 0 }
  const book = createTool({
    id: 'book',
    execute: async (_input, ctx) => {
      await ctx.step('reserve', () => ++ran.reserve)
      const answer = await ctx.elicit('Book it?', z.object({ name: z.string() }))
      if (answer.action !== 'accept') return answer.action
      await ctx.step('pay', () => ++ran.pay)
      return `booked for ${answer.content.name}`
    },
  })
  return { ran, book }
}

export const stock = {
  tools: { add },
  resources: [
    createResource({ uri: 'stock://all', name: 'All', mimeType: 'text/plain', read: () => 'everything' }),
    createResource({
      uriTemplate: 'stock://{sku}',
      name: 'One',
      complete: { sku: (value: string) => ['A-1', 'A-2'].filter((sku) => sku.startsWith(value)) },
      read: ({ variables }) => `stock of ${variables.sku}`,
    }),
  ],
  prompts: {
    summary: createPrompt({
      description: 'Sums up',
      argsSchema: z.object({ length: z.string() }),
      complete: { length: () => ['short', 'long'] },
      get: ({ length }) => `A ${length} summary`,
    }),
  },
} satisfies Partial<MCPServerConfig>

export function startGateway(
  options: GatewayOptions,
  config: Partial<MCPServerConfig> = {},
): Promise<string> {
  return startMayfly({ id: 'front', name: 'Front', gateway: gateway(options), ...config })
}

/** A client of the gateway, which answers questions. */
export function connect(url: string, options: { token?: string } = {}) {
  const client = createClient({ servers: { front: { url, ...options } }, onError: () => {} })
  client.elicitation.onRequest('front', () => ({ action: 'accept', content: { name: 'Ann' } }))
  return client
}
