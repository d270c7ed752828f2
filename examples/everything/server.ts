/**
 * Everything a server can offer, as the official conformance suite wants to find it: `npm run conformance` runs it against
 * this on every target.
 */
import { createMemoryBus, createMemoryRendezvous, createTool, MCPServer } from 'mayfly-mcp'
import { askingTools } from './asking.ts'
import { prompts } from './prompts.ts'
import { resources } from './resources.ts'
import { tools } from './tools.ts'

const server: MCPServer = new MCPServer({
  id: 'everything',
  name: 'Everything',
  version: '1.0.0',
  description: 'The conformance fixture',
  instructions: 'For tests.',
  // A real deployment has a secret of its own, in MAYFLY_SECRET.
  secret: 'of-no-value-outside-the-conformance-suite',
  legacy: 'rendezvous',
  rendezvous: createMemoryRendezvous(),
  bus: createMemoryBus(),
  tools: {
    ...tools,
    ...askingTools,
    test_trigger_tool_change: createTool({
      id: 'test_trigger_tool_change',
      description: 'Says that the tools have changed',
      execute: async () => {
        await server.tools.notifyListChanged()
        return 'Told'
      },
    }),
    test_trigger_prompt_change: createTool({
      id: 'test_trigger_prompt_change',
      description: 'Says that the prompts have changed',
      execute: async () => {
        await server.prompts.notifyListChanged()
        return 'Told'
      },
    }),
  },
  resources,
  prompts,
})

export default server
