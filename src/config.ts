/**
 * What `MCPServer` is configured with, and what it tells of itself.
 */
import type { Auth } from './auth/auth.ts'
import { type AgentLike, agentTool, type WorkflowLike, workflowTool } from './definition/agent.ts'
import type { LegacyPolicy } from './definition/ask.ts'
import type { Icon } from './definition/content.ts'
import type { Env } from './definition/context.ts'
import type { PromptsConfig } from './definition/prompt.ts'
import type { ResourcesConfig } from './definition/resource.ts'
import type { JsonSchema } from './definition/schema.ts'
import type { AnyTool } from './definition/tool.ts'
import type { Bus } from './events/bus.ts'
import type { AuditOptions } from './http/audit.ts'
import type { Log } from './http/log.ts'
import type { RateLimiter } from './http/rate-limit.ts'
import type { Rendezvous } from './interaction/rendezvous.ts'
import type { SingleUseStore } from './interaction/state.ts'
import type { ReportError } from './request/options.ts'
import type { RequestServer } from './request/request-server.ts'
import type { Telemetry } from './request/telemetry.ts'

/** How this server meets HTTP. */
export interface HttpConfig {
  /** Hosts to serve, `example.com` or `example.com:8443`. Default: `MAYFLY_ALLOWED_HOSTS`, else any (local ones on a loopback listener). */
  allowedHosts?: readonly string[]
  /** Origins to serve, `https://app.example.com`. Default: any on a public host, local ones on a local host. */
  allowedOrigins?: readonly string[]
  /** The URL of the MCP endpoint as clients see it, `https://shop.example/mcp`. Default: that of the request. */
  publicUrl?: string
  /**
   * A proxy of your own stands in front and sets `X-Forwarded-Host`, `-Proto`, `-Prefix` and `-For`. Default false: they
   * are not read, since any client could send them.
   */
  trustProxy?: boolean
  /** Bytes. Default 4 194 304. */
  maxBodyBytes?: number
  /** Bytes of all header names and values together; more are answered 431. Default: as much as the platform lets through. */
  maxHeaderBytes?: number
  /** Milliseconds that a body may take to arrive. Default 30 000; 0 for no limit. */
  bodyTimeoutMs?: number
  /** Levels of JSON nesting. Default 64. */
  maxJsonDepth?: number
  /** Members of all objects and items of all arrays of a body. Default 100 000. */
  maxJsonMembers?: number
  /** UTF-16 units of one string of a body. Default: as long as the body may be. */
  maxStringCharacters?: number
  /** Milliseconds that one call may take, whatever the platform allows. Default 600 000; 0 for no limit. */
  maxCallMs?: number
  /** Calls at once in one process or isolate, streams included; more are answered 503. Default: no limit. */
  maxConcurrentCalls?: number
  /**
   * Counts the calls of each principal, or else of each address that the platform vouches for; more are answered 429. One of
   * `createMemoryRateLimiter`, the platform's own, or a shared store's. Default: none.
   */
  rateLimiter?: RateLimiter | ((env: Env) => RateLimiter | undefined)
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
  /** Who may use this server: `jwt({ … })` and its kin, of `mayfly-mcp/auth`. Default: everybody. */
  auth?: Auth
  http?: HttpConfig
  /** One entry per request. Default: a JSON line on the console; `false` for none. */
  log?: Log | false
  /** Told who called what, and what came of it; arguments by their names alone, unless `arguments` says otherwise. */
  audit?: AuditOptions
  /** Draws a span for each request: `openTelemetry()` of `mayfly-mcp/otel`. */
  telemetry?: Telemetry
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

/** What of a server's configuration decides what works on a deployment. */
export interface DeploymentInfo {
  hasBus: boolean
  hasRendezvous: boolean
  /** In the configuration; another may come from the environment. */
  hasSecret: boolean
  legacy: LegacyPolicy
}

export interface ToolInfo {
  id: string
  name: string
  description?: string
  inputSchema: JsonSchema
  outputSchema?: JsonSchema
  toolType: 'tool' | 'agent' | 'workflow'
}

/** What can be known to be wrong without compiling a schema. */
export function checkConfig(config: MCPServerConfig): void {
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
  const { pageSize, cache, auth, http = {} } = config
  if (auth !== undefined && typeof auth?.admit !== 'function') {
    throw new TypeError(
      '"auth" must be made by jwt, introspection, staticTokens or bearer of mayfly-mcp/auth: a function of your own goes into bearer(…).',
    )
  }
  if (pageSize !== undefined && !(Number.isInteger(pageSize) && pageSize > 0)) {
    throw new TypeError('"pageSize" must be a whole number above 0.')
  }
  if (cache?.ttlMs !== undefined && !(Number.isInteger(cache.ttlMs) && cache.ttlMs >= 0)) {
    throw new TypeError('"cache.ttlMs" must be a whole number of milliseconds, 0 or more.')
  }
  if (http.publicUrl !== undefined && !isWebUrl(http.publicUrl)) {
    throw new TypeError(
      '"http.publicUrl" must be an absolute http or https URL, such as https://shop.example/mcp.',
    )
  }
  for (const [option, value] of Object.entries(http)) {
    const isLimit = /(Ms|Bytes|Depth|Members|Characters|Calls|Streams)$/.test(option)
    if (option === 'keepAliveMs' && value === 0) throw new TypeError('"http.keepAliveMs" must be above 0.')
    // setTimeout takes 32 bits: a longer time would end at once.
    if (isLimit && !(Number.isFinite(value) && (value as number) >= 0 && (value as number) < 2 ** 31))
      throw new TypeError(`"http.${option}" must be a number from 0 to 2147483647.`)
  }
}

function isWebUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
}
