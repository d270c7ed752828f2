/** The Mastra project, imported as it is. */
import { MCPServer, type MCPServerConfig } from '../../adapters/node-mastra.ts'
import { createMemoryRendezvous } from '../../src/index.ts'
import { agents, tools, workflows } from './mastra-project.ts'

export function createConfig(): MCPServerConfig & { readonly secret: string } {
  return {
    id: 'mastra',
    name: 'Mastra',
    version: '1.0.0',
    tools,
    agents,
    workflows,
    secret: 'a-secret-of-the-tests-long-enough-to-be-one',
    legacy: 'rendezvous',
    rendezvous: createMemoryRendezvous(),
    log: false,
  }
}

export function createServer(config: Partial<MCPServerConfig> = {}): MCPServer {
  return new MCPServer({ ...createConfig(), ...config })
}
