/** A client of a hostile server, and what it reports. */
import { onTestFinished } from 'vitest'
import type { MCPClient, MCPClientConfig, MCPClientError, ServerConfig } from '../../../src/client.ts'
import type { HostileServer } from '../../hostile/server/server.ts'
import { createClient } from './_servers.ts'

export interface Visit<Server extends HostileServer> {
  readonly server: Server
  readonly client: MCPClient<'evil'>
  readonly reported: MCPClientError[]
  /** Calls the one tool. */
  call(): ReturnType<MCPClient['callTool']>
}

/** `config` is of the server, but for `timeoutMs`. */
export async function visit<Server extends HostileServer>(
  starting: Promise<Server>,
  config: Partial<ServerConfig> & Pick<MCPClientConfig, 'timeoutMs'> = {},
): Promise<Visit<Server>> {
  const server = await starting
  onTestFinished(() => server[Symbol.asyncDispose]())
  const reported: MCPClientError[] = []
  const { timeoutMs = 15_000, ...ofServer } = config
  const client = createClient({
    timeoutMs,
    servers: { evil: { url: server.url, ...ofServer } as ServerConfig },
    onError: (error) => reported.push(error),
  })
  return { server, client, reported, call: () => client.callTool('evil', 'hello') }
}
