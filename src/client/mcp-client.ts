/** `MCPClient`: several MCP servers behind one object. */
import type { CallToolResult } from '../definition/content.ts'
import type { MCPClientConfig } from './config.ts'
import type { ProgressUpdate } from './connection.ts'
import type { MCPClientError } from './errors.ts'
import type { ElicitationHandler } from './questions.ts'
import {
  type ClientPrompts,
  type ClientResources,
  createClientPrompts,
  createClientResources,
} from './resources.ts'
import { Servers } from './servers.ts'
import { type CallSettings, type ClientTool, callTool, listTools } from './tools.ts'

/**
 * Talks to several MCP servers at once, each in the newest dialect it has: 2026-07-28, Streamable HTTP of 2025, or HTTP+SSE.
 * Connects when a server is first needed, and again when a connection is lost. A server that fails is reported (`onError`,
 * `errors`) and keeps no other from answering; no wait is longer than `timeoutMs`, but for the user's own time to answer a question.
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

  constructor(config: MCPClientConfig<Name>) {
    this.#servers = new Servers(config)
    this.resources = createClientResources(this.#servers)
    this.prompts = createClientPrompts(this.#servers)
  }

  readonly elicitation = {
    /**
     * Answers the questions of a server: forms, and URLs to visit (https, or http on this machine). They are answered for a call
     * that is under way, 8 at once and 32 for a call; what the handler throws is reported, and the server told no more than that it
     * failed. Without a handler the server is told that this client cannot be asked. A connection that was opened before is
     * replaced. Returns what ends it.
     */
    onRequest: (server: Name, handler: ElicitationHandler): (() => void) =>
      this.#servers.of(server).onElicitation(handler),
  }

  readonly progress = {
    /** Hears how far calls of a server's tools are, from the next call on. Returns what ends it. */
    onUpdate: (server: Name, listener: (update: ProgressUpdate) => void): (() => void) => {
      const { progress } = this.#servers.of(server)
      const entry = (update: ProgressUpdate): void => listener(update)
      progress.add(entry)
      return () => progress.delete(entry)
    },
  }

  readonly tools = {
    /** Resolves, once the server will tell, with what ends it. */
    onListChanged: async (server: Name, listener: () => void): Promise<() => void> =>
      this.#servers.of(server).changes.onListChanged('tools', listener),
  }

  /** Why servers failed, by name; a server is gone from here once it has answered again. */
  get errors(): { [name in Name]?: MCPClientError } {
    return this.#servers.errors()
  }

  /** The tools of every server that answers, as `server_tool`. */
  async listTools(): Promise<Record<string, ClientTool>> {
    const tools = (await this.#servers.all(listTools)).flatMap(([, ofServer]) => ofServer)
    return Object.fromEntries(tools.map((tool) => [tool.id, tool]))
  }

  /** The same tools by server, under their own names. */
  listToolsets(): Promise<{ [name in Name]?: Record<string, ClientTool> }> {
    return this.#servers.byName(async (connection) => {
      const tools = await listTools(connection)
      return Object.fromEntries(tools.map((tool) => [tool.definition.name, tool]))
    })
  }

  /**
   * Calls a tool by its own name, and resolves with its whole answer, `isError` or not.
   *
   * @throws MCPClientError where there is no answer of the tool.
   */
  async callTool(
    server: Name,
    name: string,
    args?: { readonly [name: string]: unknown },
    settings?: CallSettings,
  ): Promise<CallToolResult> {
    return callTool(this.#servers.of(server), name, args, settings)
  }

  /**
   * Ends the sign-in that `authProvider` began: call it with the query of the redirect URL, on any client that has the same
   * configuration and storage. Requests succeed from then on.
   */
  async finishAuth(server: Name, callback: URLSearchParams): Promise<void> {
    await this.#servers.of(server).finishAuth(callback)
  }

  /** Ends sessions and connections; what is under way fails with `DISCONNECTED`. The client cannot be used again. */
  async disconnect(): Promise<void> {
    await this.#servers.close()
  }
}
