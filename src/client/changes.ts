/**
 * Change notifications in both eras: one `subscriptions/listen` stream with everything wanted (modern), or `resources/subscribe`
 * and all list changes that the server sends (legacy). Continues after lost connections and ended streams.
 */

import {
  type Client,
  type McpSubscription,
  ProtocolError,
  type RequestOptions,
  type SubscriptionFilter,
} from '@modelcontextprotocol/client'
import { backoffMs } from '../definition/backoff.ts'
import { isA } from '../definition/error-text.ts'
import { callListener, MCPClientError } from './errors.ts'
import { covers, type ListKind, notOffered, offeredOf } from './subscription-filter.ts'

/** A change of a resource. */
export interface ResourceUpdate {
  uri: string
}

/** The part of the connection that `Changes` uses. */
export interface ChangesHost {
  readonly server: string
  request<T>(operation: string, work: (client: Client, options: RequestOptions) => Promise<T>): Promise<T>
  report(error: MCPClientError): void
}

/** What a connection follows that passes changes on. */
export interface Followed {
  readonly kinds: readonly ListKind[]
  readonly uris: Iterable<string>
}

/** A changed list or resource; undefined if changes may have been missed. */
export type Heard = ListKind | ResourceUpdate | undefined

interface Follower {
  readonly kinds: ReadonlySet<ListKind>
  readonly uris: ReadonlySet<string>
  readonly listener: (heard: Heard) => void
}

interface Stream {
  readonly client: Client
  readonly filter: string
  readonly subscription: McpSubscription
  readonly openedAt: number
}

const LIST_CHANGED = {
  tools: 'notifications/tools/list_changed',
  prompts: 'notifications/prompts/list_changed',
  resources: 'notifications/resources/list_changed',
} as const

/** After a stream or connection of this duration, the next one is opened without delay. */
const GOOD_STREAM_MS = 5000
const MAX_FAILURES = 7
const RETRIES = { firstMs: 1000, maxMs: 30_000 }

