/** A server on stdio with any number of resources, and a tool that changes one. */
import { startStdio } from '../../../adapters/node.ts'
import { createResource, createTool, jsonSchema, MCPServer } from '../../../src/index.ts'

const inputSchema = jsonSchema<{ uri: string }>({ type: 'object', properties: { uri: { type: 'string' } } })
const server = new MCPServer({
  id: 'news',
  name: 'News',
  version: '1.0.0',
  resources: [createResource({ uriTemplate: 'news://{id}', read: () => 'Nothing happened' })],
  tools: {
    publish: createTool({
      id: 'publish',
      inputSchema,
      execute: async ({ uri }) => {
        await server.resources.notifyUpdated({ uri })
        return 'published'
      },
    }),
  },
})
await startStdio(server)
