/**
 * `MCPServer`: what a user writes. Constructing it is cheap; it is compiled and frozen at the first request. It has
 * `fetch`, so as a module's default export it already is a server wherever the platform speaks fetch.
 */
import {
  checkConfig,
  createSealFor,
  type DeploymentInfo,
  type MCPServerConfig,
  type ServerDetail,
  type ServerInfo,
  serverInfoOf,
  type ToolInfo,
} from './config.ts'
import { compileDefinition, type Definition } from './definition/compile.ts'
import type { AuthInfo } from './definition/context.ts'
import type { AnyPrompt } from './definition/prompt.ts'
import { ErrorCode } from './definition/protocol-error.ts'
import type { ResourceConfig } from './definition/resource.ts'
import type { Schema } from './definition/schema.ts'
import { type AnyTool, type RegisterToolConfig, type ToolCallback, toTool } from './definition/tool.ts'
import { type Bus, type ChangeEvent, createMemoryBus } from './events/bus.ts'
import { createFeed, type Feed } from './events/feed.ts'
import { BUS_TIMEOUT_MS, within } from './events/outage.ts'
import { type App, createApp, type Endpoint } from './http/app.ts'
import { forEnv, toAppOptions, toCallLimits } from './http/hosting.ts'
import { createReportError } from './http/log.ts'
import { toPageModel } from './http/page-model.ts'
import { createEngine } from './protocol/engine.ts'
import { createEras } from './protocol/eras.ts'
import { jsonResponse } from './protocol/exchange.ts'
import { errorMessage } from './protocol/json-rpc.ts'
import type { SessionParts } from './protocol/session.ts'
import { executeDirectly } from './request/execute.ts'
import type { ReportError } from './request/options.ts'
import type { RequestPlatform } from './request/platform.ts'

interface Notifiable {
  /** Tells clients that listen that the list has changed. Without a bus nobody can be told. Never rejects: faults are reported. */
  notifyListChanged(): Promise<void>
}

/**
 * An MCP server that lives for one request.
 *
 * ```ts
 * export default new MCPServer({ id: 'shop', name: 'Shop', version: '1.0.0', tools: { refund } })
 * ```
 */
export class MCPServer {
  readonly id: string
  readonly name: string
  readonly version: string
  readonly tools: Notifiable
  readonly prompts: Notifiable
  readonly resources: Notifiable & {
    /** Tells clients that subscribed to `uri` that it has changed. */
    notifyUpdated(change: { uri: string }): Promise<void>
  }
  readonly #config: MCPServerConfig
  readonly #reportError: ReportError
  readonly #tools: Map<string, AnyTool>
  readonly #resources: ResourceConfig[] = []
  readonly #prompts: (readonly [string, AnyPrompt])[] = []
  readonly #bus: Bus
  /** Tells sessions of changes. */
  readonly #feed: Feed
  #definition: Definition | undefined
  #app: App | undefined

  /** @throws TypeError for a configuration that cannot be served, naming the option. */
  constructor(config: MCPServerConfig) {
    checkConfig(config)
    this.#config = config
    this.#reportError = createReportError(config.onError)
    this.#tools = new Map(Object.entries(config.tools ?? {}))
    // Without a bus, sessions of this very process can still be told.
    this.#bus = config.bus ?? createMemoryBus()
    this.#feed = createFeed(this.#bus, (error) => this.#reportError(error, { bus: true }))
    this.id = config.id
    this.name = config.name
    this.version = config.version
    const publish = (event: ChangeEvent) => this.#publish(event)
    this.tools = { notifyListChanged: () => publish({ type: 'toolsListChanged' }) }
    this.prompts = { notifyListChanged: () => publish({ type: 'promptsListChanged' }) }
    this.resources = {
      notifyListChanged: () => publish({ type: 'resourcesListChanged' }),
      notifyUpdated: ({ uri }) => publish({ type: 'resourceUpdated', uri }),
    }
  }

