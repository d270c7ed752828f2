/** `gateway`: other MCP servers behind one of your own. */
import type { Definition } from '../definition/compile.ts'
import type { Era } from '../definition/context.ts'
import { warn } from '../definition/json-line.ts'
import { present } from '../definition/present.ts'
import type { ChangeEvent } from '../events/bus.ts'
import { type Key, keyOf } from '../events/coalesced-changes.ts'
import type { Feed } from '../events/feed.ts'
import type { ExtensionMethod } from '../request/extension-method.ts'
import type { GatewayHost, GatewayMessage, GatewaySupport } from '../request/gateway-support.ts'
import type { Params } from '../request/params.ts'
import { principalOf } from '../request/principal.ts'
import { TASKS_EXTENSION } from '../tasks/declared.ts'
import { type Budget, createBudget, type Forget } from './byte-budget.ts'
import { concerns, mightHave, taskServerOf } from './concerns.ts'
import { type FollowedServer, followServers } from './follow.ts'
import { ListCache } from './list-cache.ts'
import { mergeDefinitions, type Source, serverOf } from './merge.ts'
import { checkOptions, type GatewayOptions } from './options.ts'
import { createTaskMethod } from './tasks.ts'
import { withUnavailable } from './unavailable.ts'
import { DEFAULTS, type Lists, type Opened, Upstream } from './upstream.ts'

/** Milliseconds before the platform's deadline at which no more lists are awaited. */
const MARGIN_MS = 1000
const LISTS = ['tools', 'prompts', 'resources'] as const
/** Maximum merged definitions that are kept. */
const MAX_DEFINITIONS = 100
/** Lists as JSON take three times as much memory, so that this fits into the 128 MB of an isolate. */
const MAX_LIST_BYTES = 16_777_216

/**
 * Serves the tools, resources and prompts of other MCP servers with your own. Their lists are read when first needed, and renewed in
 * the background. A server that fails harms no other: its last lists stay, and its calls fail with its name and a code.
 *
 * ```ts
 * export default new MCPServer({
 *   name: 'Front',
 *   version: '1.0.0',
 *   gateway: gateway({ servers: { shop: { url: 'https://shop.example/mcp' } } }),
 * })
 * ```
 *
 * Tools and prompts are named `server_name`; resources keep their URIs. Needs `@modelcontextprotocol/client`.
 *
 * @throws TypeError for options that could never work.
 */
export function gateway(options: GatewayOptions): GatewaySupport {
  checkOptions(options)
  return new Gateway(options)
}

interface Merged {
  readonly definition: Definition
  readonly forget: Forget
}

class Gateway implements GatewaySupport {
  readonly hasScopes: boolean
  readonly #relaysTasks: boolean
  readonly #upstreams: readonly Upstream[]
  readonly #lists: ReadonlyMap<Upstream, ListCache<Lists>>
  readonly #listTimeoutMs: number
  readonly #budget: Budget
  readonly #merged = new WeakMap<Definition, Map<string, Merged>>()
  readonly #warned = new Set<string>()

