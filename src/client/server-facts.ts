/** What a server reported about itself when it was connected. */
import type { Client, PriorDiscovery, ServerCapabilities } from '@modelcontextprotocol/client'

export interface ServerFacts {
  readonly version: string | undefined
  readonly instructions: string | undefined
  readonly protocolVersion: string | undefined
  readonly capabilities: ServerCapabilities
  /** Spares a later connection the question which protocol the server speaks. */
  readonly prior: PriorDiscovery
}

export function factsOf(client: Client): ServerFacts {
  const discover = client.getDiscoverResult()
  return {
    capabilities: client.getServerCapabilities() ?? {},
    prior:
      client.getProtocolEra() === 'modern' && discover !== undefined
        ? { kind: 'modern', discover }
        : { kind: 'legacy' },
    version: client.getServerVersion()?.version,
    instructions: client.getInstructions(),
    protocolVersion: client.getNegotiatedProtocolVersion(),
  }
}
