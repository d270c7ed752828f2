/**
 * `MCPServer`: what a user writes. Constructing it is cheap; it is compiled and frozen at the first request. It has
 * `fetch`, so as a module's default export it already is a server wherever the platform speaks fetch.
 */
import { type AgentLike, agentTool, type WorkflowLike, workflowTool } from './definition/agent.ts'
import type { LegacyPolicy } from './definition/ask.ts'
import { compileDefinition, type Definition } from './definition/compile.ts'
import type { Icon } from './definition/content.ts'
import type { AuthInfo, Env, Implementation } from './definition/context.ts'
import type { AnyPrompt, PromptsConfig } from './definition/prompt.ts'
import { ErrorCode } from './definition/protocol-error.ts'
import type { ResourceConfig, ResourcesConfig } from './definition/resource.ts'
import type { JsonSchema, Schema } from './definition/schema.ts'
import { type AnyTool, type RegisterToolConfig, type ToolCallback, toTool } from './definition/tool.ts'
import type { Bus, ChangeEvent } from './events/bus.ts'
import { type App, createApp } from './http/app.ts'
import { createReportError, type Log, logToConsole } from './http/log.ts'
import type { Rendezvous } from './interaction/rendezvous.ts'
import { createSeal, type Seal } from './interaction/seal.ts'
import type { SingleUseStore } from './interaction/state.ts'
import { createEngine } from './protocol/engine.ts'
import { jsonResponse } from './protocol/exchange.ts'
import { errorMessage } from './protocol/json-rpc.ts'
import { executeDirectly } from './request/execute.ts'
import type { ReportError } from './request/options.ts'
import type { RequestPlatform } from './request/platform.ts'
import type { RequestServer } from './request/request-server.ts'

/** How this server meets HTTP. */
export interface HttpConfig {
  /** Hosts to serve, `example.com` or `example.com:8443`. Default: `MAYFLY_ALLOWED_HOSTS`, else any (local ones on a loopback listener). */
  allowedHosts?: readonly string[]
  /** Origins to serve, `https://app.example.com`. Default: any on a public host, local ones on a local host. */
  allowedOrigins?: readonly string[]
  /** The URL of the MCP endpoint as clients see it. Default: that of the request. */
  publicUrl?: string
  /** Bytes. Default 4 194 304. */
  maxBodyBytes?: number
  /** Levels of JSON nesting. Default 64. */
  maxJsonDepth?: number
  /** Milliseconds after which an unanswered request becomes a stream with keep-alives. Default 3000. */
  streamAfterMs?: number
  /** Milliseconds between keep-alive comments: some platforms notice only then that a client has gone. Default 5000. */
  keepAliveMs?: number
  /** Milliseconds before the platform's deadline at which a call is ended. Default 1000. */
  deadlineMarginMs?: number
  /** `subscriptions/listen` streams open at once in one process or isolate. Default 1024. */
  maxListenStreams?: number
  /** Milliseconds after which a `subscriptions/listen` stream is ended gracefully; clients open the next. Default 300 000. */
  maxListenMs?: number
  /** `GET /` shows what the server is. Default true. */
  page?: boolean
  /** `GET /healthz` answers. Default true. */
  health?: boolean
}

