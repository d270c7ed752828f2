/**
 * Everything a server can offer, as the official conformance suite wants to find it. The entries beside this file serve it
 * with what their platform has for a bus and a rendezvous.
 */
import { createTool, MCPServer, type MCPServerConfig } from 'mayfly-mcp'
import { askingTools } from './asking.ts'
import { prompts } from './prompts.ts'
import { resources } from './resources.ts'
import { tasks as taskTools } from './tasks.ts'
import { tools } from './tools.ts'

export function createEverything(platform: Pick<MCPServerConfig, 'bus' | 'rendezvous' | 'tasks'>): MCPServer {
  const server = new MCPServer({
    id: 'everything',
    name: 'Everything',
    version: '1.0.0',
    description: 'The conformance fixture',
    instructions: 'For tests.',
    // A real deployment has a secret of its own, in MAYFLY_SECRET.
    secret: 'of-no-value-outside-the-conformance-suite',
    legacy: 'rendezvous',
    ...platform,
    tools: {
      ...tools,
      ...askingTools,
      ...(platform.tasks !== undefined && taskTools),
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
  return server
}
