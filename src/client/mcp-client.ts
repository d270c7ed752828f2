/** `MCPClient`: several MCP servers behind one object. */
import type { CallToolResult } from '../definition/content.ts'
import { refuseUnknown } from '../definition/unknown-option.ts'
import { type ClientEvents, createClientEvents } from './client-events.ts'
import { type ClientTasks, createClientTasks } from './client-tasks.ts'
import type { MCPClientConfig } from './config.ts'
import type { ProgressUpdate } from './connection.ts'
import { listDefinitions, type ToolCatalog, type ToolDefinition, toolOf } from './definitions.ts'
import type { MCPClientError } from './errors.ts'
import { askAllServers, type DiscoveryErrors, type DiscoveryOptions } from './lists-with-errors.ts'
import type { ElicitationHandler } from './questions.ts'
import {
  type ClientPrompts,
  type ClientResources,
  createClientPrompts,
  createClientResources,
} from './resources.ts'
import { Servers } from './servers.ts'
import {
  CALL_SETTINGS,
  type CallOutcome,
  type CallSettings,
  type ClientTool,
  callTool,
  type HandleSettings,
  listTools,
  startTool,
} from './tools.ts'

/** `client.elicitation`. */
export interface ClientQuestions<Name extends string> {
  /**
   * Answers the server's questions: forms, and URLs to visit (https, or http on this machine). Only questions of running calls are
   * answered, at most 8 at once and 32 per call. An error of the handler is reported; the server only learns that it failed. Without
   * a handler the server is told that this client cannot be asked. A connection that is already open is replaced. Returns a function
   * that removes the handler.
   */
  onRequest(server: Name, handler: ElicitationHandler): () => void
}

/** `client.progress`. */
export interface ClientProgress<Name extends string> {
  /** Receives the progress of calls to a server's tools, from the next call on. Returns a function that ends this. */
  onUpdate(server: Name, listener: (update: ProgressUpdate) => void): () => void
}

/** `client.tools`. */
export interface ClientToolChanges<Name extends string> {
  /** Resolves once the subscription is active, with a function that ends it. */
  onListChanged(server: Name, listener: () => void): Promise<() => void>
}

/**
 * Talks to several MCP servers at once, each in the newest protocol it supports: 2026-07-28, Streamable HTTP of 2025, or HTTP+SSE.
 * Connects when a server is first used, and again when a connection is lost. A server that fails is reported (`onError`, `errors`) and
 * does not affect the others. Every wait ends after `timeoutMs`, that for a task after `maxTaskMs`, except while the user answers a
 * question.
 *
 * ```ts
 * const client = new MCPClient({ servers: { shop: { url: 'https://shop.example/mcp', token: env.SHOP_TOKEN } } })
 * const tools = await client.listTools()
 * await tools.shop_refund?.execute({ orderId: '42' })
 * await client.disconnect()
 * ```
 *
 * @throws TypeError for a configuration that could never work, naming the option.
 * @throws MCPClientError `DUPLICATE_CLIENT` while another client has the same `servers` and `id`.
 */
export class MCPClient<Name extends string = string> {
  readonly #servers: Servers<Name>
  readonly resources: ClientResources<Name>
  readonly prompts: ClientPrompts<Name>
  readonly tasks: ClientTasks<Name>
  readonly events: ClientEvents<Name>

