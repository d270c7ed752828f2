/**
 * The configuration of `MCPServer`, and the types that describe a server.
 */

import type { SignInFacts } from './auth/auth.ts'
import { type AgentLike, agentTool, type WorkflowLike, workflowTool } from './definition/agent.ts'
import type { LegacyPolicy } from './definition/ask.ts'
import type { Icon } from './definition/content.ts'
import type { Env, Implementation, McpContext } from './definition/context.ts'
import { textOf } from './definition/error-text.ts'
import { forEnv } from './definition/for-env.ts'
import { warn } from './definition/json-line.ts'
import { checkMiddleware, type ToolMiddleware } from './definition/middleware.ts'
import { present } from './definition/present.ts'
import { checkPrompts, isPromptCallbacks, type PromptsConfig } from './definition/prompt.ts'
import { checkResources, isResourceCallbacks, type ResourcesConfig } from './definition/resource.ts'
import type { JsonSchema } from './definition/schema.ts'
import type { StoreOwner } from './definition/store-owner.ts'
import { type AnyTool, checkToolMembers } from './definition/tool.ts'
import { checkToolShape, nameMistake } from './definition/tool-mistakes.ts'
import { type Names, refuseUnknown, requireOptions } from './definition/unknown-option.ts'
import type { Bus } from './events/bus.ts'
import { checkHosting, HOSTING_OPTIONS, type HostingConfig, refuseMisplaced } from './http/hosting.ts'
import type { AskingOptions } from './interaction/begin.ts'
import type { Rendezvous } from './interaction/rendezvous.ts'
import { createSeal, type Seal } from './interaction/seal.ts'
import type { SingleUseStore } from './interaction/state.ts'
import type { Subscriptions } from './protocol/engine-options.ts'
import type { Extension, ExtensionFacts, ExtensionOptions } from './request/extension.ts'
import type { GatewaySupport } from './request/gateway-support.ts'
import type { ReportError } from './request/options.ts'
import type { RequestServer } from './request/request-server.ts'

/** The configuration of an `MCPServer`. Only `name` and `version` are required. */
export interface MCPServerConfig<Context = McpContext> extends HostingConfig, ExtensionOptions {
  /** Default: `name` in lower case, with `-` between words. Sealed states are bound to it, and to `MAYFLY_STAGE`. */
  id?: string | undefined
  name: string
  version: string
  title?: string | undefined
  description?: string | undefined
  /** Instructions for the model: how to use this server. Not for callers that nobody knows, if anything is closed to them. */
  instructions?: string | undefined
  websiteUrl?: string | undefined
  icons?: Icon[] | undefined
  /** Tools by the names that clients see. */
  tools?: { readonly [name: string]: AnyTool } | undefined
  /** Each becomes the tool `ask_<key>`. */
  agents?: { readonly [key: string]: AgentLike } | undefined
  /** Each becomes the tool `run_<key>`. */
  workflows?: { readonly [key: string]: WorkflowLike } | undefined
  /** Declared resources, or callbacks that list and read them. */
  resources?: ResourcesConfig | undefined
  /** Declared prompts by name, or callbacks that list and fill them in. */
  prompts?: PromptsConfig | undefined
  /** Runs for each request before it is dispatched, and changes only that request's server. Use it for multi-tenancy. */
  setup?: ((server: RequestServer<Context>, request: Request) => unknown) | undefined
  /**
   * Middleware around each tool call, the first one outermost: it may refuse the call, change its arguments and its result, and measure it.
   * Runs once the arguments are validated, and again with each round of questions. Default: none.
   */
  use?: readonly ToolMiddleware<Context>[] | undefined
  /**
   * Carries change notifications. Without a bus, they are only advertised by a long-lived process, which is its own; `false` for one of
   * several processes, where a client would miss the changes of the others.
   */
  bus?: Bus | false | undefined
  /**
   * Stores the subscriptions of legacy clients, so that a stateless server with a bus and a secret notifies them, too:
   * `redisSubscriptions`, `durableObjectSubscriptions`, or one of `mayfly-mcp/subscriptions`.
   */
  subscriptions?: Subscriptions | undefined
  /** Items per page of every list. Default 1000. */
  pageSize?: number | undefined
  /**
   * Cache hints for lists and discovery: `ttlMs` (default 60 000) and `scope`. Default `public`; what depends on the caller is always
   * `private`: with `auth`, `setup`, a `gateway` or callbacks, `public` is a TypeError.
   */
  cache?: { ttlMs?: number; scope?: 'public' | 'private' } | undefined
  /**
   * Seals the state of a call while its user is asked: 32 or more random characters. Pass several for rotation: the first
   * one seals, all of them open. Default: `MAYFLY_SECRET` of the platform's environment, several separated by commas.
   */
  secret?: string | readonly string[] | undefined
  /** How legacy clients are asked. Default `explain`. */
  legacy?: LegacyPolicy | undefined
  /** Delivers a legacy client's answers to the calls that wait for them, for the policy `rendezvous`. Without `legacy`, a warning is logged. */
  rendezvous?: (Rendezvous | ((env: Env) => Rendezvous | undefined)) | undefined
  /** Milliseconds for which a sealed state is valid, the time to answer a question. Default 600 000. */
  stateTtlMs?: number | undefined
  /** Milliseconds to wait for an answer at the rendezvous. Default 120 000. */
  askTimeoutMs?: number | undefined
  /** Allows each sealed state only once. All isolates must share the store. */
  singleUse?: SingleUseStore | undefined
  /** What it serves beyond MCP: created by `extension` of `mayfly-mcp/extensions`, or by an entry point with one. */
  extensions?: readonly Extension[] | undefined
  /** The servers behind this one, whose tools, resources and prompts it also serves: see `mayfly-mcp/gateway`. */
  gateway?: GatewaySupport | undefined
}

