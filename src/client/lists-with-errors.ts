/** `…WithErrors`: lists of all servers, with the errors of those that failed. */
import { MAX_TIMER_MS } from '../definition/timeout.ts'
import { type Names, refuseUnknown } from '../definition/unknown-option.ts'
import type { Connection, RequestSettings } from './connection.ts'
import type { MCPClientError } from './errors.ts'
import type { Servers } from './servers.ts'

/** Options of the `…WithErrors` methods. */
export interface DiscoveryOptions {
  /** Milliseconds for each server, including connecting. Default: the server's `timeoutMs`. */
  perServerTimeoutMs?: number
}

const OPTIONS: Names<DiscoveryOptions> = { perServerTimeoutMs: [0, MAX_TIMER_MS] }

/** The errors of servers that are missing in a list, and how long each server took. */
export interface DiscoveryErrors<Name extends string> {
  /** Error messages. */
  errors: { [name in Name]?: string }
  /** The same as errors; match their `code`. */
  errorDetails: { [name in Name]?: MCPClientError }
  /** Milliseconds for each server, including those that failed. */
  durations: { [name in Name]?: number }
}

/** The result of `ask` for each server that answered, and the errors of the others, which `onError` does not receive. */
export async function askAllServers<Name extends string, T>(
  servers: Servers<Name>,
  ask: (connection: Connection, settings: RequestSettings) => Promise<T>,
  options: DiscoveryOptions = {},
): Promise<{ byName: { [name in Name]?: T }; failures: DiscoveryErrors<Name> }> {
  refuseUnknown('A list with errors', options, OPTIONS)
  const settings: RequestSettings = { timeoutMs: options.perServerTimeoutMs }
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
  // The keys are names of the configuration.
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