  constructor({
    servers,
    ttlMs = 60_000,
    retryMs = 5000,
    maxCallers = 200,
    maxListBytes = MAX_LIST_BYTES,
    ...given
  }: GatewayOptions) {
    const options = { ...DEFAULTS, ...present(given) }
    const timeoutMs = options.listTimeoutMs
    const budget = createBudget(maxListBytes)
    this.#budget = budget
    const onTooLarge = (bytes: number): void =>
      this.#warnOnce(
        `The lists of a server behind this one have ${bytes} bytes and are not kept, so that each request reads them again: raise "maxListBytes" (${maxListBytes}; a caller with own credentials gets at most half).`,
      )
    this.hasScopes = Object.values(servers).some(
      ({ scopes = [] }) => typeof scopes === 'function' || scopes.length > 0,
    )
    this.#relaysTasks = Object.values(servers).some((server) => 'url' in server)
    this.#listTimeoutMs = timeoutMs
    this.#upstreams = Object.entries(servers).map(([name, server]) => new Upstream(name, server, options))
    this.#lists = new Map(
      this.#upstreams.map((upstream) => [
        upstream,
        new ListCache({ ttlMs, retryMs, timeoutMs, maxEntries: maxCallers, budget, onTooLarge }),
      ]),
    )
  }

  async definitionFor(own: Definition, message: GatewayMessage, host: GatewayHost): Promise<Definition> {
    // Discovery waits for no other server: a list that turns out to be empty is harmless.
    const isDiscovery = message.method === 'server/discover' || message.method === 'initialize'
    if (isDiscovery) return this.#merge(own, this.#upstreams.map(unread), host)
    const needed = this.#upstreams.filter((upstream) => concerns(message, upstream, own))
    const sources = await Promise.all(
      needed.map(async (upstream) => ({ upstream, lists: await this.#read(upstream, message, host) })),
    )
    const merged = this.#merge(own, sources, host)
    if (sources.every(({ lists }) => lists !== undefined)) return merged
    const incomplete = { ...merged, isIncomplete: true }
    const first = sources.findIndex(
      ({ upstream, lists }) => lists === undefined && mightHave(upstream, message),
    )
    if (first === -1) return incomplete
    // No later server may take its place.
    const before = sources.map((source, index) => (index < first ? source : unread(source.upstream)))
    const certain = this.#merge(own, before, host)
    return withUnavailable(incomplete, certain, message, sources[first]!.upstream)
  }

  join(
    feed: Feed['join'],
    wanted: Iterable<Key>,
    definition: Definition,
    message: GatewayMessage,
    host: GatewayHost,
  ): Feed['join'] {
    return async (listener) => {
      const leave = await feed(listener)
      const places: (() => void)[] = []
      const giveBack = (): void => {
        leave()
        for (const free of places) free()
      }
      try {
        const servers = await this.#wantedOf(wanted, definition, message, host)
        const caller = principalOf(message.caller) || undefined
        for (const { upstream, uris } of servers) places.push(upstream.reserve(uris, caller))
        const end = await followServers(servers, listener)
        return () => {
          giveBack()
          message.waitUntil(end())
        }
      } catch (error) {
        giveBack()
        throw error
      }
    }
  }

  /** Never rejects. */
  async #wantedOf(
    wanted: Iterable<Key>,
    definition: Definition,
    message: GatewayMessage,
    host: GatewayHost,
  ): Promise<FollowedServer[]> {
    const keys = [...wanted]
    const lists = LISTS.filter((kind) => keys.includes(keyOf({ type: `${kind}ListChanged` })))
    const uris = keys.filter((key) => typeof key === 'string')
    const owned = uris.map((uri) => ({ uri, owner: serverOf(definition, uri) }))
    const found = await Promise.all(
      this.#upstreams.map(async (upstream): Promise<FollowedServer[]> => {
        const report = (error: unknown): void => host.reportError(error, { gateway: upstream.name })
        const { credentials, lists: known } = (await this.#open(upstream, message, host).catch(report)) ?? {}
        if (credentials === undefined || known === undefined) return []
        const kinds = lists.filter((kind) => known.capabilities[kind]?.listChanged === true)
        const own = owned.filter(({ owner }) => owner === upstream).map(({ uri }) => uri)
        const expire = (): void => this.#lists.get(upstream)!.expire(credentials.key)
        if (kinds.length + own.length === 0) return []
        return [{ upstream, credentials, lists: known, kinds, uris: own, expire, report }]
      }),
    )
    return found.flat()
  }

  /** Calls of servers behind may become tasks, if there is a seal for their handles. */
  extensions(era: Era, env: unknown, { asking, use }: GatewayHost): object | undefined {
    const isOffered = this.#relaysTasks && era === 'modern' && use === undefined
    return isOffered && asking.sealFor(env) !== undefined ? { [TASKS_EXTENSION]: {} } : undefined
  }

  method(method: string, params: Params, host: GatewayHost): ExtensionMethod | undefined {
    const name = taskServerOf({ method, params })
    const upstream = this.#upstreams.find((one) => one.name === name)
    // Another id may be that of a task of this server.
    if (
      upstream === undefined &&
      (host.extensions?.method(method, 'modern') !== undefined || !this.#relaysTasks)
    )
      return undefined
    return createTaskMethod(method, upstream, host, (server, context) => {
      const { auth, env, request, waitUntil, deadline } = context
      const message = { method, params, caller: { auth, env, request }, waitUntil, deadline }
      return this.#open(server, message, host)
    })
  }

  /** Undefined if the server has not answered. Never rejects. */
  async #read(upstream: Upstream, message: GatewayMessage, host: GatewayHost): Promise<Lists | undefined> {
    try {
      return (await this.#open(upstream, message, host)).lists
    } catch (error) {
      host.reportError(error, { gateway: upstream.name })
      return undefined
    }
  }

  /** @throws MCPClientError for credentials that cannot be determined. */
  async #open(
    upstream: Upstream,
    { caller, waitUntil, deadline = Number.POSITIVE_INFINITY }: GatewayMessage,
    { reportError, publish }: GatewayHost,
  ): Promise<Opened> {
    const report = (error: unknown): void => reportError(error, { gateway: upstream.name })
    const credentials = await upstream.credentialsOf(caller)
    const owner = credentials.key === '' ? undefined : principalOf(caller)
    const lists = await this.#lists.get(upstream)!.read(credentials.key, {
      owner,
      load: async (previous) => {
        const loaded = await upstream.load(credentials, previous, owner, report)
        for (const event of changesOf(previous, loaded)) void publish(event)
        return loaded
      },
      waitUntil,
      onFailed: report,
      waitMs: Math.max(0, Math.min(this.#listTimeoutMs, deadline - Date.now() - MARGIN_MS)),
    })
    return { credentials, lists }
  }

  /** Compiled once for equal lists. */
  #merge(own: Definition, sources: readonly Source[], host: GatewayHost): Definition {
    const key = sources.map(({ upstream, lists }) => `${upstream.name}:${lists?.version ?? ''}`).join()
    const ofOwn = this.#merged.get(own) ?? new Map<string, Merged>()
    this.#merged.set(own, ofOwn)
    const known = ofOwn.get(key)
    if (known !== undefined) {
      this.#budget.touch(known.forget)
      return known.definition
    }
    const definition = mergeDefinitions(own, sources, host, (upstream, { kind, name }, why) =>
      this.#warnOnce(
        `The ${kind} ${JSON.stringify(name)} of the server "${upstream.name}" behind this one is left out: ${why}.`,
      ),
    )
    const forget = (): void => void ofOwn.delete(key)
    // It has the lists in another form, also after they were forgotten.
    const bytes = sources.reduce((sum, { lists }) => sum + (lists?.bytes ?? 0), 0)
    const owner = sources.find(({ lists }) => lists?.owner !== undefined)?.lists?.owner
    if (!this.#budget.keep(forget, bytes, owner)) return definition
    ofOwn.set(key, { definition, forget })
    const [oldest] = ofOwn.values()
    if (ofOwn.size > MAX_DEFINITIONS && oldest !== undefined) this.#budget.forget(oldest.forget)
    return definition
  }

  #warnOnce(message: string): void {
    if (this.#warned.size >= MAX_DEFINITIONS || this.#warned.has(message)) return
    this.#warned.add(message)
    warn(message)
  }

  async close(): Promise<void> {
    await Promise.all(this.#upstreams.map((upstream) => upstream.close()))
  }
}

const unread = (upstream: Upstream): Source => ({ upstream, lists: undefined })

/** What clients are told when renewed lists differ. */
function changesOf(previous: Lists | undefined, lists: Lists): ChangeEvent[] {
  if (previous === undefined || previous.version === lists.version) return []
  const differs = (kind: 'tools' | 'resources' | 'templates' | 'prompts'): boolean =>
    JSON.stringify(previous[kind]) !== JSON.stringify(lists[kind])
  return [
    ...(differs('tools') ? [{ type: 'toolsListChanged' } as const] : []),
    ...(differs('resources') || differs('templates') ? [{ type: 'resourcesListChanged' } as const] : []),
    ...(differs('prompts') ? [{ type: 'promptsListChanged' } as const] : []),
  ]
}
