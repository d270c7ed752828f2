/**
 * `MCPServer`, the main class. Constructing it is cheap; it is compiled and frozen at the first request. It has `fetch`, so as a
 * module's default export it is already a server on platforms that use fetch.
 */
import {
  type CheckedConfig,
  checkConfig,
  type DeploymentInfo,
  type MCPServerConfig,
  serverInfoOf,
  type ToolInfo,
  toAskingOptions,
  warnOfName,
} from './config.ts'
import { compileDefinition, type Definition } from './definition/compile.ts'
import type { McpContext } from './definition/context.ts'
import { warn } from './definition/json-line.ts'
import { part } from './definition/part.ts'
import { type AnyPrompt, checkPrompt } from './definition/prompt.ts'
import { checkResource, type ResourceConfig } from './definition/resource.ts'
import type { Schema } from './definition/schema.ts'
import { createStoreOwner, type StoreOwner } from './definition/store-owner.ts'
import {
  type AnyTool,
  type RegisterToolConfig,
  type ToolCallback,
  toTool,
  withUpdate,
} from './definition/tool.ts'
import { createMemoryBus } from './events/bus.ts'
import { createFeed, type Feed } from './events/feed.ts'
import { createNotifiable, type NotifiableLists } from './events/notifiable.ts'
import { type App, type Endpoint, faultResponse } from './http/app.ts'
import { requireCallers, requireCallersOf, tokenAuthOf } from './http/known-callers.ts'
import { createReportError } from './http/log.ts'
import type { SessionParts } from './protocol/session.ts'
import type { Context as AnyContext } from './request/context.ts'
import type { ToolCallContext } from './request/direct-call.ts'
import type { ExtensionApis, Extensions, RequestOptions } from './request/extension.ts'
import { toFetch } from './request/fetch-call.ts'
import { loadDirectCall } from './request/load-direct-call.ts'
import type { ReportError } from './request/options.ts'
import type { RequestPlatform } from './request/platform.ts'
import { createToolHandle, type ToolHandle } from './request/tool-handle.ts'
import { createServerApp } from './server-app.ts'
import { describeDeployment, describeTool } from './server-info.ts'

/** With the members of its extensions. */
// biome-ignore lint/correctness/noUnusedVariables: as of the class.
export interface MCPServer<Context extends McpContext = McpContext> extends ExtensionApis {}

