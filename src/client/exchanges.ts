/**
 * Which stream of a connection belongs to which call. The official transport passes on what it reads of every stream alike; a
 * server's question has to be known as that of a call, though, or as that of none.
 */
import type { RequestId } from '@modelcontextprotocol/client'
import type { ResponseTooLarge } from './body-limit.ts'
import type { Call } from './call.ts'
import type { EventWatcher } from './event-limit.ts'

/** Carries the tag from the channel to `fetch`, and no further. */
const TAG_HEADER = 'mayfly-exchange'

/** Longer event ids are not worth keeping. */
const MAX_EVENT_ID_LENGTH = 1024

interface Exchange extends EventWatcher {
  readonly call: Call | undefined
  /** Of questions that went by on its streams. */
  readonly questions: Set<RequestId>
  /** Where the stream would be taken up again. */
  eventId: string | undefined
  fault: ResponseTooLarge | undefined
}

export class Exchanges {
  /** What was wrong with a stream that belongs to no call. */
  fault: ResponseTooLarge | undefined
  readonly #byTag = new Map<string, Exchange>()
  #count = 0

  /** What to add to the headers of the request. */
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

  /** Takes the tag off what goes out. */
  untag(headers: Headers): string | undefined {
    const tag = headers.get(TAG_HEADER) ?? undefined
    headers.delete(TAG_HEADER)
    return tag
  }

  /** Who watches the stream that answers a request with this tag, or that goes on after this event. */
  watcher(tag: string | undefined, lastEventId: string | null): EventWatcher {
    const known = tag === undefined ? undefined : this.#byTag.get(tag)
    const resumed = lastEventId === null ? [] : [...this.#byTag.values()]
    return known ?? resumed.find(({ eventId }) => eventId === lastEventId) ?? this.#stranger()
  }

  faultOf(tag: string): ResponseTooLarge | undefined {
    return this.#byTag.get(tag)?.fault
  }

  /** The call on whose stream a question came. */
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

/** More than may be asked at once is not noted, and so not answered. */
const MAX_QUESTIONS = 64

function noteQuestion({ questions }: Exchange, data: string): void {
  if (!data.includes('"method"') || !data.includes('"id"') || questions.size >= MAX_QUESTIONS) return
  try {
    const { id } = JSON.parse(data) as { id?: RequestId }
    if (id !== undefined) questions.add(id)
  } catch {
    // The transport says so.
  }
}
