/** The server of these examples: a note that changes, and a tool that changes it. Only the bus differs. */
import { type Bus, createResource, createTool, MCPServer } from 'mayfly-mcp'
import type { Subscriptions } from 'mayfly-mcp/subscriptions'

const TODAY = 'note://today'

/** With `subscriptions` and a MAYFLY_SECRET in the environment, legacy clients are notified, too. */
export function createNotes(bus: Bus, subscriptions?: Subscriptions): MCPServer {
  const touch = createTool({
    id: 'touch',
    description: `Tells every client that ${TODAY} and the list of tools have changed, whichever process it listens to`,
    execute: async () => {
      await server.resources.notifyUpdated({ uri: TODAY })
      await server.tools.notifyListChanged()
      return 'touched'
    },
  })
  const today = createResource({
    uri: TODAY,
    name: 'today',
    read: () => `It is ${new Date().toISOString()}.`,
  })
  const server = new MCPServer({
    id: 'notes',
    name: 'Notes',
    version: '1.0.0',
    bus,
    ...(subscriptions && { subscriptions }),
    tools: { touch },
    resources: [today],
  })
  return server
}