export interface MCPServerConfig {
  id: string
  name: string
  version: string
  title?: string
  description?: string
  /** For the model: how to use this server. */
  instructions?: string
  websiteUrl?: string
  icons?: Icon[]
  tools?: { readonly [name: string]: AnyTool }
  /** Each becomes the tool `ask_<key>`. */
  agents?: { readonly [key: string]: AgentLike }
  /** Each becomes the tool `run_<key>`. */
  workflows?: { readonly [key: string]: WorkflowLike }
  resources?: ResourcesConfig
  prompts?: PromptsConfig
  /** Runs for each request before it is dispatched, on that request's server only: multi-tenancy is this function. */
  setup?: (server: RequestServer, request: Request) => unknown
  /** Carries change notifications. Without one none are advertised. */
  bus?: Bus
  /** Items a page of every list. Default 1000. */
  pageSize?: number
  /** Cache hints for lists and discovery: `ttlMs` (milliseconds, default 60 000), `scope` (default: `public` until a list depends on the caller). */
  cache?: { ttlMs?: number; scope?: 'public' | 'private' }
  /**
   * Seals what a call must remember while its user is asked: 32 or more random characters. Several for rotation: the first
   * one seals, all open. Default: `MAYFLY_SECRET` from the platform's environment, several separated by commas.
   */
  secret?: string | readonly string[]
  /** What happens when a legacy client must be asked. Default `explain`. */
  legacy?: LegacyPolicy
  /** Where a legacy client's answers meet the calls that wait for them, for the policy `rendezvous`. */
  rendezvous?: Rendezvous | ((env: Env) => Rendezvous | undefined)
  /** Milliseconds a call may wait for its answers between rounds. Default 600 000. */
  stateTtlMs?: number
  /** Milliseconds to wait for an answer at the rendezvous. Default 120 000. */
  askTimeoutMs?: number
  /** Makes each sealed state good for one use; it must be shared by all isolates. */
  singleUse?: SingleUseStore
  http?: HttpConfig
  /** One entry per request. Default: a JSON line on the console; `false` for none. */
  log?: Log | false
  /** Told of every fault of the server; cannot change the answer. */
  onError?: ReportError
  repository?: { url: string; source?: string; id?: string }
  /** ISO 8601. */
  releaseDate?: string
  isLatest?: boolean
  packageCanonical?: string
  packages?: readonly object[]
  remotes?: readonly object[]
}

/** An entry of the MCP registry, in short. */
export interface ServerInfo {
  id: string
  name: string
  description?: string
  repository?: { url: string; source?: string; id?: string }
  version_detail: { version: string; release_date?: string; is_latest: boolean }
}

export interface ServerDetail extends ServerInfo {
  package_canonical?: string
  packages?: readonly object[]
  remotes?: readonly object[]
}

export interface ToolInfo {
  id: string
  name: string
  description?: string
  inputSchema: JsonSchema
  outputSchema?: JsonSchema
  toolType: 'tool' | 'agent' | 'workflow'
}

interface Notifiable {
  /** Tells clients that listen that the list has changed. Without a bus nobody can be told. */
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
  #definition: Definition | undefined
  #app: App | undefined

  /** @throws TypeError for a configuration that cannot be served, naming the option. */
  constructor(config: MCPServerConfig) {
    checkConfig(config)
    this.#config = config
    this.#reportError = createReportError(config.onError)
    this.#tools = new Map(Object.entries(config.tools ?? {}))
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
      this.#app ??= this.#createApp()
      return await this.#app(request, platform)
    } catch (error) {
      this.#reportError(error, { url: new URL(request.url).pathname })
      return jsonResponse(
        errorMessage(undefined, { code: ErrorCode.internal, message: 'Internal error' }),
        500,
        {},
      )
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

  #createApp(): App {
    const {
      http = {},
      bus,
      pageSize = 1000,
      cache = {},
      setup,
      log = logToConsole,
      rendezvous,
    } = this.#config
    const definition = this.#compile()
    const reportError = this.#reportError
    const engine = createEngine({
      definition,
      bus,
      pageSize,
      setup,
      cache: { ttlMs: cache.ttlMs ?? 60_000, scope: cache.scope },
      reportError,
      asking: {
        sealFor: createSealFor(this.#config),
        rendezvousFor: (env) =>
          typeof rendezvous === 'function' ? rendezvous((env ?? {}) as Env) : rendezvous,
        stateTtlMs: this.#config.stateTtlMs ?? 600_000,
        singleUse: this.#config.singleUse,
        legacyPolicy: this.#config.legacy ?? 'explain',
        askTimeoutMs: this.#config.askTimeoutMs ?? 120_000,
      },
      maxJsonDepth: http.maxJsonDepth ?? 64,
      streamAfterMs: http.streamAfterMs ?? 3000,
      keepAliveMs: http.keepAliveMs ?? 5000,
      deadlineMarginMs: http.deadlineMarginMs ?? 1000,
      maxListenStreams: http.maxListenStreams ?? 1024,
      maxListenMs: http.maxListenMs ?? 300_000,
    })
    return createApp(definition, engine, {
      allowedHosts: http.allowedHosts?.map((host) => host.toLowerCase()),
      allowedOrigins: http.allowedOrigins,
      maxBodyBytes: http.maxBodyBytes ?? 4_194_304,
      publicUrl: http.publicUrl,
      page: http.page ?? true,
      health: http.health ?? true,
      log: log === false ? undefined : log,
      reportError,
    })
  }

  async #publish(event: ChangeEvent): Promise<void> {
    await this.#config.bus?.publish(event)
  }