  /**
   * Serves one request: the web-standard face. A property, so that it can be passed on by itself.
   *
   * @param env the platform's bindings, `ctx.env`.
   * @param executionContext its `waitUntil` is used where it has one.
   */
  readonly fetch = (request: Request, env?: unknown, executionContext?: unknown): Promise<Response> => {
    const context = executionContext as { waitUntil?: (promise: Promise<unknown>) => void } | undefined
    const hasWaitUntil = typeof context?.waitUntil === 'function'
    return this.handle(request, {
      env,
      ...(hasWaitUntil && { waitUntil: (promise: Promise<unknown>) => context.waitUntil!(promise) }),
    })
  }

  /** Serves one request with all that an adapter knows of its platform. Never rejects. */
  async handle(request: Request, platform: RequestPlatform): Promise<Response> {
    try {
      return await this.#hosted().serve(request, platform)
    } catch (error) {
      this.#reportError(error, { url: new URL(request.url).pathname })
      return jsonResponse(
        errorMessage(undefined, { code: ErrorCode.internal, message: 'Internal error' }),
        500,
        {},
      )
    }
  }

  /** Ends `subscriptions/listen` streams with their result, for a process that stops. It can serve on. */
  async close(): Promise<void> {
    this.#app?.engine.close()
  }

  /** For transports that keep connections, such as those of `mayfly-mcp/node`: what they put between a client and this server. */
  getSessionParts(): SessionParts & { readonly endpoint: Endpoint } {
    const { engine, endpoint } = this.#hosted()
    return {
      engine,
      endpoint,
      onChange: this.#feed,
      onFault: (error) => this.#reportError(error, { session: true }),
    }
  }

