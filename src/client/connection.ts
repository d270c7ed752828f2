/** The client's connection to one server: gives each request a deadline, and each failure a code. */
import type {
  Client,
  ClientCapabilities,
  PriorDiscovery,
  Progress,
  RequestOptions,
} from '@modelcontextprotocol/client'
import { isA } from '../definition/error-text.ts'
import type { JsonSchema } from '../definition/schema.ts'
import { MAX_TIMER_MS } from '../definition/timeout.ts'
import type { Names } from '../definition/unknown-option.ts'
import { Call } from './call.ts'
import { Changes } from './changes.ts'
import type { Channel } from './channel.ts'
import type { ServerConfig } from './config.ts'
import { connect, finishAuth } from './connect.ts'
import { withDeadline } from './deadline.ts'
import { MCPClientError, toClientError } from './errors.ts'
import { type ElicitationHandler, Questions } from './questions.ts'
import { createRate } from './rate.ts'
import { ReconnectingClient } from './reconnecting-client.ts'
import { Secrets } from './secrets.ts'
import { factsOf, type ServerFacts } from './server-facts.ts'
import { logMeta, receiveLogs, setLogLevel } from './server-logs.ts'
import { TASKS_EXTENSION } from './task.ts'

/** The progress of a call. */
export interface ProgressUpdate extends Progress {
  /** The tool's own name, without the server's. */
  tool: string
  /** Identifies the call: its `runId`, or a generated one. */
  progressToken: string
}

/** Settings of one request. */
export interface RequestSettings {
  /** Aborts the request. */
  readonly signal?: AbortSignal | undefined
  /** Milliseconds for this request, including connecting. Default: the server's `timeoutMs`. */
  readonly timeoutMs?: number | undefined
}

/** The names of `RequestSettings`. */
export const REQUEST_SETTINGS: Names<RequestSettings> = { signal: 'object', timeoutMs: [0, MAX_TIMER_MS] }

/** The parameters that every request has in addition to its own. */
export interface CallParams {
  _meta?: Record<string, unknown>
}

export interface ConnectionOptions {
  readonly timeoutMs: number
  readonly maxResponseBytes: number
  readonly maxTaskMs: number
  readonly clientInfo: { readonly name: string; readonly version: string }
  /** Called with errors that no caller receives. */
  report(error: MCPClientError): void
  /** For a connection that passes on the requests of another client. */
  readonly relay?: Relay | undefined
}

/** What a connection declares for the client whose requests it passes on. That client answers questions itself. */
export interface Relay {
  readonly capabilities: ClientCapabilities
  /** What an earlier connection learned about the server's version, so that it is not asked again. */
  readonly prior: PriorDiscovery | undefined
}

/** Limits the reports that a server can cause outside of calls. */
const BACKGROUND_REPORTS = { burst: 10, perSecond: 0.2 } as const

export class Connection {
  readonly server: string
  readonly config: ServerConfig
  readonly changes: Changes
  readonly progress: Set<(update: ProgressUpdate) => void> = new Set()
  /** The server's last error; undefined after it answered again. */
  lastError: MCPClientError | undefined
  /** The output schemas of the tools that were listed last, by name. */
  outputSchemas: ReadonlyMap<string, JsonSchema> = new Map()
  /** Facts of the last connection; undefined before the first. */
  peer: ServerFacts | undefined
  readonly questions: Questions
  readonly maxTaskMs: number
  /** What no error of this server may quote. */
  readonly secrets: Secrets
  /** Whether the client declares support for tasks. */
  readonly allowsTasks: boolean
  readonly #options: ConnectionOptions
  readonly #client: ReconnectingClient
  readonly #ended = new AbortController()
  /** The key of the parameter that marks a call inside this client; never sent. */
  readonly #callKey = Symbol('call')
  readonly #mayReport = createRate(BACKGROUND_REPORTS.burst, BACKGROUND_REPORTS.perSecond)

