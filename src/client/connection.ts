/** A server as the client sees it: connected when first needed, connected again when lost, and never waited for without end. */
import {
  type Client,
  type ElicitRequestParams,
  type ElicitResult,
  LOG_LEVEL_META_KEY,
  type Progress,
  type RequestOptions,
} from '@modelcontextprotocol/client'
import { Changes } from './changes.ts'
import { MAX_TIMEOUT_MS, type ServerConfig } from './config.ts'
import { withDeadline } from './deadline.ts'
import { MCPClientError, toClientError } from './errors.ts'
import { connect, finishAuth, hangUp, isSessionLost } from './transport.ts'

/** Answers a server that asks the user. The time this takes does not count against the call's. */
export type ElicitationHandler = (request: ElicitRequestParams) => ElicitResult | Promise<ElicitResult>

/** How far a call is. */
export interface ProgressUpdate extends Progress {
  /** The tool's own name. */
  tool: string
}

export interface RequestSettings {
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number | undefined
}

export interface ConnectionOptions {
  readonly timeoutMs: number
  readonly clientInfo: { readonly name: string; readonly version: string }
  /** Told of what goes wrong while nobody waits. */
  report(error: MCPClientError): void
}

/** An open connection and how many requests are under way on it. */
interface Line {
  readonly client: Client
  users: number
  isRetired: boolean
}

export class Connection {
  readonly server: string
  readonly changes: Changes
  readonly progress: Set<(update: ProgressUpdate) => void> = new Set()
  /** Why the server last failed; undefined once it has answered again. */
  lastError: MCPClientError | undefined
  readonly #config: ServerConfig
  readonly #options: ConnectionOptions
  readonly #ended = new AbortController()
  #opening: Promise<Line> | undefined
  #elicit: ElicitationHandler | undefined
  #asking = 0

  constructor(server: string, config: ServerConfig, options: ConnectionOptions) {
    this.server = server
    this.#config = config
    this.#options = { ...options, timeoutMs: config.timeoutMs ?? options.timeoutMs }
    this.changes = new Changes({
      server,
      request: (operation, work) => this.request(operation, work),
      report: options.report,
    })
  }

