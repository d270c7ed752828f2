/** What a server reported of itself when it was connected. */
import type { Client } from '@modelcontextprotocol/client'

export interface Peer {
  readonly version: string | undefined
  readonly instructions: string | undefined
  readonly protocolVersion: string | undefined
}

export function peerOf(client: Client): Peer {
  return {
    version: client.getServerVersion()?.version,
    instructions: client.getInstructions(),
    protocolVersion: client.getNegotiatedProtocolVersion(),
  }
}