  constructor(server: string, config: ServerConfig, options: ConnectionOptions) {
    this.server = server
    this.config = config
    this.secrets = new Secrets(config)
    const { timeoutMs = options.timeoutMs, maxResponseBytes = options.maxResponseBytes } = config
    this.#options = { ...options, timeoutMs, maxResponseBytes }
    this.maxTaskMs = config.maxTaskMs ?? options.maxTaskMs
    this.allowsTasks = config.tasks !== false
    this.questions = new Questions(this)
    this.changes = new Changes({
      server,
      request: (operation, work) => this.request(operation, work),
      report: (error) => this.report(error),
    })
    this.#client = new ReconnectingClient({
      connect: () => this.#connect(),
      onLost: () => this.changes.onLost(),
      onError: (error) => this.#reportBackground(error),
    })
  }

  /** Called with errors that no caller receives. */
  report(error: MCPClientError): void {
    this.#options.report(error)
  }

  /** Aborts when the client is disconnected. */
  get ended(): AbortSignal {
    return this.#ended.signal
  }

  /**
   * Runs `work` on the open connection. `call` is the call that the request belongs to; without it, the request is its own call. If the
   * server lost the session, the request is repeated if that is safe, and `tools/call` only if it cannot have run.
   *
   * @throws MCPClientError
   */
  request<T>(
    operation: string,
    work: (client: Client, options: RequestOptions, params: CallParams) => Promise<T>,
    settings: RequestSettings = {},
    ofCall?: Call,
  ): Promise<T> {
    const call = ofCall ?? new Call()
    const mayRepeat = operation !== 'tools/call'
    const run = (signal: AbortSignal): Promise<T> =>
      this.#client.use(
        (client) =>
          work(
            client,
            { signal, timeout: MAX_TIMER_MS },
            { ...logMeta(this.config, client), [this.#callKey]: call },
          ),
        { mayRepeat },
      )
    return this.#within(operation, settings, run, call).finally(() => {
      if (ofCall === undefined) call.end()
    })
  }

  /** @throws MCPClientError, also for a redirect that belongs to no sign-in of this storage. */
  finishAuth(callback: URLSearchParams): Promise<void> {
    const { timeoutMs, maxResponseBytes } = this.#options
    const limits = { timeoutMs, maxResponseBytes, ended: this.#ended.signal, secrets: this.secrets }
    return this.#within('authorize', {}, () => finishAuth(this.server, this.config, callback, limits))
  }

  /** Opens a new connection; running requests finish on the old one. @throws MCPClientError */
  reconnect(): Promise<void> {
    this.#client.replace()
    return this.#within('connect', {}, () => this.#client.use(async () => {}, { mayRepeat: true }))
  }

  /** A connection declares its capabilities when it opens, so one without elicitation is replaced. */
  onElicitation(handler: ElicitationHandler): () => void {
    const isDeclared = this.questions.handler !== undefined
    this.questions.handler = handler
    if (!isDeclared) this.#client.replace()
    return () => {
      if (this.questions.handler !== handler) return
      this.questions.handler = undefined
      this.#client.replace()
    }
  }

  async close(): Promise<void> {
    this.changes.stop()
    this.#ended.abort(
      new MCPClientError('DISCONNECTED', 'This MCPClient was disconnected: create a new one.', {
        server: this.server,
      }),
    )
    await this.#client.close()
  }

  async #within<T>(
    operation: string,
    { signal, timeoutMs = this.#options.timeoutMs }: RequestSettings,
    work: (signal: AbortSignal) => Promise<T>,
    call?: Call,
  ): Promise<T> {
    const deadline = {
      timeoutMs,
      signals: [this.#ended.signal, signal],
      ...(call !== undefined && { pausedMs: () => call.askedMs }),
      onTimeout: () => this.#timeout(operation, timeoutMs),
    }
    try {
      const result = await withDeadline(deadline, work)
      this.lastError = undefined
      return result
    } catch (cause) {
      const error = this.toError(operation, cause, signal)
      if (error.code !== 'ABORTED' && error.code !== 'DISCONNECTED') this.lastError = error
      throw error
    }
  }

  async #connect(): Promise<Client> {
    const { timeoutMs, maxResponseBytes, clientInfo, relay } = this.#options
    const deadline = {
      timeoutMs,
      signals: [this.#ended.signal],
      onTimeout: () => this.#timeout('connect', timeoutMs),
    }
    const options = {
      clientInfo,
      capabilities: {
        ...(this.questions.handler !== undefined && { elicitation: { form: {}, url: {} } }),
        ...relay?.capabilities,
        ...(this.allowsTasks && { extensions: { [TASKS_EXTENSION]: {} } }),
      },
      timeoutMs,
      maxResponseBytes,
      ended: this.#ended.signal,
      secrets: this.secrets,
      callKey: this.#callKey,
      allowsTasks: this.allowsTasks,
      hasOneCaller: hasOneCaller(this.config),
      isRelay: relay !== undefined,
      prior: relay?.prior,
      report: (what: string, operation: string) => this.#reportMisconduct(what, operation),
      closing: (closed: Promise<void>) => this.#client.await(closed),
      prepare: (client: Client, channel: Channel) => this.#prepare(client, channel),
    }
    try {
      return await withDeadline(deadline, async (signal) => {
        const client = await connect(this.server, this.config, options, signal)
        const waiting = setLogLevel(this.config, client, { signal, timeout: MAX_TIMER_MS })
        await waiting.catch((error: unknown) => {
          if (!signal.aborted) this.report(this.#toError('REQUEST_FAILED', error, 'logging/setLevel'))
        })
        this.peer = factsOf(client)
        return client
      })
    } catch (error) {
      throw this.#toError('CONNECTION_FAILED', error, 'connect')
    }
  }

  #prepare(client: Client, channel: Channel): void {
    this.changes.attach(client)
    receiveLogs(this, this.config, client)
    if (this.questions.handler === undefined) return
    client.setRequestHandler('elicitation/create', ({ params }, { mcpReq: { id, signal } }) =>
      this.questions.answer(channel.askersOf(id), params, signal),
    )
  }

  #reportBackground(error: Error): void {
    if (!this.#mayReport()) return
    this.report(this.#toError('REQUEST_FAILED', error, 'listen'))
  }

  #reportMisconduct(what: string, operation: string): void {
    if (!this.#mayReport()) return
    const { server } = this
    this.report(new MCPClientError('MALFORMED', `MCP server "${server}" ${what}.`, { server, operation }))
  }

  #timeout(operation: string, timeoutMs: number): MCPClientError {
    return new MCPClientError(
      'TIMEOUT',
      `MCP server "${this.server}" did not answer ${operation} within ${timeoutMs} ms.`,
      { server: this.server, operation },
    )
  }

  /** The error for the caller of `operation`. */
  toError(operation: string, error: unknown, signal: AbortSignal | undefined): MCPClientError {
    if (signal?.aborted && !isA(error, MCPClientError)) {
      const { server, secrets } = this
      const text = `${operation} of MCP server "${server}" was aborted.`
      return new MCPClientError('ABORTED', text, { server, operation, cause: secrets.hideIn(error) })
    }
    return this.#toError('REQUEST_FAILED', error, operation)
  }

  #toError(code: 'CONNECTION_FAILED' | 'REQUEST_FAILED', error: unknown, operation: string): MCPClientError {
    const { server, secrets } = this
    return toClientError(code, error, { server, operation, secrets })
  }
}

/** A function may return the token of another user for each request, and another one may sign in. */
function hasOneCaller(config: ServerConfig): boolean {
  return !('url' in config) || (typeof config.token !== 'function' && config.authProvider === undefined)
}
