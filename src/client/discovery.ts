/** Lists of all servers that say which of them failed, and why: `…WithErrors`. */
import type { Connection, RequestSettings } from './connection.ts'
import type { MCPClientError } from './errors.ts'
import type { Servers } from './servers.ts'

export interface DiscoveryOptions {
  /** How long each server may take, connecting included, in milliseconds. Default: the server's `timeoutMs`. */
  perServerTimeoutMs?: number
}

/** Why servers are not in a list, and how long each took. */
export interface DiscoveryErrors<Name extends string> {
  /** Messages. */
  errors: { [name in Name]?: string }
  /** The same as errors, whose `code` can be matched. */
  errorDetails: { [name in Name]?: MCPClientError }
  /** In milliseconds, of servers that failed, too. */
  durations: { [name in Name]?: number }
}

/** What `ask` got from each server, and why it got nothing from the others, which `onError` is not told. */
export async function discover<Name extends string, T>(
  servers: Servers<Name>,
  ask: (connection: Connection, settings: RequestSettings) => Promise<T>,
  { perServerTimeoutMs }: DiscoveryOptions = {},
): Promise<{ byName: { [name in Name]?: T }; failures: DiscoveryErrors<Name> }> {
  const settings: RequestSettings = { timeoutMs: perServerTimeoutMs }
  const durations: [string, number][] = []
  const failed: [string, MCPClientError][] = []
  const answers = await servers.all(
    async (connection) => {
      const start = Date.now()
      try {
        return await ask(connection, settings)
      } finally {
        durations.push([connection.server, Date.now() - start])
      }
    },
    ({ server }, error) => failed.push([server, error]),
  )
  const messages = failed.map(([name, { message }]) => [name, message])
  // Names of servers are those of the configuration.
  return {
    byName: Object.fromEntries(answers.map(([{ server }, answer]) => [server, answer])) as {
      [name in Name]?: T
    },
    failures: {
      errors: Object.fromEntries(messages),
      errorDetails: Object.fromEntries(failed),
      durations: Object.fromEntries(durations),
    } as DiscoveryErrors<Name>,
  }
}
