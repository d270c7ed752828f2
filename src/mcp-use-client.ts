/** The exports of `mayfly-mcp/mcp-use-client`: `MCPClient` for code that was written for the client of mcp-use. */
import type { GetPromptResult, Prompt, ReadResourceResult, Resource } from '@modelcontextprotocol/client'
import {
  checkConfig,
  type HttpServerConfig,
  type ServerConfig,
  type StdioServerConfig,
} from './client/config.ts'
import type { ToolDefinition } from './client/definitions.ts'
import { MCPClient as NativeClient } from './client/mcp-client.ts'
import type { ElicitationHandler } from './client/questions.ts'
import type { CallToolResult } from './definition/content.ts'
import { MAX_TIMER_MS } from './definition/timeout.ts'
import { type Names, refuseUnknown, requireOptions } from './definition/unknown-option.ts'
import type { OnElicitationCallback } from './mcp-use/answers.ts'

export { MCPClientError, type MCPClientErrorCode } from './client/errors.ts'
export {
  accept,
  acceptWithDefaults,
  applyDefaults,
  cancel,
  decline,
  type ElicitContent,
  type ElicitQuestion,
  type ElicitRequest,
  type ElicitResult,
  type ElicitValidationResult,
  getDefaults,
  type OnElicitationCallback,
  reject,
  validate,
} from './mcp-use/answers.ts'

/** What answers the questions of servers. */
export interface McpUseClientOptions {
  /** Default: questions are cancelled. */
  onElicitation?: OnElicitationCallback
  /** @deprecated The same as `onElicitation`. */
  elicitationCallback?: OnElicitationCallback
}

/** One server: the options of `mayfly-mcp/client`, and those of mcp-use. */
export type McpUseServerConfig = (
  | (HttpServerConfig & {
      /** The same as `token`. */
      authToken?: string
    })
  | StdioServerConfig
) &
  McpUseClientOptions

/** The configuration of an `MCPClient`. */
export interface McpUseClientConfig {
  mcpServers: { readonly [name: string]: McpUseServerConfig }
}

/** Settings of one request. */
export interface McpUseRequestOptions {
  /** Milliseconds. Default 60 000. */
  timeout?: number
  signal?: AbortSignal
}

const CONFIG: Names<McpUseClientConfig> = { mcpServers: 'object' }
const OPTIONS: Names<McpUseClientOptions> = { onElicitation: 'function', elicitationCallback: 'function' }
const REQUEST: Names<McpUseRequestOptions> = { timeout: [0, MAX_TIMER_MS], signal: 'object' }

/** A connected server. */
export type MCPConnection = ServerConnection

class ServerConnection {
  readonly #client: NativeClient
  readonly #name: string

  constructor(client: NativeClient, name: string) {
    this.#client = client
    this.#name = name
  }

  /** The tools under their own names. @throws MCPClientError if the server gives no list. */
  async listTools(): Promise<ToolDefinition[]> {
    const { definitions, errorDetails } = await this.#client.listToolDefinitionsWithErrors()
    this.#require(errorDetails)
    return Object.values(definitions[this.#name] ?? {})
  }

  /** Calls a tool; resolves with its result, also if it is `isError`. @throws MCPClientError if the tool gives no answer. */
  callTool(
    name: string,
    args: { readonly [name: string]: unknown } = {},
    options: McpUseRequestOptions = {},
  ): Promise<CallToolResult> {
    refuseUnknown('The options of callTool', options, REQUEST)
    const { timeout, signal } = options
    return this.#client.callTool(this.#name, name, args, {
      ...(timeout !== undefined && { timeoutMs: timeout }),
      ...(signal !== undefined && { signal }),
    })
  }