  /** Adds a tool. @throws TypeError once a request was served, or where the name is taken. */
  registerTool<Input extends Schema | undefined = undefined, Output extends Schema | undefined = undefined>(
    name: string,
    config: RegisterToolConfig<Input, Output>,
    callback: ToolCallback<Input, Output>,
  ): void {
    this.#refuseFrozen('registerTool')
    if (this.#tools.has(name)) throw new TypeError(`Tool "${name}" is defined already.`)
    this.#tools.set(name, toTool(name, config, callback))
  }

  /** Adds a resource or a resource template. @throws TypeError once a request was served. */
  registerResource(resource: ResourceConfig): void {
    this.#refuseFrozen('registerResource')
    this.#resources.push(resource)
  }

  /** Adds a prompt. @throws TypeError once a request was served. */
  registerPrompt(name: string, prompt: AnyPrompt): void {
    this.#refuseFrozen('registerPrompt')
    this.#prompts.push([name, prompt])
  }

  /** This server as the MCP registry names it. */
  getServerInfo(): ServerInfo {
    const { id, name, description, repository, version, releaseDate, isLatest = true } = this.#config
    return {
      id,
      name,
      ...(description !== undefined && { description }),
      ...(repository !== undefined && { repository }),
      version_detail: {
        version,
        ...(releaseDate !== undefined && { release_date: releaseDate }),
        is_latest: isLatest,
      },
    }
  }

  /** This server as the MCP registry describes it, with its packages and remotes. */
  getServerDetail(): ServerDetail {
    const { packageCanonical, packages, remotes } = this.#config
    return {
      ...this.getServerInfo(),
      ...(packageCanonical !== undefined && { package_canonical: packageCanonical }),
      ...(packages !== undefined && { packages }),
      ...(remotes !== undefined && { remotes }),
    }
  }

  /** What it is configured with that decides what works on a deployment: for tools such as `mayfly doctor`. */
  getDeploymentInfo(): DeploymentInfo {
    const { bus, rendezvous, secret, legacy = 'explain' } = this.#config
    return {
      hasBus: bus !== undefined,
      hasRendezvous: rendezvous !== undefined,
      hasSecret: secret !== undefined,
      legacy,
    }
  }

  /** Every tool, those of agents and workflows included. */
  getToolListInfo(): { tools: ToolInfo[] } {
    return { tools: [...this.#compile().tools.keys()].map((name) => this.getToolInfo(name)!) }
  }

  /** One tool, or undefined where there is none of that name. */
  getToolInfo(name: string): ToolInfo | undefined {
    const compiled = this.#compile().tools.get(name)
    if (compiled === undefined) return undefined
    const { description, inputSchema, outputSchema } = compiled.tool
    const { agents = {}, workflows = {} } = this.#config
    const isExplicit = this.#tools.has(name)
    const isAgent = !isExplicit && name.startsWith('ask_') && Object.hasOwn(agents, name.slice(4))
    const isWorkflow = !isExplicit && name.startsWith('run_') && Object.hasOwn(workflows, name.slice(4))
    return {
      id: compiled.source.id ?? name,
      name,
      ...(description !== undefined && { description }),
      inputSchema,
      ...(outputSchema !== undefined && { outputSchema }),
      toolType: isAgent ? 'agent' : isWorkflow ? 'workflow' : 'tool',
    }
  }

  /**
   * Runs a tool outside of any request and returns what it returned.
   *
   * @throws Error for an unknown tool or invalid arguments, and whatever the tool throws.
   */
  executeTool(
    name: string,
    input: unknown,
    context: { env?: unknown; auth?: AuthInfo; signal?: AbortSignal } = {},
  ): Promise<unknown> {
    return executeDirectly(this.#compile(), name, input, context, this.#reportError)
  }

  #compile(): Definition {
    const { agents = {}, workflows = {}, resources, prompts, instructions } = this.#config
    this.#definition ??= compileDefinition({
      serverInfo: serverInfoOf(this.#config),
      instructions,
      tools: this.#tools,
      agents,
      workflows,
      resources,
      registeredResources: this.#resources,
      prompts,
      registeredPrompts: this.#prompts,
      warn: (message) => console.warn(JSON.stringify({ level: 'warn', message })),
    })
    return this.#definition
  }

  #hosted(): App {
    this.#app ??= this.#host()
    return this.#app
  }

  #host(): App {
    const { bus, pageSize = 1000, cache = {}, setup, rendezvous } = this.#config
    const definition = this.#compile()
    const reportError = this.#reportError
    const limits = toCallLimits(this.#config)
    const answerer = createEras({
      definition,
      bus,
      publish: (event) => this.#publish(event),
      pageSize,
      setup,
      cache: { ttlMs: cache.ttlMs ?? 60_000, scope: cache.scope },
      reportError,
      asking: {
        sealFor: createSealFor(this.#config),
        rendezvousFor: forEnv(rendezvous),
        stateTtlMs: this.#config.stateTtlMs ?? 600_000,
        singleUse: this.#config.singleUse,
        legacyPolicy: this.#config.legacy ?? 'explain',
        askTimeoutMs: this.#config.askTimeoutMs ?? 120_000,
      },
      ...limits,
    })
    const { telemetry } = this.#config
    return createApp(
      { page: (endpoint, access) => toPageModel(definition, endpoint, access) },
      (checkpoint) => createEngine(answerer, { ...limits, checkpoint, reportError, telemetry }),
      toAppOptions(this.#config, reportError),
    )
  }

  /** A bus that fails or does not answer is reported: whoever changed something has done so all the same. */
  async #publish(event: ChangeEvent): Promise<void> {
    try {
      await within(this.#bus.publish(event), BUS_TIMEOUT_MS, 'bus')
    } catch (error) {
      this.#reportError(error, { bus: true })
    }
  }

  #refuseFrozen(method: string): void {
    if (this.#definition === undefined) return
    throw new TypeError(
      `${method} was called after the server was compiled: call it before the first request, or change one request in setup.`,
    )
  }
}