/** The parts of a server's configuration that decide which features work on a deployment. */
export interface DeploymentInfo extends ExtensionFacts {
  hasBus: boolean
  /** Whether the subscriptions of legacy clients are stored. Default false. */
  hasSubscriptions?: boolean
  /** Whether that bus only reaches one process or isolate. Default false. */
  hasLocalBus?: boolean
  hasRendezvous: boolean
  /** A secret in the configuration; the environment may have another. */
  hasSecret: boolean
  legacy: LegacyPolicy
  /** Whether the process keeps sessions of legacy clients. Default false. */
  hasSessions?: boolean
  /** The identifiers of its extensions. Default: none. */
  extensions?: readonly string[]
  /** Whether clients need a token. Default false. */
  hasAuth?: boolean
  /** What the `auth` lacks in the environment that was given, such as a token that is not set. Default: nothing. */
  authFault?: string
  /** The store of its API keys in the environment that was given, for `mayfly keys`. May throw. */
  keyStore?: () => unknown
  /** Who signs people in, in the environment that was given. Default: nobody. */
  signIn?: SignInFacts
  /** `http.publicUrl`. */
  publicUrl?: string
  /** `http.trustProxy`: the public URL and callers' addresses are those that a proxy tells. Default false. */
  trustsProxy?: boolean
}

/** A tool as `getToolListInfo` describes it. */
export interface ToolInfo {
  id: string
  name: string
  description?: string
  inputSchema: JsonSchema
  outputSchema?: JsonSchema
  toolType: 'tool' | 'agent' | 'workflow'
}

/** All options, since ignoring a misspelt `auth` would leave a server open. */
export const SERVER_OPTIONS: Names<Omit<MCPServerConfig, keyof ExtensionOptions>> = {
  id: 'string',
  name: 'string',
  version: 'string',
  title: 'string',
  description: 'string',
  instructions: 'string',
  websiteUrl: 'string',
  icons: 'object',
  tools: 'object',
  agents: 'object',
  workflows: 'object',
  resources: 'object',
  prompts: 'object',
  setup: 'function',
  use: 1,
  bus: 1,
  subscriptions: 'object',
  pageSize: [1],
  cache: 'object',
  secret: 'string object',
  legacy: { explain: 1, arguments: 1, rendezvous: 1 },
  rendezvous: 'object',
  stateTtlMs: [0],
  askTimeoutMs: [0],
  singleUse: 'object',
  extensions: 1,
  gateway: 'object',
  ...HOSTING_OPTIONS,
}
const CACHE_OPTIONS: Names<NonNullable<MCPServerConfig['cache']>> = {
  ttlMs: [0],
  scope: { public: 1, private: 1 },
}

