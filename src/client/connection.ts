/** A server as the client sees it: each request has its deadline, and each failure its code. */
import type {
  Client,
  ElicitRequestParams,
  ElicitResult,
  Progress,
  RequestOptions,
} from '@modelcontextprotocol/client'
import { Changes } from './changes.ts'
import { MAX_TIMEOUT_MS, type ServerConfig } from './config.ts'
import { withDeadline } from './deadline.ts'
import { MCPClientError, toClientError } from './errors.ts'
import { Line } from './line.ts'
import { logMeta, receiveLogs, setLogLevel } from './server-logs.ts'
import { connect, finishAuth, hangUp } from './transport.ts'

/** Answers a server that asks the user. The time this takes does not count against the call's. */
export type ElicitationHandler = (request: ElicitRequestParams) => ElicitResult | Promise<ElicitResult>

/** How far a call is. */
export interface ProgressUpdate extends Progress {
  /** The tool's own name. */
  tool: string
}

export interface RequestSettings {
  readonly signal?: AbortSignal | undefined
  /** How long this request may take, connecting included, in milliseconds. Default: the server's. */
  readonly timeoutMs?: number | undefined
}

export interface ConnectionOptions {
  readonly timeoutMs: number
  readonly clientInfo: { readonly name: string; readonly version: string }
  /** Told of what goes wrong while nobody waits. */
  report(error: MCPClientError): void
}

export class Connection {
  readonly server: string
  readonly changes: Changes
  readonly progress: Set<(update: ProgressUpdate) => void> = new Set()
  /** Why the server last failed; undefined once it has answered again. */
  lastError: MCPClientError | undefined
  readonly #config: ServerConfig
  readonly #options: ConnectionOptions
  readonly #line: Line
  readonly #ended = new AbortController()
  #elicit: ElicitationHandler | undefined
  /** Questions that the user has not answered yet. */
  #asking = 0

  constructor(server: string, config: ServerConfig, options: ConnectionOptions) {
    this.server = server
    this.#config = config
    this.#options = { ...options, timeoutMs: config.timeoutMs ?? options.timeoutMs }
    this.changes = new Changes({
      server,
      request: (operation, work) => this.request(operation, work),
      report: (error) => this.report(error),
    })
    this.#line = new Line({
      connect: () => this.#connect(),
      onLost: () => this.changes.onLost(),
      onError: (error) =>
        this.report(toClientError('REQUEST_FAILED', error, { server, operation: 'listen' })),
    })
  }

  /** Told of what goes wrong while nobody waits. */
  report(error: MCPClientError): void {
    this.#options.report(error)
  }

  /** @throws MCPClientError */
  request<T>(
    operation: string,
    work: (client: Client, options: RequestOptions) => Promise<T>,
    settings: RequestSettings = {},
  ): Promise<T> {
    return this.#within(operation, settings, (signal) =>
      this.#line.use((client) => work(client, { signal, timeout: MAX_TIMEOUT_MS })),
    )
  }

  /** @throws MCPClientError, also for a redirect that answers no sign-in of this storage. */
  finishAuth(callback: URLSearchParams): Promise<void> {
    return this.#within('authorize', {}, () => finishAuth(this.server, this.#config, callback))
  }

  /** What every request carries; the era is only known once there is a connection. */
  metaFor(client: Client): { _meta?: Record<string, unknown> } {
    return logMeta(this.#config, client)
  }

  /** A connection says what it can when it opens: one that did not say this is replaced. */
  onElicitation(handler: ElicitationHandler): () => void {
    const isDeclared = this.#elicit !== undefined
    this.#elicit = handler
    if (!isDeclared) this.#line.replace()
    return () => {
      if (this.#elicit !== handler) return
      this.#elicit = undefined
      this.#line.replace()
    }
  }

  async close(): Promise<void> {
    this.changes.stop()
    this.#ended.abort(
      new MCPClientError('DISCONNECTED', 'This MCPClient was disconnected: make a new one.', {
        server: this.server,
      }),
    )
    await this.#line.close()
  }

  async #within<T>(
    operation: string,
    { signal, timeoutMs = this.#options.timeoutMs }: RequestSettings,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const deadline = {
      timeoutMs,
      signals: [this.#ended.signal, signal],
      isPaused: () => this.#asking > 0,
      onTimeout: () => this.#timeout(operation, timeoutMs),
    }
    try {
      const result = await withDeadline(deadline, work)
      this.lastError = undefined
      return result
    } catch (cause) {
      const error = this.#toError(operation, cause, signal)
      if (error.code !== 'ABORTED' && error.code !== 'DISCONNECTED') this.lastError = error
      throw error
    }
  }

  async #connect(): Promise<Client> {
    const { timeoutMs, clientInfo } = this.#options
    const deadline = {
      timeoutMs,
      signals: [this.#ended.signal],
      onTimeout: () => this.#timeout('connect', timeoutMs),
    }
    const options = {
      clientInfo,
      capabilities: this.#elicit === undefined ? {} : { elicitation: { form: {}, url: {} } },
      timeoutMs,
      prepare: (client: Client) => this.#prepare(client),
    }
    try {
      return await withDeadline(deadline, async (signal) => {
        const client = await connect(this.server, this.#config, options, signal)
        const waiting = setLogLevel(this.#config, client, { signal, timeout: MAX_TIMEOUT_MS })
        await waiting.catch((error: unknown) => {
          const details = { server: this.server, operation: 'logging/setLevel' }
          if (!signal.aborted) this.report(toClientError('REQUEST_FAILED', error, details))
        })
        // Nobody waits for it any more.
        if (signal.aborted) await hangUp(client)
        return client
      })
    } catch (error) {
      throw toClientError('CONNECTION_FAILED', error, { server: this.server, operation: 'connect' })
    }
  }

  #prepare(client: Client): void {
    this.changes.attach(client)
    receiveLogs(this, this.#config, client)
    if (this.#elicit === undefined) return
    client.setRequestHandler('elicitation/create', ({ params }) => this.#ask(params))
  }

  async #ask(params: ElicitRequestParams): Promise<ElicitResult> {
    if (this.#elicit === undefined) return { action: 'cancel' }
    this.#asking++
    try {
      return await this.#elicit(params)
    } finally {
      this.#asking--
    }
  }

  #timeout(operation: string, timeoutMs: number): MCPClientError {
    return new MCPClientError(
      'TIMEOUT',
      `MCP server "${this.server}" did not answer ${operation} within ${timeoutMs} ms.`,
      { server: this.server, operation },
    )
  }

  #toError(operation: string, error: unknown, signal: AbortSignal | undefined): MCPClientError {
    const details = { server: this.server, operation }
    if (signal?.aborted && !(error instanceof MCPClientError)) {
      const text = `${operation} of MCP server "${this.server}" was aborted.`
      return new MCPClientError('ABORTED', text, { ...details, cause: error })
    }
    return toClientError('REQUEST_FAILED', error, details)
  }
}
