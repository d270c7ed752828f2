/** What a stream of events has received and its consumer has not taken yet: valid, each event once, and no more than fits in memory. */
import { ProtocolError } from '@modelcontextprotocol/client'
import { isA } from '../definition/error-text.ts'
import { isObject } from '../definition/is-object.ts'
import { MCPClientError, type MCPClientErrorCode } from './errors.ts'
import { isCursor, isEvent } from './event-answers.ts'
import type { ReceivedEvent } from './event-types.ts'
import { printable } from './printable.ts'
import { createRate } from './rate.ts'

/** What the consumer takes. */
export interface StreamedItem {
  readonly event?: ReceivedEvent
  /** Where to continue after it. */
  readonly cursor?: string | undefined
  /** Events before it were left out. */
  readonly isTruncated?: boolean
  /** Characters of the event, or of the cursor. */
  readonly size?: number
}

export interface StreamedEventsHost {
  readonly server: string
  readonly secrets: { hide(text: string): string }
  report(error: MCPClientError): void
}

type Params = { readonly [name: string]: unknown }

const PREFIX = 'notifications/events/'
/** Events that wait for the consumer. */
const MAX_EVENTS = 500
const MAX_CHARACTERS = 8 * 1024 * 1024
/** Ids by which an event that comes again is known. Longer ones are not remembered. */
const MAX_IDS = 1000
const MAX_ID_LENGTH = 256
const REPORTS = { burst: 10, perSecond: 0.2 } as const

export class StreamedEvents {
  /** Where the next request continues: after what was received. */
  cursor: string | null
  /** Why the server has ended the stream for good. */
  refusal: MCPClientError | undefined
  /** Whether no more is taken: the request must end, and another one continues when there is room. */
  isFull = false
  readonly #host: StreamedEventsHost
  readonly #items: StreamedItem[] = []
  readonly #ids = new Set<string>()
  readonly #mayReport = createRate(REPORTS.burst, REPORTS.perSecond)
  /** The error of the server that was reported last, while nothing else comes. */
  #told = ''
  #events = 0
  #characters = 0

  constructor(host: StreamedEventsHost, cursor: string | null) {
    this.#host = host
    this.cursor = cursor
  }

  shift(): StreamedItem | undefined {
    const item = this.#items.shift()
    if (item?.event !== undefined) this.#events--
    this.#characters -= item?.size ?? 0
    return item
  }

  clear(): void {
    this.#items.length = 0
    this.#ids.clear()
  }

  /** Events may be missing between what was received and what follows. */
  truncate(): void {
    this.#mark({ isTruncated: true })
  }

  /** Whether it was a new event. */
  receive(method: string, params: Params): boolean {
    if (this.isFull || this.refusal !== undefined) return false
    switch (method.slice(PREFIX.length)) {
      case 'event':
        return this.#add(params)
      case 'active':
        if (params.truncated === true) this.truncate()
        this.#move(params.cursor)
        return false
      case 'heartbeat':
        this.#told = ''
        this.#move(params.cursor)
        return false
      case 'error':
        this.tell(
          this.#error(
            'REQUEST_FAILED',
            `reported a problem with its events${this.#textOf(params.error)}`,
            params.error,
          ),
        )
        return false
      case 'terminated': {
        const text = `has ended the stream${this.#textOf(params.error)}`
        this.refusal = this.#error('REQUEST_FAILED', text, params.error)
        return false
      }
      default:
        return false
    }
  }

  #add(event: Params): boolean {
    if (!isEvent(event)) {
      if (this.#mayReport())
        this.#host.report(this.#error('MALFORMED', 'sent an invalid event, which is left out', undefined))
      return false
    }
    const { eventId, name, timestamp, data, cursor } = event as ReceivedEvent
    if (this.#ids.has(eventId)) {
      this.#move(cursor)
      return false
    }
    const received = { eventId, name, timestamp, data, ...(isCursor(cursor) && { cursor }) }
    const size = sizeOf(received)
    if (this.#events > 0 && (this.#events >= MAX_EVENTS || this.#characters + size > MAX_CHARACTERS)) {
      this.isFull = true
      return false
    }
    this.#told = ''
    this.#remember(eventId)
    this.#events++
    this.#characters += size
    if (typeof cursor === 'string') this.cursor = cursor
    this.#items.push({ event: received, size, ...(typeof cursor === 'string' && { cursor }) })
    return true
  }

  #remember(id: string): void {
    if (id.length > MAX_ID_LENGTH) return
    this.#ids.add(id)
    if (this.#ids.size > MAX_IDS) for (const oldest of this.#ids) return void this.#ids.delete(oldest)
  }

  #move(cursor: unknown): void {
    if (typeof cursor !== 'string') return
    const last = this.#items.at(-1)
    const replaced = last?.event === undefined ? (last?.size ?? 0) : 0
    const characters = this.#characters - replaced + cursor.length
    if (this.#events > 0 && characters > MAX_CHARACTERS) {
      this.isFull = true
      return
    }
    this.#characters = characters
    this.cursor = cursor
    this.#mark({ cursor, size: cursor.length })
  }

  /** Joined with what says no more than this, so that heartbeats do not pile up. */
  #mark(mark: StreamedItem): void {
    const last = this.#items.at(-1)
    if (last === undefined || last.event !== undefined) this.#items.push(mark)
    else this.#items[this.#items.length - 1] = { ...last, ...mark }
  }

  /** Reports an error of the server once, however often it comes before the next event or heartbeat. */
  tell(error: MCPClientError): void {
    const { code, message, cause } = error
    const told = `${code} ${isA(cause, ProtocolError) ? cause.code : ''} ${message}`
    if (told === this.#told || !this.#mayReport()) return
    this.#told = told
    this.#host.report(error)
  }

  #textOf(problem: unknown): string {
    const message = this.#messageOf(problem)
    return message === '' ? '' : `: ${message}`
  }

  /** A server may send anything: the text of some objects cannot be read. */
  #messageOf(problem: unknown): string {
    const message = isObject(problem) ? problem.message : undefined
    return typeof message === 'string' ? printable(this.#host.secrets.hide(message)) : ''
  }

  #error(code: MCPClientErrorCode, what: string, told: unknown): MCPClientError {
    const { server } = this.#host
    const cause =
      isObject(told) && typeof told.code === 'number'
        ? new ProtocolError(told.code, this.#messageOf(told), told.data)
        : undefined
    return new MCPClientError(code, `MCP server "${server}" ${what}.`, {
      server,
      operation: 'events/stream',
      ...(cause !== undefined && { cause }),
    })
  }
}

/** About the characters that it takes. Without recursion: a server may nest without limit. */
function sizeOf(value: unknown): number {
  let size = 0
  const open: unknown[] = [value]
  while (open.length > 0) {
    const next = open.pop()
    size += typeof next === 'string' ? next.length : 8
    if (next === null || typeof next !== 'object') continue
    for (const [name, child] of Object.entries(next)) {
      size += name.length
      open.push(child)
    }
  }
  return size
}