const MUST_BE_OBJECT = 'it must be an object, { greet }, whose keys are the names that clients see.'

/** A configuration with its `id`, and all of its extensions. */
export type CheckedConfig = MCPServerConfig & {
  readonly id: string
  readonly extensions: readonly Extension[]
}

/** The configuration with its `id`. @throws TypeError for errors that can be found without compiling a schema. */
export function checkConfig(given: MCPServerConfig): CheckedConfig {
  refuseMisplaced('MCPServer', given)
  const named = namedExtensions(given)
  requireOptions('MCPServer', given, { ...namesOf(named), ...SERVER_OPTIONS })
  const extensions = [given.extensions ?? [], Object.values(named)].flat()
  if (!extensions.every(isExtension))
    throw new TypeError('"extensions" must be a list of extensions: [extension({ … })].')
  const config = {
    ...given,
    extensions,
    id: given.id ?? (given.name ?? '').toLowerCase().replace(/\s+/g, '-'),
  }
  for (const option of ['name', 'id', 'version'] as const) {
    if (!config[option]) throw new TypeError(`MCPServer needs "${option}": a non-empty string.`)
  }
  if (Array.isArray(config.tools)) throw new TypeError(`"tools" is a list: ${MUST_BE_OBJECT}`)
  for (const option of ['tools', 'agents', 'workflows', 'prompts'] as const) {
    const kind = Array.isArray(config[option]) ? 'list' : config[option] instanceof Map && 'Map'
    if (kind) throw new TypeError(`"${option}" is a ${kind}: ${MUST_BE_OBJECT}`)
  }
  for (const name of [
    ...Object.keys(config.tools ?? {}),
    ...Object.keys(config.agents ?? {}).map((key) => `ask_${key}`),
    ...Object.keys(config.workflows ?? {}).map((key) => `run_${key}`),
  ])
    warnOfName(name)
  for (const [name, tool] of Object.entries(config.tools ?? {})) {
    checkToolShape(name, tool)
    checkToolMembers(name, tool)
    if (tool.task !== undefined && !extensions.some(({ name }) => name === 'tasks'))
      throw new TypeError(
        `Tool "${name}" has "task", but the server has no "tasks": pass a store, such as createMemoryTasks().`,
      )
  }
  checkMiddleware(config.use)
  refuseUnknown('"cache"', config.cache, CACHE_OPTIONS)
  checkPrompts(config.prompts)
  checkResources(config.resources)
  for (const [key, agent] of Object.entries(config.agents ?? {})) agentTool(key, agent)
  for (const [key, workflow] of Object.entries(config.workflows ?? {})) workflowTool(key, workflow)
  const { pageSize, cache, legacy, rendezvous, secret, id, bus = false } = config
  if (bus !== false && typeof bus?.publish !== 'function')
    throw new TypeError('"bus" must be a bus, such as createMemoryBus(), or false.')
  if (rendezvous !== undefined && legacy === undefined) {
    const message =
      'The server has a "rendezvous", but asks legacy clients by it only where a question says so: set legacy: "rendezvous", or "explain" if that is meant.'
    warn(message)
  }
  if (secret !== undefined) createSeal([secret].flat(), id, () => undefined)
  if (!Number.isInteger(pageSize ?? 1)) throw new TypeError('"pageSize" must be a whole number above 0.')
  if (cache?.scope === 'public') {
    const reason = callerDependence(config)
    if (reason !== undefined)
      throw new TypeError(
        `With ${reason}, "cache.scope" cannot be "public": a cache could give the lists of one caller to another. Remove it: lists that are the same for everyone are public.`,
      )
  }
  if (!Number.isInteger(cache?.ttlMs ?? 0))
    throw new TypeError('"cache.ttlMs" must be a whole number of milliseconds, 0 or more.')
  checkHosting(config)
  return config
}

