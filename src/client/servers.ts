/** The servers of a client: one by its name, or all of them. If one fails, this is reported and the others continue. */

import { isA } from '../definition/error-text.ts'
import { callHook } from '../definition/hook.ts'
import { printError } from '../definition/print-error.ts'
import {
  checkConfig,
  DEFAULT_MAX_RESPONSE_BYTES,
  DEFAULT_MAX_TASK_MS,
  DEFAULT_TIMEOUT_MS,
  type MCPClientConfig,
  type ServerConfig,
} from './config.ts'
import { Connection } from './connection.ts'
import { MCPClientError } from './errors.ts'
import { claimConfig } from './instances.ts'
import { printable } from './printable.ts'

/** Maximum characters of a message on the console. */
const MAX_PRINTED = 500

export class Servers<Name extends string> {
  readonly #connections: ReadonlyMap<string, Connection>
  readonly #onError: (error: MCPClientError) => void
  readonly #release: () => void
  #isClosed = false

  constructor(config: MCPClientConfig<Name>) {
    checkConfig(config)
    const {
      servers,
      timeoutMs = DEFAULT_TIMEOUT_MS,
      maxResponseBytes = DEFAULT_MAX_RESPONSE_BYTES,
      maxTaskMs = DEFAULT_MAX_TASK_MS,
      clientInfo = { name: 'mayfly-mcp', version: '1.0.0' },
    } = config
    this.#release = claimConfig(config)
    this.#onError = config.onError ?? (({ message }) => console.error(printable(message, MAX_PRINTED)))
    const options = {
      timeoutMs,
      maxResponseBytes,
      maxTaskMs,
      clientInfo,
      report: (error: MCPClientError) => this.report(error),
    }
    this.#connections = new Map(
      Object.entries<ServerConfig>(servers).map(([name, server]) => [
        name,
        new Connection(name, server, options),
      ]),
    )
  }

  /** @throws TypeError for a name that is not in `servers`. */
  of(name: Name): Connection {
    const connection = this.#connections.get(name)
    if (connection !== undefined) return connection
    throw new TypeError(
      `Unknown server ${JSON.stringify(name)}: the servers are ${[...this.#connections.keys()].join(', ')}.`,
    )
  }

  has(name: string): boolean {
    return this.#connections.has(name)
  }

  /** The value of `ask` for each server, by name; sends nothing. */
  map<T>(ask: (connection: Connection) => T): { [name in Name]: T } {
    const values = [...this.#connections].map(([name, connection]) => [name, ask(connection)])
    return Object.fromEntries(values) as { [name in Name]: T }
  }

  /** The errors of servers whose last request failed. */
  errors(): { [name in Name]?: MCPClientError } {
    const failed = [...this.#connections].filter(([, { lastError }]) => lastError !== undefined)
    return Object.fromEntries(failed.map(([name, { lastError }]) => [name, lastError])) as {
      [name in Name]?: MCPClientError
    }
  }

  /** The result of `ask` for each server that answered, in the order of `servers`. `onFailed` is called for the others. */
  async all<T>(
    ask: (connection: Connection) => Promise<T>,
    onFailed: (connection: Connection, error: MCPClientError) => void = (_connection, error) =>
      this.report(error),
  ): Promise<(readonly [Connection, T])[]> {
    this.requireOpen()
    const answers = await Promise.all(
      [...this.#connections.values()].map(async (connection) => {
        try {
          return [[connection, await ask(connection)] as const]
        } catch (error) {
          if (!isA(error, MCPClientError)) throw error
          onFailed(connection, error)
          return []
        }
      }),
    )
    this.requireOpen()
    return answers.flat()
  }

  /** The same, by name. */
  async byName<T>(ask: (connection: Connection) => Promise<T>): Promise<{ [name in Name]?: T }> {
    const answers = await this.all(ask)
    return Object.fromEntries(answers.map(([{ server }, answer]) => [server, answer])) as {
      [name in Name]?: T
    }
  }

  report(error: MCPClientError): void {
    if (this.#isClosed) return
    callHook(() => this.#onError(error), printError)
  }

  /** @throws MCPClientError `DISCONNECTED` */
  requireOpen(): void {
    if (this.#isClosed)
      throw new MCPClientError('DISCONNECTED', 'This MCPClient was disconnected: make a new one.')
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#connections.values()].map((connection) => connection.close()))
    this.#release()
  }
}
