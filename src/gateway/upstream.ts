/** One server behind: its connections, each with the credentials of one caller, and its lists. */
import type {
  ClientCapabilities,
  PriorDiscovery,
  Prompt,
  Resource,
  ResourceTemplateType,
  ServerCapabilities,
} from '@modelcontextprotocol/client'
import type { Followed, Heard } from '../client/changes.ts'
import type { ServerConfig } from '../client/config.ts'
import { DEFAULT_MAX_RESPONSE_BYTES, DEFAULT_MAX_TASK_MS, DEFAULT_TIMEOUT_MS } from '../client/config.ts'
import { Connection, type Relay } from '../client/connection.ts'
import { MCPClientError } from '../client/errors.ts'
import { digest } from '../definition/digest.ts'
import { isObject, isPlain } from '../definition/is-object.ts'
import { printError } from '../definition/print-error.ts'
import { withTimeout } from '../definition/timeout.ts'
import type { Tool } from '../definition/tool.ts'
import { utf8Length } from '../definition/utf8.ts'
import type { GatewayCaller } from '../request/gateway-support.ts'
import { createFollowPlaces, type FollowPlaces } from './follow-places.ts'
import type { Sized } from './list-cache.ts'
import { type GatewayOptions, type GatewayServer, toConfig } from './options.ts'

/** What a server listed for some credentials. */
export interface Lists extends Sized {
  readonly tools: readonly Tool[]
  readonly resources: readonly Resource[]
  readonly templates: readonly ResourceTemplateType[]
  readonly prompts: readonly Prompt[]
  readonly capabilities: ServerCapabilities
  readonly prior: PriorDiscovery
  /** Unique, so that what is made of several lists can be found again. */
  readonly version: string
}

export interface Credentials {
  readonly config: ServerConfig
  /** Equal for equal credentials. */
  readonly key: string
}

/** A server for one caller. */
export interface Opened {
  readonly credentials: Credentials
  /** Undefined if it has not answered. */
  readonly lists: Lists | undefined
}

/** A connection for one call. */
interface Relayed {
  readonly connection: Connection
  readonly close: () => Promise<void>
}

export type UpstreamOptions = Required<Pick<GatewayOptions, 'listTimeoutMs' | 'timeoutMs'>>

const KINDS = ['tools', 'resources', 'templates', 'prompts'] as const

export const DEFAULTS = { listTimeoutMs: 10_000, timeoutMs: DEFAULT_TIMEOUT_MS }

export class Upstream {
  readonly name: string
  readonly server: GatewayServer
  readonly prefix: string
  readonly #options: UpstreamOptions
  readonly #places: FollowPlaces
  /** For a process, which all callers share. */
  #shared: Connection | undefined

  constructor(name: string, server: GatewayServer, options: UpstreamOptions) {
    this.name = name
    this.server = server
    this.prefix = server.prefix ?? `${name}_`
    this.#options = options
    this.#places = createFollowPlaces(name)
  }

  /** The address, which no caller may learn. */
  get url(): URL | undefined {
    return 'url' in this.server ? new URL(this.server.url) : undefined
  }

  /** @throws MCPClientError `UNAUTHORIZED` if a function for credentials throws or takes too long. */
  async credentialsOf(caller: GatewayCaller): Promise<Credentials> {
    const { token, headers } = this.server as { token?: unknown; headers?: unknown }
    if (typeof token !== 'function' && typeof headers !== 'function')
      return { config: toConfig(this.server), key: '' }
    const ask = async (given: unknown): Promise<unknown> =>
      typeof given === 'function' ? (given as (caller: GatewayCaller) => unknown)(caller) : given
    try {
      const asked = Promise.all([ask(token), ask(headers)])
      const [givenToken, givenHeaders] = await withTimeout(
        asked,
        this.#options.listTimeoutMs,
        'function for credentials',
      )
      const [ownToken, ownHeaders] = [toToken(givenToken), toHeaders(givenHeaders)]
      const credentials = {
        ...(ownToken !== undefined && { token: ownToken }),
        ...(ownHeaders !== undefined && { headers: ownHeaders }),
      }
      const key = await digest(JSON.stringify([ownToken ?? null, Object.entries(ownHeaders ?? {}).sort()]))
      return { config: toConfig(this.server, credentials), key }
    } catch (cause) {
      const text = `The credentials for MCP server "${this.name}" could not be determined.`
      throw new MCPClientError('UNAUTHORIZED', text, { server: this.name, operation: 'credentials', cause })
    }
  }

