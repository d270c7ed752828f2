/** What a server reported about itself when it was connected. */
import type { Client } from '@modelcontextprotocol/client'

export interface ServerFacts {
  readonly version: string | undefined
  readonly instructions: string | undefined
  readonly protocolVersion: string | undefined
}

export function factsOf(client: Client): ServerFacts {
  return {
    version: client.getServerVersion()?.version,
    instructions: client.getInstructions(),
    protocolVersion: client.getNegotiatedProtocolVersion(),
  }
}