  #refuseFrozen(method: string): void {
    if (this.#definition === undefined) return
    throw new TypeError(
      `${method} was called after the server was compiled: call it before the first request, or change one request in setup.`,
    )
  }
}

function serverInfoOf({
  name,
  version,
  title,
  description,
  websiteUrl,
  icons,
}: MCPServerConfig): Implementation {
  return {
    name,
    version,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(websiteUrl !== undefined && { websiteUrl }),
    ...(icons !== undefined && { icons }),
  }
}

/** Finds the seal of a deployment: its secret may only be known from the environment a request comes with. */
function createSealFor({ secret, id }: MCPServerConfig): (env: unknown) => Seal | undefined {
  if (secret !== undefined) {
    const seal = createSeal(typeof secret === 'string' ? [secret] : secret, id)
    return () => seal
  }
  let known: { readonly text: string; readonly seal: Seal } | undefined
  return (env) => {
    const text = (env as { MAYFLY_SECRET?: unknown } | null | undefined)?.MAYFLY_SECRET
    if (typeof text !== 'string' || text === '') return undefined
    if (known?.text !== text) known = { text, seal: createSeal(text.split(/\s*,\s*/), id) }
    return known.seal
  }
}

/** What can be known to be wrong without compiling a schema. */
function checkConfig(config: MCPServerConfig): void {
  for (const option of ['id', 'name', 'version'] as const) {
    if (typeof config?.[option] !== 'string' || config[option] === '') {
      throw new TypeError(`MCPServer needs "${option}": a string that is not empty.`)
    }
  }
  for (const [name, tool] of Object.entries(config.tools ?? {})) {
    if (typeof tool?.execute !== 'function') throw new TypeError(`Tool "${name}" has no execute function.`)
  }
  for (const [key, agent] of Object.entries(config.agents ?? {})) agentTool(key, agent)
  for (const [key, workflow] of Object.entries(config.workflows ?? {})) workflowTool(key, workflow)
  const { pageSize, cache, http = {} } = config
  if (pageSize !== undefined && !(Number.isInteger(pageSize) && pageSize > 0)) {
    throw new TypeError('"pageSize" must be a whole number above 0.')
  }
  if (cache?.ttlMs !== undefined && !(Number.isInteger(cache.ttlMs) && cache.ttlMs >= 0)) {
    throw new TypeError('"cache.ttlMs" must be a whole number of milliseconds, 0 or more.')
  }
  for (const [option, value] of Object.entries(http)) {
    const isLimit = /(Ms|Bytes|Depth|Streams)$/.test(option)
    if (option === 'keepAliveMs' && value === 0) throw new TypeError('"http.keepAliveMs" must be above 0.')
    // setTimeout takes 32 bits: a longer time would end at once.
    if (isLimit && !(Number.isFinite(value) && (value as number) >= 0 && (value as number) < 2 ** 31))
      throw new TypeError(`"http.${option}" must be a number from 0 to 2147483647.`)
  }
}
