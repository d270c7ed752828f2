/**
 * `client.events.stream`: one or more requests of `events/stream` (SEP-3415, "Push-Based Delivery") as one iterator. It does everything
 * within `next()`: a consumer that is busy, or forgot the iterator, causes no request.
 */
import {
  type Client,
  type JSONRPCNotification,
  ProtocolError,
  type RequestOptions,
} from '@modelcontextprotocol/client'
import { isA } from '../definition/error-text.ts'
import type { Names } from '../definition/unknown-option.ts'
import { ANYTHING } from './anything.ts'
import { Call } from './call.ts'
import { type CallParams, type Connection, REQUEST_SETTINGS, type RequestSettings } from './connection.ts'
import { onAbort } from './deadline.ts'
import { callListener } from './errors.ts'
import { DONE, EventIterator, type EventReader, type EventStream } from './event-iterator.ts'
import { orUnsupported } from './event-requests.ts'
import type { EventStreamSelection, ReceivedEvent } from './event-types.ts'
import { reopeningMs, SOON_MS } from './reconnection.ts'
import { mayPass, sleep } from './retries.ts'
import { type CursorStorage, StoredCursor } from './stored-cursor.ts'
import { StreamedEvents } from './streamed-events.ts'

/** Settings of `events.stream`. */
export interface EventStreamSettings extends RequestSettings {
  /** Ends the stream: `next()` rejects with `ABORTED`. */
  readonly signal?: AbortSignal | undefined
  /** Milliseconds until each of its requests has begun. Default: the server's `timeoutMs`. */
  readonly timeoutMs?: number | undefined
  /** Called where events were left out, between those before and after them: read again what they told about. */
  readonly onTruncated?: (() => unknown) | undefined
  /**
   * Stores where to continue, for the server's URL, the event and its arguments: one storage, or prefix of its keys, for each user. A stream
   * without `cursor` begins with what is stored. An event counts as processed when the `next()` after it is called, or `return()` of the
   * stream. After `break` or an error in a `for await` loop, the last event comes again. Each answer has 10 seconds.
   */
  readonly cursors?: CursorStorage | undefined
}

/** The names of `EventStreamSettings`. */
export const STREAM_SETTINGS: Names<EventStreamSettings> = {
  ...REQUEST_SETTINGS,
  onTruncated: 'function',
  cursors: 'object',
}

const METHOD = 'events/stream'
/** A server sends something every 30 seconds. After this time its stream is opened again. */
const SILENCE_MS = 90_000
/** Attempts in a row. */
const MAX_FAILURES = 7

/** One request. */
interface Open {
  readonly controller: AbortController
  readonly openedAt: number
  heardAt: number
  /** Whether it has brought an event. */
  isFruitful: boolean
}

export function openEventStream(
  connection: Connection,
  selection: EventStreamSelection,
  settings: EventStreamSettings = {},
): EventStream {
  return new EventIterator(new EventStreamReader(connection, selection, settings))
}

class EventStreamReader implements EventReader {
  cursor: string | null
  returned = 0
  readonly #connection: Connection
  readonly #selection: EventStreamSelection
  readonly #settings: EventStreamSettings
  readonly #received: StreamedEvents
  readonly #cursors: StoredCursor | undefined
  readonly #over = new AbortController()
  readonly #removals: (() => void)[]
  #open: Open | undefined
  /** Whether a request has begun, ever. */
  #hasBegun = false
  #isEnded = false
  /** Whether the stored cursor is still to be read. */
  #isUnread: boolean
  /** Streams in a row that ended soon; attempts in a row that failed. */
  #soon = 0
  #failures = 0
  /** Of the last stream: whether it brought events, and when it ended. */
  #wasFruitful = false
  #endedAt = 0
  #wake: (() => void) | undefined

  constructor(connection: Connection, selection: EventStreamSelection, settings: EventStreamSettings) {
    this.#connection = connection
    this.#selection = selection
    this.#settings = settings
    this.cursor = selection.cursor ?? null
    this.#received = new StreamedEvents(connection, this.cursor)
    const { cursors } = settings
    this.#cursors = cursors && new StoredCursor(connection, selection, cursors)
    this.#isUnread = selection.cursor === undefined
    const signals = [connection.ended, settings.signal].filter((one) => one !== undefined)
    this.#removals = signals.map((one) => onAbort(one, () => this.#abort(one.reason)))
    for (const one of signals) if (one.aborted) this.#abort(one.reason)
  }

