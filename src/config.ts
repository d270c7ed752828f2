/**
 * What `MCPServer` is configured with, and what it tells of itself.
 */
import { type AgentLike, agentTool, type WorkflowLike, workflowTool } from './definition/agent.ts'
import type { LegacyPolicy } from './definition/ask.ts'
import type { Icon } from './definition/content.ts'
import type { Env, Implementation } from './definition/context.ts'
import type { PromptsConfig } from './definition/prompt.ts'
import type { ResourcesConfig } from './definition/resource.ts'
import type { JsonSchema } from './definition/schema.ts'
import type { AnyTool } from './definition/tool.ts'
import type { Bus } from './events/bus.ts'
import { checkHosting, type HostingConfig } from './http/hosting.ts'
import type { Rendezvous } from './interaction/rendezvous.ts'
import { createSeal, type Seal } from './interaction/seal.ts'
import type { SingleUseStore } from './interaction/state.ts'
import type { RequestServer } from './request/request-server.ts'

export interface MCPServerConfig extends HostingConfig {
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
  const { pageSize, cache } = config
  if (pageSize !== undefined && !(Number.isInteger(pageSize) && pageSize > 0)) {
    throw new TypeError('"pageSize" must be a whole number above 0.')
  }
  if (cache?.ttlMs !== undefined && !(Number.isInteger(cache.ttlMs) && cache.ttlMs >= 0)) {
    throw new TypeError('"cache.ttlMs" must be a whole number of milliseconds, 0 or more.')
  }
  checkHosting(config)
}

/** Who the server is, to its clients. */
export function serverInfoOf({
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
export function createSealFor({ secret, id }: MCPServerConfig): (env: unknown) => Seal | undefined {
  if (secret !== undefined) {
    const seal = createSeal(typeof secret === 'string' ? [secret] : secret, id)
    return () => seal
  }
  let known: { readonly text: string; readonly seal: Seal | undefined } | undefined
  return (env) => {
    const text = (env as { MAYFLY_SECRET?: unknown } | null | undefined)?.MAYFLY_SECRET
    if (typeof text !== 'string') return undefined
    if (known?.text !== text) known = { text, seal: sealOf(text, id) }
    return known.seal
  }
}

/** Commas too many are no secrets. */
function sealOf(text: string, id: string): Seal | undefined {
  const secrets = text.split(',').flatMap((secret) => secret.trim() || [])
  return secrets.length === 0 ? undefined : createSeal(secrets, id)
}