  /** All resources. @throws MCPClientError if the server gives no list. */
  async listAllResources(): Promise<{ resources: Resource[] }> {
    const { resources, errorDetails } = await this.#client.resources.listWithErrors()
    this.#require(errorDetails)
    return { resources: resources[this.#name] ?? [] }
  }

  /** The same as `listAllResources`. */
  listResources(): Promise<{ resources: Resource[] }> {
    return this.listAllResources()
  }

  readResource(uri: string): Promise<ReadResourceResult> {
    return this.#client.resources.read(this.#name, uri)
  }

  /** All prompts. @throws MCPClientError if the server gives no list. */
  async listPrompts(): Promise<{ prompts: Prompt[] }> {
    const { prompts, errorDetails } = await this.#client.prompts.listWithErrors()
    this.#require(errorDetails)
    return { prompts: prompts[this.#name] ?? [] }
  }

  getPrompt(name: string, args?: { readonly [name: string]: string }): Promise<GetPromptResult> {
    return this.#client.prompts.get(this.#name, name, args)
  }

  /** Ends the connection. */
  disconnect(): Promise<void> {
    return this.#client.disconnect()
  }

  #require(errors: { readonly [name: string]: Error | undefined }): void {
    const error = errors[this.#name]
    if (error !== undefined) throw error
  }
}

interface Open {
  readonly connection: MCPConnection
  readonly ready: Promise<unknown>
}

/**
 * The client of mcp-use, over `mayfly-mcp/client`.
 *
 * ```ts
 * const client = new MCPClient({ mcpServers: { demo: { url: 'https://demo.example/mcp' } } }, { onElicitation })
 * const connection = await client.connect('demo')
 * ```
 *
 * @throws TypeError for an unknown option, and for `onElicitation` together with `elicitationCallback`.
 */
export class MCPClient {
  readonly #servers: McpUseClientConfig['mcpServers']
  readonly #onElicitation: OnElicitationCallback | undefined
  readonly #open = new Map<string, Open>()

  constructor(config: McpUseClientConfig, options: McpUseClientOptions = {}) {
    requireOptions('MCPClient', config, CONFIG, 'mcpServers')
    refuseUnknown('The options of MCPClient', options, OPTIONS)
    this.#servers = config.mcpServers
    this.#onElicitation = callbackOf('MCPClient', options)
    const servers = Object.entries(config.mcpServers).map(([name, server]) => [name, toNative(name, server)])
    if (servers.length > 0) checkConfig({ servers: Object.fromEntries(servers) })
  }

  getServerNames(): string[] {
    return Object.keys(this.#servers)
  }

  /** Connects to a server, or returns the connection to it. @throws MCPClientError if it cannot be reached. */
  async connect(name: string): Promise<MCPConnection> {
    const open = this.#open.get(name) ?? this.#begin(name)
    try {
      await open.ready
    } catch (error) {
      // Meanwhile it may have been closed, and another one begun.
      if (this.#open.get(name) === open) this.#open.delete(name)
      await open.connection.disconnect()
      throw error
    }
    return open.connection
  }

  /** Connects to all servers. */
  async connectAll(): Promise<Record<string, MCPConnection>> {
    const names = this.getServerNames()
    const connections = await Promise.all(names.map((name) => this.connect(name)))
    return Object.fromEntries(names.map((name, at) => [name, connections[at]!]))
  }

  /** The connection to a server; null before `connect`. */
  getSession(name: string): MCPConnection | null {
    return this.#open.get(name)?.connection ?? null
  }

  /** The same. @throws Error before `connect`. */
  requireSession(name: string): MCPConnection {
    const session = this.getSession(name)
    if (session === null)
      throw new Error(`"${name}" is not connected: await client.connect("${name}") first.`)
    return session
  }

  getAllActiveSessions(): Record<string, MCPConnection> {
    return Object.fromEntries(Array.from(this.#open, ([name, { connection }]) => [name, connection]))
  }

  async closeSession(name: string): Promise<void> {
    const open = this.#open.get(name)
    this.#open.delete(name)
    await open?.connection.disconnect()
  }

  /** Ends all connections. */
  async close(): Promise<void> {
    await Promise.all([...this.#open.keys()].map((name) => this.closeSession(name)))
  }

  /** @deprecated The same as `connect`. */
  createSession(name: string): Promise<MCPConnection> {
    return this.connect(name)
  }

  /** @deprecated The same as `connectAll`. */
  createAllSessions(): Promise<Record<string, MCPConnection>> {
    return this.connectAll()
  }

  /** @deprecated The same as `close`. */
  closeAllSessions(): Promise<void> {
    return this.close()
  }

  #begin(name: string): Open {
    const config = Object.hasOwn(this.#servers, name) ? this.#servers[name] : undefined
    if (config === undefined)
      throw new TypeError(
        `There is no server "${name}": mcpServers has ${this.getServerNames().join(', ') || 'none'}.`,
      )
    // With an id of its own, since several clients may have the same servers.
    const id = crypto.randomUUID()
    const client = new NativeClient({ id, servers: { [name]: toNative(name, config) } })
    const handler = callbackOf(`mcpServers.${name}`, config) ?? this.#onElicitation
    if (handler !== undefined) client.elicitation.onRequest(name, handler as ElicitationHandler)
    const open = { connection: new ServerConnection(client, name), ready: client.reconnectServer(name) }
    this.#open.set(name, open)
    return open
  }
}

/** @throws TypeError for both names of the option. */
function callbackOf(
  where: string,
  { onElicitation, elicitationCallback }: McpUseClientOptions,
): OnElicitationCallback | undefined {
  if (onElicitation !== undefined && elicitationCallback !== undefined)
    throw new TypeError(
      `${where}: elicitationCallback is another name for onElicitation: give one of the two.`,
    )
  return onElicitation ?? elicitationCallback
}

function toNative(name: string, config: McpUseServerConfig): ServerConfig {
  const where = `mcpServers.${name}`
  if (typeof config !== 'object' || config === null)
    throw new TypeError(`${where} must be an object: { url }, or { command, args }.`)
  callbackOf(where, config)
  const { onElicitation, elicitationCallback, ...rest } = config
  refuseUnknown(where, { onElicitation, elicitationCallback }, OPTIONS)
  if (!('authToken' in rest)) return rest
  const { authToken, ...native } = rest
  if (native.token !== undefined)
    throw new TypeError(`${where}: authToken is another name for token: give one of the two.`)
  return { ...native, ...(authToken !== undefined && { token: authToken }) }
}
