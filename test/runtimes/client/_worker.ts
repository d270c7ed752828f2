/** A server whose one tool is a client: it calls every tool of the servers it is told of, and tells what it got. */
import { MCPClient, type ServerConfig } from '../../../src/client.ts'
import { createTool, jsonSchema, MCPServer } from '../../../src/index.ts'

async function callAll(servers: { [name: string]: ServerConfig }): Promise<object> {
  // What one request opened must not be used by another on some platforms: each has a client of its own.
  const client = new MCPClient({ id: crypto.randomUUID(), servers, onError: () => {}, timeoutMs: 10_000 })
  try {
    for (const name of Object.keys(servers)) {
      client.elicitation.onRequest(name, () => ({ action: 'accept', content: { name: 'Ann' } }))
    }
    const answers: Record<string, unknown> = {}
    for (const tool of Object.values(await client.listTools())) {
      answers[tool.id] = await tool.execute({ a: 1, b: 2 })
    }
    const errors = Object.entries(client.errors).map(([name, error]) => [name, error?.code])
    return { answers, errors: Object.fromEntries(errors) }
  } finally {
    await client.disconnect()
  }
}

export default new MCPServer({
  id: 'agent',
  name: 'Agent',
  version: '1.0.0',
  log: false,
  tools: {
    call_all: createTool({
      id: 'call_all',
      inputSchema: jsonSchema<{ servers: { [name: string]: ServerConfig } }>({
        type: 'object',
        properties: { servers: { type: 'object' } },
      }),
      execute: ({ servers }) => callAll(servers),
    }),
  },
})