  async next(processed: number): Promise<IteratorResult<ReceivedEvent, undefined>> {
    if (this.#isEnded) return DONE
    try {
      if (this.#isUnread) await this.#load()
      const cursors = processed === this.returned ? this.#cursors : undefined
      await cursors?.save(this.cursor)
      const value = await this.#take(cursors)
      this.returned++
      return { done: false, value }
    } catch (error) {
      const wasEnded = this.#isEnded
      this.end()
      if (wasEnded) return DONE
      throw this.#connection.toError(METHOD, error, this.#settings.signal)
    }
  }

  async #load(): Promise<void> {
    const stored = await this.#cursors?.load()
    if (this.#cursors !== undefined && stored === undefined) this.#received.truncate()
    this.cursor = stored ?? null
    this.#received.cursor = this.cursor
    this.#isUnread = false
  }

  async finish(waiting: Promise<unknown>): Promise<void> {
    const wasEnded = this.#isEnded
    this.end()
    if (wasEnded || this.#cursors === undefined) return
    await waiting
    await this.#cursors.save(this.cursor)
  }

  end(): void {
    this.#isEnded = true
    for (const remove of this.#removals) remove()
    this.#abort(undefined)
    this.#received.clear()
  }

  #abort(reason: unknown): void {
    this.#over.abort(reason)
    this.#close()
  }

  /** @param cursors If all that was returned is processed. */
  async #take(cursors: StoredCursor | undefined): Promise<ReceivedEvent> {
    const { signal } = this.#over
    for (;;) {
      signal.throwIfAborted()
      const item = this.#received.shift()
      if (item === undefined) {
        if (this.#received.refusal !== undefined) throw this.#received.refusal
        if (cursors?.isDue(this.cursor)) await cursors.save(this.cursor)
        else await (this.#open === undefined ? this.#reopen() : this.#untilHeard(this.#open))
        continue
      }
      if (item.cursor !== undefined) this.cursor = item.cursor
      if (item.isTruncated) {
        const { onTruncated } = this.#settings
        if (onTruncated !== undefined) callListener(onTruncated, undefined, this.#connection)
      }
      if (item.event !== undefined) return item.event
    }
  }

  /** Until something was received, or the request has ended. */
  async #untilHeard(open: Open): Promise<void> {
    const silentMs = SILENCE_MS - (Date.now() - open.heardAt)
    if (silentMs <= 0) return this.#close()
    let timer: ReturnType<typeof setTimeout> | undefined
    await new Promise<void>((resolve) => {
      this.#wake = resolve
      timer = setTimeout(resolve, silentMs)
    })
    this.#wake = undefined
    clearTimeout(timer)
  }

  async #reopen(): Promise<void> {
    const { signal } = this.#over
    // What this client has ended because it had enough is continued at once.
    if (this.#received.isFull) this.#received.isFull = false
    else if (this.#hasBegun) await sleep(this.#pauseMs(), signal)
    try {
      await this.#request()
      this.#failures = 0
      this.#hasBegun = true
    } catch (error) {
      this.#close()
      this.#endedAt = Date.now()
      if (signal.aborted || !this.#hasBegun || !mayPass(error) || ++this.#failures >= MAX_FAILURES)
        throw error
    }
  }

  /** What is left of the pause: the time in which the consumer handled events is part of it. */
  #pauseMs(): number {
    // The first one that ends soon may have been cut off by a restart of the server.
    const soon = this.#wasFruitful ? this.#soon - 1 : this.#soon
    const passedMs = Math.max(0, Date.now() - this.#endedAt)
    return Math.max(0, reopeningMs(Math.max(0, soon, this.#failures)) - passedMs)
  }

  /** Resolves when the server has accepted it. */
  #request(): Promise<void> {
    const { server } = this.#connection
    const { signal } = this.#over
    const call = new Call()
    return orUnsupported({ server, operation: METHOD }, () =>
      this.#connection.request(
        METHOD,
        (client, options, extra) => this.#begin(client, options, extra, call),
        { signal, timeoutMs: this.#settings.timeoutMs },
        call,
      ),
    )
  }

  async #begin(client: Client, options: RequestOptions, extra: CallParams, call: Call): Promise<void> {
    const { name, arguments: args = {}, maxAgeMs } = this.#selection
    const { cursor } = this.#received
    // Without a cursor, the server cannot know what was missed.
    const isBlind = this.#hasBegun && cursor === null
    const age = maxAgeMs === undefined || this.#hasBegun ? {} : { maxAgeMs }
    const controller = new AbortController()
    const open: Open = { controller, openedAt: Date.now(), heardAt: Date.now(), isFruitful: false }
    const { signal } = controller
    const stop = onAbort(options.signal!, () => controller.abort())
    try {
      await new Promise<void>((resolve, reject) => {
        call.onStreamed = (message) => {
          if (signal.aborted) return
          if (this.#open !== open && isBlind) this.#received.truncate()
          this.#open = open
          this.#hear(open, message)
          resolve()
        }
        const params = { name, arguments: args, cursor, ...age, ...extra }
        client
          .request({ method: METHOD, params }, ANYTHING, { ...options, signal, allowInputRequired: true })
          .then(() => {
            throw new Error('the server ended the stream before it was active')
          })
          .catch((error: unknown) => {
            reject(error)
            this.#onEnd(open, error)
          })
      })
    } finally {
      stop()
    }
  }

  #hear(open: Open, { method, params = {} }: JSONRPCNotification): void {
    open.heardAt = Date.now()
    if (this.#received.receive(method, params)) open.isFruitful = true
    if (this.#received.isFull || this.#received.refusal !== undefined) this.#close()
    this.#wake?.()
  }

  #onEnd(open: Open, error: unknown): void {
    if (this.#open !== open) return
    const settled = this.#connection.toError(METHOD, error, undefined)
    // After the same cursor, the same event would come again.
    if (settled.code === 'RESPONSE_TOO_LARGE') this.#received.refusal = settled
    // A stream that is cut off has not failed: it continues.
    else if (isAnswer(error)) this.#received.tell(settled)
    this.#open = undefined
    this.#endedAt = Date.now()
    this.#soon = hasLasted(open) ? 0 : this.#soon + 1
    this.#wasFruitful = open.isFruitful
    this.#wake?.()
  }

  /** Ends the request, at the server too. */
  #close(): void {
    const open = this.#open
    this.#open = undefined
    if (open !== undefined && hasLasted(open)) this.#soon = 0
    open?.controller.abort()
    this.#wake?.()
  }
}

/** Whether the server has sent it: an error of this client is the `data` of one of the protocol. */
const isAnswer = (error: unknown): boolean => isA(error, ProtocolError) && !isA(error.data, Error)

const hasLasted = ({ openedAt }: Open): boolean => Date.now() - openedAt >= SOON_MS
