/**
 * stdio: the server runs under a desktop client, through the transport of the official SDK v2. Both eras.
 */
import type { MCPServer } from '../../src/index.ts'
import { loadStdio } from './packages.ts'
import { connect, type SdkTransport } from './transport.ts'

export interface StdioOptions {
  /** `ctx.env`. Default `process.env`. */
  env?: unknown
}

export interface StdioServer {
  /** Resolves when the client has closed its end, or after `close`. */
  readonly closed: Promise<void>
  /** Aborts what is running and lets go of stdin. */
  close(): Promise<void>
}

/**
 * Serves one client over stdin and stdout until it closes its end. stdout carries messages alone: what the server's own code
 * prints with `console` goes to stderr meanwhile. Who runs the process is trusted: `auth` and `http` have no meaning here.
 *
 * ```ts
 * const { closed } = await startStdio(server)
 * ```
 *
 * Needs `@modelcontextprotocol/server`.
 */
export async function startStdio(
  server: MCPServer,
  { env = process.env }: StdioOptions = {},
): Promise<StdioServer> {
  const { StdioServerTransport } = await loadStdio()
  const transport: SdkTransport = new StdioServerTransport()
  const restoreConsole = divertConsole()
  const waitUntil = (promise: Promise<unknown>): void => void promise
  const session = connect(server.getSessionParts(), transport, { env, waitUntil }, () => undefined)
  const closed = new Promise<void>((resolve) => {
    transport.onclose = () => {
      session.close()
      restoreConsole()
      resolve()
    }
  })
  await transport.start()
  return { closed, close: () => transport.close() }
}

const TO_STDOUT = ['log', 'info', 'debug', 'dir', 'table', 'group', 'groupCollapsed', 'count'] as const

/** Makes `console` print to stderr: a line of anybody's would break the protocol. Returns what undoes it. */
export function divertConsole(): () => void {
  const own = new console.Console(process.stderr, process.stderr)
  const before = TO_STDOUT.map((name) => [name, console[name]] as const)
  for (const name of TO_STDOUT) console[name] = own[name].bind(own)
  return () => {
    for (const [name, method] of before) Object.assign(console, { [name]: method })
  }
}