/**
 * An MCP server that lives for one request.
 *
 * ```ts
 * export default new MCPServer({ id: 'shop', name: 'Shop', version: '1.0.0', tools: { refund } })
 * ```
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the constructor adds the members of its extensions.
export class MCPServer<Context extends McpContext = McpContext> {
  readonly id: string
  readonly name: string
  readonly version: string
  readonly description: string | undefined
  readonly tools: NotifiableLists['tools']
  readonly prompts: NotifiableLists['prompts']
  readonly resources: NotifiableLists['resources']
  readonly #config: CheckedConfig
  readonly #reportError: ReportError
  /** Names what it has in shared places. */
  readonly #owner: StoreOwner
  readonly #tools: Map<string, AnyTool>
  readonly #resources: ResourceConfig[] = []
  readonly #prompts: (readonly [string, AnyPrompt])[] = []
  /** Publishes changes, and notifies streams and sessions of them. */
  readonly #feed: Feed
  readonly #extensions: Extensions | undefined
  #definition: Definition | undefined
  #app: App | undefined
  /** Its definition is replaced by `changeTools`. */
  #options: (RequestOptions & { definition: Definition }) | undefined

  /** @throws TypeError for an invalid configuration, naming the option. */
  constructor(given: MCPServerConfig<Context>) {
    // What `setup` is given has the members of its context: `extendContext` adds them.
    const config = checkConfig(given as MCPServerConfig)
    this.#config = config
    this.#reportError = createReportError(config.onError)
    requireCallersOf(config, config)
    this.#tools = new Map(Object.entries(config.tools ?? {}))
    // Without a configured bus, changes still reach the sessions of this process.
    const bus = config.bus || createMemoryBus()
    this.#owner = createStoreOwner(config.id)
    for (const shared of [bus, config.subscriptions]) shared?.attach?.(this.#owner)
    this.#feed = createFeed(bus, (error) => this.#reportError(error, { bus: true }))
    this.id = config.id
    this.name = config.name
    this.version = config.version
    this.description = config.description
    const lists = createNotifiable(this.#feed.publish)
    this.tools = lists.tools
    this.prompts = lists.prompts
    this.resources = lists.resources
    this.#extensions = config.extensions[0]?.join(config.extensions)
    this.#extensions?.attach({
      owner: this.#owner,
      options: () => this.#requestOptions(),
      telemetry: config.telemetry,
      isSilent: config.log === false,
      tools: this.#tools,
      server: this,
      requireCallers: (method, scopes) => requireCallers(config, 'Method', method, scopes),
    })
  }

  /**
   * Serves one request, with web standards only. A property, so that it can be passed on without its object. Never rejects.
   *
   * @param env The platform's bindings, `ctx.env`. @param executionContext Its `waitUntil` is used if it has one.
   */
  readonly fetch: (request: Request, env?: unknown, executionContext?: unknown) => Promise<Response> =
    toFetch((request, platform) => this.handle(request, platform))

  /** Serves one request with all platform data from an adapter. Never rejects. */
  handle(request: Request, platform: RequestPlatform): Promise<Response> {
    try {
      this.#owner.see(platform.env)
      return (this.#app ?? this.#hosted()).serve(request, platform)
    } catch (error) {
      // The definition cannot be compiled.
      return Promise.resolve(faultResponse(error, request, this.#reportError))
    }
  }

  get leanHandle(): MCPServer['handle'] {
    return MCPServer.prototype.handle
  }

  /** Ends `subscriptions/listen` streams with their result, when a process stops. The server can still serve requests. */
  async close(): Promise<void> {
    this.#extensions?.close()
    this.#app?.engine.close()
    await this.#config.gateway?.close()
  }

  /** For transports with sessions, such as those of `mayfly-mcp/node`: the parts they need. */
  getSessionParts(): SessionParts & { readonly endpoint: Endpoint } {
    const { engine, endpoint } = this.#hosted()
    return {
      engine,
      endpoint,
      join: this.#feed.join,
      definition: this.#compile(),
      onFault: (error) => this.#reportError(error, { session: true }),
    }
  }

  /**
   * Adds a tool. Its handle can change it until the first request; after that, only `setup` can, for one request.
   *
   * @throws TypeError after the first request, and for a name that is taken.
   */
  registerTool<Input extends Schema | undefined = undefined, Output extends Schema | undefined = undefined>(
    name: string,
    config: RegisterToolConfig<Input, Output>,
    callback: ToolCallback<Input, Output, Context>,
  ): ToolHandle {
    const tools = this.#changeable('registerTool')
    if (tools.has(name)) throw new TypeError(`Tool "${name}" is already defined.`)
    requireCallers(this.#config, 'Tool', name, config.scopes)
    tools.set(name, toTool(name, config, callback))
    warnOfName(name)
    return createToolHandle(name, {
      isEnabled: () => tools.has(name) && tools.get(name)!.enabled !== false,
      edit: (update) => {
        const tool = this.#changeable('update').get(name)
        if (tool === undefined) throw new TypeError(`Tool "${name}" was removed.`)
        requireCallers(this.#config, 'Tool', name, update.scopes)
        tools.set(name, withUpdate(tool, update))
      },
      remove: () => void this.#changeable('remove').delete(name),
    })
  }

  /** Adds a resource or a resource template. @throws TypeError after the first request. */
  registerResource(resource: ResourceConfig): void {
    this.#changeable('registerResource')
    if (typeof resource !== 'object')
      throw new TypeError('registerResource takes one object: { uri, name, read }.')
    checkResource('registerResource', resource)
    requireCallersOf(this.#config, { resources: [resource] })
    this.#resources.push(resource)
  }

  /** Adds a prompt. @throws TypeError after the first request. */
  registerPrompt(name: string, prompt: AnyPrompt): void {
    this.#changeable('registerPrompt')
    if (typeof prompt?.get !== 'function')
      throw new TypeError('registerPrompt takes a name and an object: { argsSchema, get }.')
    checkPrompt(name, prompt)
    requireCallers(this.#config, 'Prompt', name, prompt.scopes)
    this.#prompts.push([name, prompt])
  }

  /**
   * The parts of its configuration that decide which features work on a deployment, for tools such as `mayfly doctor`. With the `env` of
   * that deployment, also what `auth` lacks in it.
   */
  getDeploymentInfo(env?: unknown): DeploymentInfo {
    return describeDeployment(this.#config, this.#extensions, env)
  }

  /**
   * Describes every tool, including those of agents and workflows. Compiles the whole definition, while requests compile only parts.
   *
   * @throws TypeError naming an invalid tool, resource or prompt.
   */
  getToolListInfo(): { tools: ToolInfo[] } {
    const { tools, prompts } = this.#compile()
    for (const { json: _ } of prompts.declared.values());
    return { tools: [...tools.keys()].map((name) => this.getToolInfo(name)!) }
  }

  /** Describes one tool; undefined if no tool has that name. */
  getToolInfo(name: string): ToolInfo | undefined {
    const compiled = this.#compile().tools.get(name)
    return compiled && describeTool(compiled, this.#config, { isExplicit: this.#tools.has(name) })
  }

  /**
   * Runs a tool outside of a request and returns its output.
   *
   * @throws Error for an unknown tool, for invalid arguments and results, and any error of the tool.
   */
  async executeTool(name: string, input: unknown, context?: ToolCallContext): Promise<unknown> {
    const tool = this.#compile().tools.get(name)
    if (tool === undefined) throw new Error(`Unknown tool: ${name}`)
    const { executeCompiled } = await part(loadDirectCall)
    return executeCompiled(tool, input, context, this.#reportError, this.extendContext)
  }

  /** Adds what tools written for another framework read to each context: for the servers of other entry points. */
  protected get extendContext(): ((context: AnyContext) => void) | undefined {
    return undefined
  }

  #compile(): Definition {
    if (this.#definition !== undefined) return this.#definition
    const { agents = {}, workflows = {}, resources, prompts, instructions, setup, gateway } = this.#config
    const definition = compileDefinition({
      serverInfo: serverInfoOf(this.#config),
      instructions,
      tools: this.#tools,
      agents,
      workflows,
      resources,
      registeredResources: this.#resources,
      prompts,
      registeredPrompts: this.#prompts,
      hasOtherScopes: gateway?.hasScopes || this.#extensions?.hasScopes,
      warn,
    })
    // What servers behind this one have is not known yet.
    if (gateway === undefined) tokenAuthOf(this.#config)?.checkNames?.(definition, setup && warn)
    this.#definition = definition
    return definition
  }

  #hosted(): App {
    this.#app ??= createServerApp(this.#config, this.#requestOptions(), this.#feed, this.#owner)
    return this.#app
  }

  #requestOptions(): RequestOptions {
    const { bus, pageSize = 1000, cache = {}, setup, gateway, use } = this.#config
    if (this.#options !== undefined) return this.#options
    this.#options = {
      definition: this.#compile(),
      bus,
      publish: this.#feed.publish,
      pageSize,
      setup,
      cache: { ttlMs: cache.ttlMs ?? 60_000, scope: cache.scope },
      reportError: this.#reportError,
      use: use?.length ? use : undefined,
      asking: toAskingOptions(this.#config, this.#owner, this.#reportError),
      extensions: this.#extensions,
      gateway,
      extendContext: this.extendContext,
    }
    return this.#options
  }

  /** Changes the tools for all requests that follow, also after the first: for the servers of other entry points. */
  protected changeTools(change: (tools: Map<string, AnyTool>) => void): void {
    change(this.#tools)
    this.#definition = undefined
    if (this.#options !== undefined) this.#options.definition = this.#compile()
  }

  #changeable(method: string): Map<string, AnyTool> {
    if (this.#options === undefined) {
      // What only describes the server, such as `getToolListInfo`, has compiled it.
      this.#definition = undefined
      return this.#tools
    }
    throw new TypeError(
      `${method} was called after the server was compiled: call it before the first request, or change a single request in setup.`,
    )
  }
}
