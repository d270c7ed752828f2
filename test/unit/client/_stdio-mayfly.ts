/** A server on stdio whose tool changes what it serves. */
import { startStdio } from '../../../adapters/node.ts'
import { createTool, MCPServer } from '../../../src/index.ts'

const server = new MCPServer({
  id: 'news',
  name: 'News',
  version: '1.0.0',
  resources: [{ uri: 'news://today', read: () => 'Nothing happened' }],
  tools: {
    publish: createTool({
      id: 'publish',
      execute: async () => {
        await server.resources.notifyUpdated({ uri: 'news://today' })
        await server.tools.notifyListChanged()
        return 'published'
      },
    }),
  },
})
await startStdio(server)