/** The options that are extensions of that name, as in `tasks`. */
export function namedExtensions(given: object): { readonly [name: string]: Extension } {
  const all: [string, Partial<Extension> | null | undefined][] = Object.entries(given ?? {})
  return Object.fromEntries(all.filter(([name, one]) => one?.name === name && isExtension(one))) as {
    [name: string]: Extension
  }
}

/** For a table of options: of any kind. */
export const namesOf = (named: object): object =>
  Object.fromEntries(Object.keys(named).map((name) => [name, 1]))

const isExtension = (one: unknown): one is Extension =>
  typeof (one as Partial<Extension> | null | undefined)?.join === 'function'

/** Prints a warning for a name of a tool that clients may refuse. */
export function warnOfName(name: string): void {
  const mistake = nameMistake(name)
  if (mistake !== undefined) warn(mistake)
}

/** What makes lists depend on the caller, as far as it is known before a request. */
function callerDependence({ auth, setup, gateway, resources, prompts }: MCPServerConfig): string | undefined {
  if (auth !== undefined) return '"auth"'
  if (setup !== undefined) return '"setup"'
  if (gateway !== undefined) return '"gateway"'
  if (resources !== undefined && isResourceCallbacks(resources)) return 'the callbacks of "resources"'
  if (prompts !== undefined && isPromptCallbacks(prompts)) return 'the callbacks of "prompts"'
  return undefined
}

/** The server info that clients receive. */
export function serverInfoOf({
  name,
  version,
  title,
  description,
  websiteUrl,
  icons,
}: MCPServerConfig): Implementation {
  return present<Implementation>({ name, version, title, description, websiteUrl, icons })
}

/** The options for asking clients, with their defaults. */
export function toAskingOptions(
  config: MCPServerConfig & { readonly id: string },
  owner: StoreOwner,
  reportError: ReportError,
): AskingOptions {
  return {
    sealFor: createSealFor(config, owner, reportError),
    rendezvousFor: forEnv(config.rendezvous),
    stateTtlMs: config.stateTtlMs ?? 600_000,
    singleUse: config.singleUse,
    legacyPolicy: config.legacy ?? 'explain',
    askTimeoutMs: config.askTimeoutMs ?? 120_000,
  }
}

/** Finds the seal of a deployment. Its secret may only be in the environment of a request. */
function createSealFor(
  { secret, id }: MCPServerConfig & { readonly id: string },
  owner: StoreOwner,
  reportError: ReportError,
): (env: unknown) => Seal | undefined {
  if (secret !== undefined) {
    const seal = createSeal(typeof secret === 'string' ? [secret] : secret, id, owner.stage)
    return (env) => {
      owner.see(env)
      return seal
    }
  }
  let known: { readonly text: string; readonly seal: Seal | undefined } | undefined
  return (env) => {
    const text = (env as { MAYFLY_SECRET?: unknown } | null | undefined)?.MAYFLY_SECRET
    if (typeof text !== 'string') return undefined
    owner.see(env)
    if (known?.text !== text) known = { text, seal: trySeal(text, owner, reportError) }
    return known.seal
  }
}

/**
 * Ignores empty parts between commas. A secret that is too short is reported once and not used; features that need no secret still work.
 */
function trySeal(text: string, { id, stage }: StoreOwner, reportError: ReportError): Seal | undefined {
  const secrets = text.split(',').flatMap((secret) => secret.trim() || [])
  try {
    return secrets.length === 0 ? undefined : createSeal(secrets, id, stage)
  } catch (error) {
    reportError(new Error(`MAYFLY_SECRET is not used: ${textOf(error)}`), { secret: true })
    return undefined
  }
}