export class Changes {
  readonly #host: ChangesHost
  readonly #onUpdated = new Set<(update: ResourceUpdate) => void>()
  readonly #onListChanged = new Map<ListKind, Set<() => void>>()
  readonly #uris = new Set<string>()
  readonly #followers = new Set<Follower>()
  /** Whether it is content with what the server offers. */
  #isFollowing = false
  /** The URIs that legacy servers were subscribed to, by connection. */
  readonly #subscribed = new WeakMap<Client, Set<string>>()
  #stream: Stream | undefined
  /** Synchronizations run one after the other. */
  #queue: Promise<unknown> = Promise.resolve()
  #isEstablished = false
  #isStopped = false
  #attachedAt = 0
  #failures = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(host: ChangesHost) {
    this.#host = host
  }

  onUpdated(listener: (update: ResourceUpdate) => void): () => void {
    const entry = (update: ResourceUpdate): void => listener(update)
    this.#onUpdated.add(entry)
    return () => this.#onUpdated.delete(entry)
  }

  /** @throws MCPClientError `UNSUPPORTED` if the server does not notify about this list. */
  async onListChanged(kind: ListKind, listener: () => void): Promise<() => void> {
    const listeners = this.#onListChanged.get(kind) ?? new Set()
    this.#onListChanged.set(kind, listeners)
    const entry = (): void => listener()
    listeners.add(entry)
    const remove = (): void => {
      listeners.delete(entry)
      if (listeners.size === 0) this.#onListChanged.delete(kind)
    }
    await this.#apply(remove)
    return remove
  }

  /**
   * Passes on what the server offers of these changes, and goes on after failures. `begun` resolves after the first attempt. Never rejects.
   */
  follow(
    { kinds, uris }: Followed,
    listener: (heard: Heard) => void,
  ): { begun: Promise<void>; end(): Promise<void> } {
    this.#isFollowing = true
    this.#isEstablished = true
    const follower: Follower = { kinds: new Set(kinds), uris: new Set(uris), listener }
    this.#followers.add(follower)
    return {
      begun: this.#request().catch((error: unknown) => this.#onFailure(error)),
      end: async () => {
        this.#followers.delete(follower)
        if (!this.#isStopped) await this.#request().catch(() => {})
      },
    }
  }

  /** @throws MCPClientError `UNSUPPORTED` if the server does not support subscriptions. */
  async subscribe(uri: string): Promise<void> {
    if (this.#uris.has(uri)) return
    this.#uris.add(uri)
    await this.#apply(() => this.#uris.delete(uri))
  }

  async unsubscribe(uri: string): Promise<void> {
    if (this.#uris.delete(uri)) await this.#apply(() => {})
  }

  /** Registers handlers before the client connects. */
  attach(client: Client): void {
    this.#attachedAt = Date.now()
    client.setNotificationHandler('notifications/resources/updated', ({ params: { uri } }) => {
      this.#tell(this.#onUpdated, { uri })
      this.#tellFollowers({ uri }, ({ uris }) => uris.has(uri))
    })
    for (const kind of ['tools', 'prompts', 'resources'] as const) {
      client.setNotificationHandler(LIST_CHANGED[kind], () => {
        this.#tell(this.#onListChanged.get(kind) ?? [], undefined)
        this.#tellFollowers(kind, ({ kinds }) => kinds.has(kind))
      })
    }
  }

  /** Called when the connection is lost: subscribes again on a new one. */
  onLost(): void {
    this.#stream = undefined
    if (!this.#isEstablished) return
    this.#countFailure(this.#attachedAt)
    this.#listenAgain()
  }

  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
  }

  async #apply(undo: () => void): Promise<void> {
    this.#failures = 0
    try {
      await this.#request()
      this.#isEstablished = true
    } catch (error) {
      undo()
      throw error
    }
  }

  #request(): Promise<void> {
    return this.#host.request('subscriptions/listen', (client, options) => this.#sync(client, options))
  }

  #sync(client: Client, options: RequestOptions): Promise<void> {
    const run = () => {
      const missing = notOffered(client.getServerCapabilities(), this.#kinds(), this.#wantedUris())
      if (missing !== undefined && !this.#isFollowing) throw this.#unsupported(missing)
      return client.getProtocolEra() === 'modern'
        ? this.#listen(client, options)
        : this.#tellServer(client, options)
    }
    const done = this.#queue.then(run)
    this.#queue = done.catch(() => {})
    return done
  }

  async #listen(client: Client, options: RequestOptions): Promise<void> {
    const wanted = this.#offeredBy(client)
    const filter = JSON.stringify(wanted)
    const before = this.#stream
    if (before?.client === client && before.filter === filter) return
    if (filter === '{}') {
      this.#stream = undefined
      await before?.subscription.close()
      return
    }
    const subscription = await client.listen(wanted, options)
    if (!this.#isFollowing && !covers(subscription.honoredFilter, wanted)) {
      void subscription.close()
      throw this.#unsupported('the requested changes')
    }
    const stream: Stream = { client, filter, subscription, openedAt: Date.now() }
    this.#stream = stream
    void subscription.closed.then(() => {
      if (this.#stream !== stream) return
      this.#stream = undefined
      this.#countFailure(stream.openedAt)
      this.#listenAgain()
    })
    await before?.subscription.close()
  }

  async #tellServer(client: Client, options: RequestOptions): Promise<void> {
    const told = this.#subscribed.get(client) ?? new Set()
    this.#subscribed.set(client, told)
    const uris = new Set(this.#offeredBy(client).resourceSubscriptions)
    for (const uri of uris) {
      if (told.has(uri)) continue
      await client.subscribeResource({ uri }, options).catch((error: unknown) => {
        if (!this.#isFollowing || !isA(error, ProtocolError)) throw error
      })
      told.add(uri)
    }
    for (const uri of told) {
      if (uris.has(uri)) continue
      await client.unsubscribeResource({ uri }, options)
      told.delete(uri)
    }
  }

  #kinds(): ReadonlySet<ListKind> {
    const followed = [...this.#followers].flatMap(({ kinds }) => [...kinds])
    return new Set([...this.#onListChanged.keys(), ...followed])
  }

  #wantedUris(): ReadonlySet<string> {
    // Sorted: a stream stays when one of two followers of a URI ends.
    const followed = [...this.#followers].flatMap(({ uris }) => [...uris]).sort()
    return new Set([...this.#uris, ...followed])
  }

  #offeredBy(client: Client): SubscriptionFilter {
    return offeredOf(client.getServerCapabilities(), this.#kinds(), this.#wantedUris())
  }

  #unsupported(what: string): MCPClientError {
    const { server } = this.#host
    return new MCPClientError('UNSUPPORTED', `MCP server "${server}" does not notify about ${what}.`, {
      server,
      operation: 'subscriptions/listen',
    })
  }

  #countFailure(since: number): void {
    this.#failures = Date.now() - since >= GOOD_STREAM_MS ? 0 : this.#failures + 1
  }

  #listenAgain(): void {
    const isWanted = this.#wantedUris().size > 0 || this.#kinds().size > 0
    if (this.#isStopped || this.#timer !== undefined || !isWanted) return
    // The first retry is immediate, since sessions end and processes restart in normal operation.
    const delayMs = this.#failures <= 1 ? 0 : backoffMs(this.#failures - 1, RETRIES)
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#request()
        .then(() => this.#tellFollowers(undefined, () => true))
        .catch((error: unknown) => this.#onFailure(error))
    }, delayMs)
  }

  /** Gives up and reports it after repeated failures. */
  #onFailure(error: unknown): void {
    if (this.#isStopped) return
    this.#failures++
    const isFinal = isA(error, MCPClientError) && ['UNSUPPORTED', 'UNAUTHORIZED'].includes(error.code)
    if (!isFinal && this.#failures < MAX_FAILURES) {
      this.#listenAgain()
      return
    }
    const { server } = this.#host
    this.#host.report(
      isA(error, MCPClientError)
        ? error
        : new MCPClientError('REQUEST_FAILED', `MCP server "${server}" no longer notifies about changes.`, {
            server,
            operation: 'subscriptions/listen',
            cause: error,
          }),
    )
  }

  #tell<T>(listeners: Iterable<(value: T) => void>, value: T): void {
    for (const listener of listeners) callListener(listener, value, this.#host)
  }

  #tellFollowers(heard: Heard, isMeant: (follower: Follower) => boolean): void {
    for (const follower of this.#followers)
      if (isMeant(follower)) callListener(follower.listener, heard, this.#host)
  }
}
