/** A Worker that is a client: it does what the query says, and tells what it got. */
import { MCPClient } from '../../../src/client.ts'

interface Order {
  readonly servers: { readonly [name: string]: { url: string } | { command: string } }
}

export default {
  async fetch(request: Request): Promise<Response> {
    const { servers } = (await request.json()) as Order
    // What a Worker opened for one request must not be used by another: each has a client of its own.
    const client = new MCPClient({ id: crypto.randomUUID(), servers, onError: () => {}, timeoutMs: 10_000 })
    try {
      for (const name of Object.keys(servers)) {
        client.elicitation.onRequest(name, () => ({ action: 'accept', content: { name: 'Ann' } }))
      }
      const tools = await client.listTools()
      const answers: Record<string, unknown> = {}
      for (const tool of Object.values(tools)) answers[tool.id] = await tool.execute({ a: 1, b: 2 })
      const errors = Object.entries(client.errors).map(([name, error]) => [name, error?.code])
      return Response.json({ answers, errors: Object.fromEntries(errors) })
    } finally {
      await client.disconnect()
    }
  },
}