  constructor(config: MCPClientConfig<Name>) {
    this.#servers = new Servers(config)
    this.resources = createClientResources(this.#servers)
    this.prompts = createClientPrompts(this.#servers)
    this.tasks = createClientTasks(this.#servers)
    this.events = createClientEvents(this.#servers)
  }

  readonly elicitation: ClientQuestions<Name> = {
    onRequest: (server, handler) => this.#servers.of(server).onElicitation(handler),
  }

  readonly progress: ClientProgress<Name> = {
    onUpdate: (server, listener) => {
      const { progress } = this.#servers.of(server)
      const entry = (update: ProgressUpdate): void => listener(update)
      progress.add(entry)
      return () => progress.delete(entry)
    },
  }

  readonly tools: ClientToolChanges<Name> = {
    onListChanged: async (server, listener) =>
      this.#servers.of(server).changes.onListChanged('tools', listener),
  }

  /** The last error of each server, by name; removed once the server has answered again. */
  get errors(): { [name in Name]?: MCPClientError } {
    return this.#servers.errors()
  }

  /** The tools of every server that answers, as `server_tool`. */
  async listTools(): Promise<Record<string, ClientTool>> {
    const lists = await this.#servers.all((connection) => listTools(connection))
    return byId(lists.flatMap(([, ofServer]) => ofServer))
  }

  /** The same tools by server, under their own names. */
  listToolsets(): Promise<{ [name in Name]?: Record<string, ClientTool> }> {
    return this.#servers.byName(async (connection) => byOwnName(await listTools(connection)))
  }

  /** `listTools()` with the errors of servers that are missing; `onError` is not called. */
  async listToolsWithErrors(
    options?: DiscoveryOptions,
  ): Promise<{ tools: Record<string, ClientTool> } & DiscoveryErrors<Name>> {
    const { byName, failures } = await askAllServers(this.#servers, listTools, options)
    return {
      tools: byId(Object.values<ClientTool[] | undefined>(byName).flatMap((tools) => tools ?? [])),
      ...failures,
    }
  }

  /** `listToolsets()` with the errors of servers that are missing; `onError` is not called. */
  async listToolsetsWithErrors(
    options?: DiscoveryOptions,
  ): Promise<{ toolsets: { [name in Name]?: Record<string, ClientTool> } } & DiscoveryErrors<Name>> {
    const ask = async (...asked: Parameters<typeof listTools>) => byOwnName(await listTools(...asked))
    const { byName, failures } = await askAllServers(this.#servers, ask, options)
    return { toolsets: byName, ...failures }
  }

  /** The tools of every server that answers, as JSON that can be stored; `toolsFromDefinitions` makes them callable again. */
  listToolDefinitions(): Promise<ToolCatalog> {
    return this.#servers.byName((connection) => listDefinitions(connection)) as Promise<ToolCatalog>
  }

  /** `listToolDefinitions()` with the errors of servers that are missing; `onError` is not called. */
  async listToolDefinitionsWithErrors(
    options?: DiscoveryOptions,
  ): Promise<{ definitions: ToolCatalog } & DiscoveryErrors<Name>> {
    const { byName, failures } = await askAllServers(this.#servers, listDefinitions, options)
    return { definitions: byName as ToolCatalog, ...failures }
  }

  /**
   * Creates a tool from its stored definition. Its server is connected when the tool is called.
   *
   * @throws TypeError for a server that is not in `servers`, and for an invalid definition.
   */
  async toolFromDefinition(from: { serverName: Name; definition: ToolDefinition }): Promise<ClientTool> {
    refuseUnknown('toolFromDefinition', from, { serverName: 'string', definition: 'object' })
    return toolOf(this.#servers.of(from.serverName), from.definition)
  }

  /** `listTools()` from stored definitions, without requests. Servers that are no longer in `servers` are left out. */
  async toolsFromDefinitions(from: { definitions: ToolCatalog }): Promise<Record<string, ClientTool>> {
    refuseUnknown('toolsFromDefinitions', from, { definitions: 'object' })
    const tools = Object.entries(from.definitions).flatMap(([name, ofServer]) => {
      if (!this.#servers.has(name)) return []
      const connection = this.#servers.of(name as Name)
      return Object.values(ofServer).map((definition) => toolOf(connection, definition))
    })
    return byId(tools)
  }

  /** The instructions for models of each server that was connected. Untrusted text. */
  getServerInstructions(): { [name in Name]: string | undefined } {
    return this.#servers.map(({ peer }) => peer?.instructions)
  }

  /** The protocol version of each connected server. */
  getServerProtocolVersions(): { [name in Name]: string | undefined } {
    return this.#servers.map(({ peer }) => peer?.protocolVersion)
  }

  /** Replaces the connection to a server, also if it still works. */
  async reconnectServer(server: Name): Promise<void> {
    await this.#servers.of(server).reconnect()
  }

  /**
   * Calls a tool by its own name, and resolves with its complete result, also if it is `isError`. If the server makes a task of the
   * call, waits for its end; with `task: 'handle'`, resolves with the task instead, and `client.tasks` has the rest.
   *
   * @throws MCPClientError if the tool gives no answer.
   */
  async callTool(
    server: Name,
    name: string,
    args: { readonly [name: string]: unknown } | undefined,
    settings: HandleSettings,
  ): Promise<CallOutcome>
  async callTool(
    server: Name,
    name: string,
    args?: { readonly [name: string]: unknown },
    settings?: CallSettings,
  ): Promise<CallToolResult>
  async callTool(
    server: Name,
    name: string,
    args?: { readonly [name: string]: unknown },
    settings?: CallSettings & Partial<HandleSettings>,
  ): Promise<CallToolResult | CallOutcome> {
    refuseUnknown('The settings of callTool', settings, CALL_SETTINGS)
    const call = settings?.task === 'handle' ? startTool : callTool
    return call(this.#servers.of(server), name, args, settings)
  }

  /**
   * Finishes the sign-in that `authProvider` began. Call it with the query of the redirect URL, on any client with the same
   * configuration and storage. After that, requests succeed.
   *
   * @throws MCPClientError, also for a redirect that belongs to no sign-in of this storage.
   */
  async finishAuth(server: Name, callback: URLSearchParams): Promise<void> {
    await this.#servers.of(server).finishAuth(callback)
  }

  /** Ends sessions and connections; running requests fail with `DISCONNECTED`. The client cannot be used again. */
  async disconnect(): Promise<void> {
    await this.#servers.close()
  }
}

const byId = (tools: readonly ClientTool[]): Record<string, ClientTool> =>
  Object.fromEntries(tools.map((tool) => [tool.id, tool]))

const byOwnName = (tools: readonly ClientTool[]): Record<string, ClientTool> =>
  Object.fromEntries(tools.map((tool) => [tool.definition.name, tool]))
