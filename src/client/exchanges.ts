/**
 * Maps the streams of a connection to calls. The official transport does not report the stream of a message, but a server's question must
 * be matched with its call, or with none.
 */
import type { RequestId } from '@modelcontextprotocol/client'
import type { ResponseTooLarge } from './body-limit.ts'
import type { Call } from './call.ts'
import type { EventWatcher } from './event-limit.ts'

/** Carries the tag from the channel to `fetch`, where it is removed. */
const TAG_HEADER = 'mayfly-exchange'

/** Longer event ids are not stored. */
const MAX_EVENT_ID_LENGTH = 1024

interface Exchange extends EventWatcher {
  readonly call: Call | undefined
  /** The ids of questions on its streams. */
  readonly questions: Set<RequestId>
  /** The event after which the stream would be resumed. */
  eventId: string | undefined
  fault: ResponseTooLarge | undefined
}

export class Exchanges {
  /** The error of a stream without a call. */
  fault: ResponseTooLarge | undefined
  readonly #byTag = new Map<string, Exchange>()
  #count = 0

  /** Returns headers to add to the request. */
  begin(call: Call | undefined): {
    readonly tag: string
    readonly headers: { readonly [name: string]: string }
  } {
    const tag = `${this.#count++}`
    const exchange: Exchange = {
      call,
      questions: new Set(),
      eventId: undefined,
      fault: undefined,
      onId: (id) => {
        if (id.length <= MAX_EVENT_ID_LENGTH) exchange.eventId = id
      },
      onData: (data) => noteQuestion(exchange, data),
      onTooLarge: (fault) => {
        exchange.fault = fault
      },
    }
    this.#byTag.set(tag, exchange)
    return { tag, headers: { [TAG_HEADER]: tag } }
  }

  end(tag: string): void {
    this.#byTag.delete(tag)
  }

  /** Removes the tag from outgoing headers, and returns it. */
  untag(headers: Headers): string | undefined {
    const tag = headers.get(TAG_HEADER) ?? undefined
    headers.delete(TAG_HEADER)
    return tag
  }

  /** The watcher for a stream that answers the request with this tag, or that resumes after this event. */
  watcher(tag: string | undefined, lastEventId: string | null): EventWatcher {
    const known = tag === undefined ? undefined : this.#byTag.get(tag)
    const resumed = lastEventId === null ? [] : [...this.#byTag.values()]
    return known ?? resumed.find(({ eventId }) => eventId === lastEventId) ?? this.#stranger()
  }

  faultOf(tag: string): ResponseTooLarge | undefined {
    return this.#byTag.get(tag)?.fault
  }

  /** The call on whose stream a question arrived; undefined if there is none. */
  askerOf(question: RequestId): Call | undefined {
    for (const { call, questions } of this.#byTag.values()) if (questions.has(question)) return call
    return undefined
  }

  #stranger(): EventWatcher {
    return {
      onTooLarge: (fault) => {
        this.fault = fault
      },
    }
  }
}

/** More questions than may be asked at once are not recorded, and so not answered. */
const MAX_QUESTIONS = 64

function noteQuestion({ questions }: Exchange, data: string): void {
  if (!data.includes('"method"') || !data.includes('"id"') || questions.size >= MAX_QUESTIONS) return
  try {
    const { id } = JSON.parse(data) as { id?: RequestId }
    if (id !== undefined) questions.add(id)
  } catch {
    // Invalid JSON: the transport reports it.
  }
}
