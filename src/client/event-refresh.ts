/**
 * Refreshes subscriptions of webhooks before they expire (SEP-3415, "Subscription Identity"): subscribes again with the same parameters,
 * while the client is connected.
 */
import { ProtocolError } from '@modelcontextprotocol/client'
import { backoffMs } from '../definition/backoff.ts'
import { canonicalJson } from '../definition/canonical-json.ts'
import { isA } from '../definition/error-text.ts'
import { MAX_TIMER_MS } from '../definition/timeout.ts'
import type { Names } from '../definition/unknown-option.ts'
import { type Connection, REQUEST_SETTINGS, type RequestSettings } from './connection.ts'
import { onAbort } from './deadline.ts'
import { callListener, MCPClientError } from './errors.ts'
import type { EventSubscription, SubscribedEvents } from './event-types.ts'
import { mayPass } from './retries.ts'

/** Settings of `events.subscribe`. */
export interface EventSubscribeSettings extends RequestSettings {
  /**
   * Subscribes again before `refreshBefore`, with the same parameters and the last cursor of the server, until `unsubscribe` or
   * `disconnect()`, for at most 1000 subscriptions of a client. Another `subscribe` to the same replaces it. The `signal` is for the first
   * request alone. Does not keep a process alive. Default: false.
   */
  readonly refresh?: boolean | undefined
  /**
   * Called once if it is no longer refreshed: the server refuses it, or could not be reached until it expired. Default: the error is
   * reported to `onError`.
   */
  readonly onRefreshFailed?: ((error: MCPClientError) => unknown) | undefined
}

/** The names of `EventSubscribeSettings`. */
export const SUBSCRIBE_SETTINGS: Names<EventSubscribeSettings> = {
  ...REQUEST_SETTINGS,
  refresh: 'boolean',
  onRefreshFailed: 'function',
}

const MAX_REFRESHED = 1000
/** After failures, and after lifetimes in a row that are shorter. */
const DELAYS = { firstMs: 1000, maxMs: 300_000 }
/** Too many subscriptions or requests, and a webhook that does not answer. */
const PASSING_CODES = [-32013, -32015]

/** Sends the subscription. */
type Ask = (cursor: string | null, settings: RequestSettings) => Promise<SubscribedEvents>

/** What is refreshed, by server, URL, event and arguments. */
export class Refreshes {
  readonly #all = new Map<string, Refresh>()
  /** The last call for each. */
  readonly #turns = new Map<string, Promise<void>>()

  /** @throws MCPClientError also for too many that are refreshed. */
  subscribe(
    connection: Connection,
    subscription: EventSubscription,
    settings: EventSubscribeSettings,
    ask: Ask,
  ): Promise<SubscribedEvents> {
    const key = keyOf(connection, subscription)
    return this.#inTurn(key, () => this.#subscribe(key, connection, subscription, settings, ask))
  }