  /** A connection that declares `capabilities`, and is closed after its call. A process stays, and is asked nothing. */
  connect(
    { config }: Credentials,
    capabilities: ClientCapabilities,
    prior: PriorDiscovery | undefined,
    more: Partial<ServerConfig> = {},
  ): Relayed {
    if ('url' in config) {
      const connection = this.#open({ ...config, ...more } as ServerConfig, { capabilities, prior })
      return { connection, close: () => connection.close() }
    }
    return { connection: this.#process(config), close: async () => {} }
  }

  /** Takes places to follow these URIs. @throws ProtocolError if they do not fit. */
  reserve(uris: readonly string[], caller: string | undefined): () => void {
    return 'url' in this.server ? () => {} : this.#places.take(uris, caller)
  }

  /** Calls `listener` with changes of what the server offers of these. */
  follow(
    { config }: Credentials,
    prior: PriorDiscovery | undefined,
    followed: Followed,
    listener: (heard: Heard) => void,
    report: (error: unknown) => void,
  ): { readonly begun: Promise<void>; end(): Promise<void> } {
    if (!('url' in config)) return this.#process(config).changes.follow(followed, listener)
    const connection = this.#open(config, { capabilities: {}, prior }, report)
    const { begun } = connection.changes.follow(followed, listener)
    return { begun, end: () => connection.close() }
  }

  /** @param owner See `Sized`. @throws MCPClientError if the server cannot be reached, or none of its lists can be read. */
  async load(
    credentials: Credentials,
    previous: Lists | undefined,
    owner: string | undefined,
    report: (error: unknown) => void,
  ): Promise<Lists> {
    const { connection, close } = this.connect(credentials, {}, undefined)
    try {
      return await withTimeout(
        this.#read(connection, previous, owner, report),
        this.#options.listTimeoutMs,
        this.name,
      )
    } finally {
      void close()
    }
  }

  async #read(
    connection: Connection,
    previous: Lists | undefined,
    owner: string | undefined,
    report: (error: unknown) => void,
  ): Promise<Lists> {
    const settings = { timeoutMs: this.#options.listTimeoutMs }
    await connection.request('connect', async () => {}, settings)
    const { capabilities, prior } = connection.peer!
    const { tools, resources, prompts } = capabilities
    const list = <Item>(
      has: object | undefined,
      method: string,
      read: Parameters<typeof connection.request<Item[]>>[1],
    ): Promise<Item[]> =>
      has === undefined ? Promise.resolve([]) : connection.request(method, read, settings)
    const found = await Promise.allSettled([
      list<Tool>(tools, 'tools/list', async (client, options, params) => {
        // The official type is the same, except for `| undefined` on optional properties.
        return (await client.listTools(params, options)).tools as Tool[]
      }),
      list<Resource>(resources, 'resources/list', async (client, options) => {
        return (await client.listResources(undefined, options)).resources
      }),
      list<ResourceTemplateType>(resources, 'resources/templates/list', async (client, options) => {
        return (await client.listResourceTemplates(undefined, options)).resourceTemplates
      }),
      list<Prompt>(prompts, 'prompts/list', async (client, options) => {
        return (await client.listPrompts(undefined, options)).prompts
      }),
    ])
    const failed = found.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []))
    if (failed.length > 0 && !found.some((one) => one.status === 'fulfilled' && one.value.length > 0))
      throw failed[0]
    for (const error of failed) report(error)
    const lists = KINDS.map((kind, index) => {
      const one = found[index]!
      return [kind, one.status === 'fulfilled' ? one.value : (previous?.[kind] ?? [])] as const
    })
    const items = Object.fromEntries(lists) as unknown as Pick<Lists, (typeof KINDS)[number]>
    // An unchanged list keeps its version, and what was compiled of it. That connects as `prior` says: an updated server may speak another era.
    const isSame =
      previous !== undefined &&
      isEqual([previous.capabilities, previous.prior], [capabilities, prior]) &&
      KINDS.every((kind) => isEqual(previous[kind], items[kind]))
    const bytes = utf8Length(JSON.stringify([items, capabilities, prior]))
    const version = isSame ? previous.version : crypto.randomUUID()
    return { ...items, capabilities, prior, version, bytes, owner }
  }

  #process(config: ServerConfig): Connection {
    this.#shared ??= this.#open(config, { capabilities: {}, prior: undefined })
    return this.#shared
  }

  #open(
    config: ServerConfig,
    relay: Relay,
    report: (error: MCPClientError) => void = ({ message }) => printError(message),
  ) {
    return new Connection(this.name, config, {
      timeoutMs: this.#options.timeoutMs,
      maxResponseBytes: DEFAULT_MAX_RESPONSE_BYTES,
      maxTaskMs: DEFAULT_MAX_TASK_MS,
      clientInfo: { name: 'mayfly-mcp', version: '1.0.0' },
      report,
      relay,
    })
  }

  async close(): Promise<void> {
    const shared = this.#shared
    this.#shared = undefined
    await shared?.close()
  }
}

/** Lists are kept by credentials, so that what JSON cannot tell apart must not be used. @throws TypeError */
function toToken(given: unknown): string | undefined {
  if (given === undefined || typeof given === 'string') return given
  throw new TypeError('"token" must return a string or undefined.')
}

/** A copy: what is sent is what the lists are kept by. @throws TypeError */
function toHeaders(given: unknown): { readonly [name: string]: string } | undefined {
  if (given === undefined) return undefined
  const entries = isObject(given) && isPlain(given) ? Object.entries({ ...given }) : undefined
  if (entries?.every((entry): entry is [string, string] => typeof entry[1] === 'string'))
    return Object.fromEntries(entries)
  throw new TypeError(
    '"headers" must return a plain object of strings or undefined: of a Headers, Object.fromEntries(headers).',
  )
}

const isEqual = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)
