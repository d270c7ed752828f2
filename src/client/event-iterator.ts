/** The iterator of `client.events.stream`. */
import type { ReceivedEvent } from './event-types.ts'

/** What `events.stream` returns. */
export interface EventStream extends AsyncIterableIterator<ReceivedEvent, undefined> {
  /** Where to continue after the events that `next()` has returned so far. Null: not known. */
  readonly cursor: string | null
  /** Ends the stream, at the server too. With `cursors`, what `next()` has returned counts as processed. */
  return(): Promise<IteratorResult<ReceivedEvent, undefined>>
}

/** What it reads from. */
export interface EventReader {
  /** After what was returned. */
  readonly cursor: string | null
  /** How many events were returned. */
  readonly returned: number
  /** @param processed `returned` when it was asked for: if it is less than now, some are not processed yet. */
  next(processed: number): Promise<IteratorResult<ReceivedEvent, undefined>>
  end(): void
  /** Ends it, and stores that all is processed, after the calls that still wait. */
  finish(waiting: Promise<unknown>): Promise<void>
}

export const DONE = Object.freeze({ done: true, value: undefined } as const)

export class EventIterator implements EventStream {
  readonly #reader: EventReader
  /** The iterator's calls one after the other. */
  #turn: Promise<unknown> = Promise.resolve()

  constructor(reader: EventReader) {
    this.#reader = reader
  }

  get cursor(): string | null {
    return this.#reader.cursor
  }

  next(): Promise<IteratorResult<ReceivedEvent, undefined>> {
    // Those of a call that still waits are not processed yet.
    const { returned } = this.#reader
    const next = this.#turn.then(() => this.#reader.next(returned))
    this.#turn = next.catch(() => {})
    return next
  }

  async return(): Promise<IteratorResult<ReceivedEvent, undefined>> {
    await this.#reader.finish(this.#turn)
    return DONE
  }

  /** Another object, since `break` and `throw` in a loop call the same method: then nobody knows whether its event is processed. */
  [Symbol.asyncIterator](): AsyncIterableIterator<ReceivedEvent, undefined> {
    const iterator: AsyncIterableIterator<ReceivedEvent, undefined> = {
      next: () => this.next(),
      return: async () => {
        this.#reader.end()
        return DONE
      },
      [Symbol.asyncIterator]: () => iterator,
    }
    return iterator
  }
}