  async #subscribe(
    key: string,
    connection: Connection,
    { cursor = null }: EventSubscription,
    { refresh, onRefreshFailed, ...settings }: EventSubscribeSettings,
    ask: Ask,
  ): Promise<SubscribedEvents> {
    const former = this.#all.get(key)
    let own = former
    if (refresh) {
      if (former === undefined && this.#all.size >= MAX_REFRESHED) throw tooMany(connection.server)
      const end = (error?: MCPClientError): void => {
        if (this.#all.get(key) === own) this.#all.delete(key)
        if (error === undefined) return
        if (onRefreshFailed === undefined) connection.report(error)
        else callListener(onRefreshFailed, error, connection)
      }
      own = new Refresh(connection, cursor, ask, end)
      this.#all.set(key, own)
    }
    try {
      // A request of the former after this one would bring its secret back.
      await former?.pause()
      if (refresh && own !== undefined) return await own.begin(settings)
      const answer = await ask(cursor, settings)
      if (this.#all.get(key) === own) this.#all.delete(key)
      return answer
    } catch (error) {
      if (this.#all.get(key) === own) {
        this.#all.delete(key)
        if (former?.resume()) this.#all.set(key, former)
      }
      throw error
    }
  }

  /** Resolves when no request of it is under way: it would begin again after it was ended. */
  end(connection: Connection, subscription: Subscribed): Promise<void> {
    const key = keyOf(connection, subscription)
    return this.#inTurn(key, async () => {
      const refresh = this.#all.get(key)
      this.#all.delete(key)
      await refresh?.pause()
    })
  }

  /** One call after the other: the last one counts, also for the server, and what it replaces was granted. */
  async #inTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
    const turn = (this.#turns.get(key) ?? Promise.resolve()).then(work)
    const over = turn.then(
      () => {},
      () => {},
    )
    this.#turns.set(key, over)
    try {
      return await turn
    } finally {
      if (this.#turns.get(key) === over) this.#turns.delete(key)
    }
  }
}

type Subscribed = Pick<EventSubscription, 'name' | 'arguments'> & {
  readonly delivery: { readonly url: string }
}

const keyOf = ({ server }: Connection, { name, arguments: args = {}, delivery }: Subscribed): string =>
  JSON.stringify([server, delivery.url, name, canonicalJson(args)])

class Refresh {
  readonly #connection: Connection
  readonly #ask: Ask
  readonly #end: (error?: MCPClientError) => void
  /** The position up to which the server knows all as delivered: after it, a subscription that has lapsed begins again. */
  #cursor: string | null
  /** Epoch milliseconds; undefined before the first answer. */
  #expiresAt: number | undefined
  #timeoutMs: number | undefined
  #isPaused = false
  /** Lifetimes in a row that were too short; attempts in a row that failed. */
  #soon = 0
  #failures = 0
  #cancel: (() => void) | undefined
  #running: Promise<void> | undefined

  constructor(
    connection: Connection,
    cursor: string | null,
    ask: Ask,
    end: (error?: MCPClientError) => void,
  ) {
    this.#connection = connection
    this.#cursor = cursor
    this.#ask = ask
    this.#end = end
  }

  /** Sends the first request. */
  async begin(settings: RequestSettings): Promise<SubscribedEvents> {
    this.#timeoutMs = settings.timeoutMs
    const asked = this.#ask(this.#cursor, settings)
    this.#running = asked.then(
      () => {},
      () => {},
    )
    const answer = await asked
    this.#schedule(answer)
    return answer
  }

  #schedule({ refreshBefore, cursor }: SubscribedEvents): void {
    this.#cursor = cursor ?? this.#cursor
    this.#failures = 0
    if (refreshBefore === null) {
      this.#end()
      return
    }
    this.#expiresAt = Date.parse(refreshBefore)
    const ms = (this.#expiresAt - Date.now()) * (0.6 + Math.random() / 10)
    const leastMs = backoffMs(this.#soon + 1, DELAYS)
    this.#soon = ms < leastMs ? this.#soon + 1 : 0
    this.#later(Math.max(ms, leastMs))
  }

  /** Resolves when the request under way has ended. */
  async pause(): Promise<void> {
    this.#isPaused = true
    this.#cancel?.()
    await this.#running
  }

  /** False if it was never granted. */
  resume(): boolean {
    this.#isPaused = false
    if (this.#expiresAt !== undefined) this.#later(DELAYS.firstMs)
    return this.#expiresAt !== undefined
  }

  /** A timer that does not keep its process alive. */
  #later(ms: number): void {
    const { ended } = this.#connection
    if (this.#isPaused || ended.aborted) return
    const timer = setTimeout(
      () => {
        stop()
        this.#running = this.#attempt()
      },
      Math.min(ms, MAX_TIMER_MS),
    )
    ;(timer as { unref?: () => void }).unref?.()
    const stop = onAbort(ended, () => clearTimeout(timer))
    this.#cancel = () => {
      clearTimeout(timer)
      stop()
    }
  }

  async #attempt(): Promise<void> {
    try {
      this.#schedule(await this.#ask(this.#cursor, { timeoutMs: this.#timeoutMs }))
    } catch (error) {
      if (this.#isPaused || this.#connection.ended.aborted) return
      const leftMs = (this.#expiresAt ?? 0) - Date.now()
      if (leftMs <= 0 || !isTemporary(error)) return this.#end(error as MCPClientError)
      const ms = backoffMs(++this.#failures, DELAYS) * (0.9 + Math.random() / 10)
      this.#later(Math.min(ms, leftMs))
    }
  }
}

function isTemporary(error: unknown): boolean {
  const cause = isA(error, MCPClientError) ? error.cause : undefined
  return mayPass(error) || (isA(cause, ProtocolError) && PASSING_CODES.includes(cause.code))
}

function tooMany(server: string): MCPClientError {
  return new MCPClientError(
    'REQUEST_FAILED',
    `This MCPClient already refreshes ${MAX_REFRESHED} subscriptions: unsubscribe some, or subscribe with another client.`,
    { server, operation: 'events/subscribe' },
  )
}