  /**
   * Does `work` on an open connection, and once more on a new one where the server has lost the session.
   *
   * @throws MCPClientError
   */
  request<T>(
    operation: string,
    work: (client: Client, options: RequestOptions) => Promise<T>,
    settings: RequestSettings = {},
  ): Promise<T> {
    return this.#within(operation, settings, async (signal) => {
      const options = { signal, timeout: MAX_TIMEOUT_MS }
      const opening = this.#open()
      const line = await opening
      try {
        return await this.#use(line, (client) => work(client, options))
      } catch (error) {
        if (!isSessionLost(line.client, error)) throw error
        this.#retire(opening)
        return await this.#use(await this.#open(), (client) => work(client, options))
      }
    })
  }

  /** @throws MCPClientError, also for a redirect that answers no sign-in of this storage. */
  finishAuth(callback: URLSearchParams): Promise<void> {
    return this.#within('authorize', {}, () => finishAuth(this.server, this.#config, callback))
  }

  /** The era of the connection is only known once there is one. */
  metaFor(client: Client): { _meta?: Record<string, unknown> } {
    const { log, logLevel = 'info' } = this.#config
    if (log === undefined || client.getProtocolEra() !== 'modern') return {}
    return { _meta: { [LOG_LEVEL_META_KEY]: logLevel } }
  }

  /** A connection says what it can when it opens: one that did not say this is replaced. */
  onElicitation(handler: ElicitationHandler): () => void {
    const isDeclared = this.#elicit !== undefined
    this.#elicit = handler
    if (!isDeclared) this.#retire(this.#opening)
    return () => {
      if (this.#elicit !== handler) return
      this.#elicit = undefined
      this.#retire(this.#opening)
    }
  }

  async close(): Promise<void> {
    this.changes.stop()
    const opening = this.#opening
    this.#opening = undefined
    this.#ended.abort(
      new MCPClientError('DISCONNECTED', 'This MCPClient was disconnected: make a new one.', this),
    )
    const line = await opening?.catch(() => undefined)
    if (line !== undefined) await hangUp(line.client)
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

  #open(): Promise<Line> {
    if (this.#opening !== undefined) return this.#opening
    const forget = (): void => {
      if (this.#opening === opening) this.#opening = undefined
    }
    const opening: Promise<Line> = this.#connect(() => {
      forget()
      this.changes.onLost()
    })
    this.#opening = opening
    opening.catch(forget)
    return opening
  }

  async #connect(onClose: () => void): Promise<Line> {
    const { timeoutMs, clientInfo } = this.#options
    const deadline = {
      timeoutMs,
      signals: [this.#ended.signal],
      onTimeout: () => this.#timeout('connect', timeoutMs),
    }
    try {
      const client = await withDeadline(deadline, async (signal) => {
        const capabilities = this.#elicit === undefined ? {} : { elicitation: { form: {}, url: {} } }
        const options = {
          clientInfo,
          capabilities,
          timeoutMs,
          prepare: (client: Client) => this.#prepare(client),
        }
        const client = await connect(this.server, this.#config, options, signal)
        await this.#setLogLevel(client, signal)
        return client
      })
      const line: Line = { client, users: 0, isRetired: false }
      client.onclose = onClose
      client.onerror = (error) => {
        if (line.users === 0 && !line.isRetired && !this.#ended.signal.aborted) {
          this.#options.report(
            toClientError('REQUEST_FAILED', error, { server: this.server, operation: 'listen' }),
          )
        }
      }
      this.changes.restore(client)
      return line
    } catch (error) {
      throw toClientError('CONNECTION_FAILED', error, { server: this.server, operation: 'connect' })
    }
  }

  #prepare(client: Client): void {
    const { log } = this.#config
    this.changes.attach(client)
    if (this.#elicit !== undefined) {
      client.setRequestHandler('elicitation/create', ({ params }) => this.#ask(params))
    }
    if (log !== undefined) {
      client.setNotificationHandler('notifications/message', ({ params: { level, logger, data } }) =>
        log({ server: this.server, level, data, ...(logger !== undefined && { logger }) }),
      )
    }
  }

  /** Modern clients say it with each request. */
  async #setLogLevel(client: Client, signal: AbortSignal): Promise<void> {
    const { log, logLevel = 'info' } = this.#config
    if (log === undefined || client.getProtocolEra() === 'modern') return
    if (client.getServerCapabilities()?.logging === undefined) return
    await client.setLoggingLevel(logLevel, { signal, timeout: MAX_TIMEOUT_MS })
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

  async #use<T>(line: Line, work: (client: Client) => Promise<T>): Promise<T> {
    line.users++
    try {
      return await work(line.client)
    } finally {
      line.users--
      if (line.isRetired && line.users === 0) void hangUp(line.client)
    }
  }

  /** Closes a connection once nothing is under way on it; whoever comes next opens another. */
  #retire(opening: Promise<Line> | undefined): void {
    if (this.#opening === opening) this.#opening = undefined
    opening
      ?.then((line) => {
        line.isRetired = true
        if (line.users === 0) void hangUp(line.client)
      })
      .catch(() => {})
  }

  #timeout(operation: string, timeoutMs: number): MCPClientError {
    return new MCPClientError(
      'TIMEOUT',
      `MCP server "${this.server}" did not answer ${operation} within ${timeoutMs} ms.`,
      {
        server: this.server,
        operation,
      },
    )
  }

  #toError(operation: string, error: unknown, signal: AbortSignal | undefined): MCPClientError {
    const details = { server: this.server, operation }
    if (signal?.aborted && !(error instanceof MCPClientError)) {
      return new MCPClientError('ABORTED', `${operation} of MCP server "${this.server}" was aborted.`, {
        ...details,
        cause: error,
      })
    }
    return toClientError('REQUEST_FAILED', error, details)
  }
}
