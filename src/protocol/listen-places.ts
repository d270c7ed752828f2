/** Limits the streams of changes in one process or isolate, for every kind of server: their number and their memory. */
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'
import type { Key } from '../events/coalesced-changes.ts'
import type { CallLimits } from './engine-options.ts'

export interface ListenPlaces {
  /**
   * Takes a slot for a stream that listens to these URIs and lists. Returns a function that frees it.
   *
   * @throws ProtocolError if none is free, HTTP status 503.
   */
  take(keys: Iterable<Key>): () => void
}

/** What the stream stores for each URI besides its characters: 70 to 130 bytes on Node 24. */
const CHARACTERS_PER_URI = 100

export function createListenPlaces(limits: CallLimits): ListenPlaces {
  const { maxListenStreams, maxListenCharacters } = limits
  let streams = 0
  let characters = 0
  return {
    take(keys) {
      let own = 0
      for (const key of keys) if (typeof key === 'string') own += key.length + CHARACTERS_PER_URI
      if (streams >= maxListenStreams) throw full('maxListenStreams')
      if (characters + own > maxListenCharacters) throw full('maxListenCharacters')
      streams++
      characters += own
      return () => {
        streams--
        characters -= own
      }
    },
  }
}

function full(limit: keyof CallLimits): ProtocolError {
  return new ProtocolError(
    ErrorCode.internal,
    `Too many subscriptions ("http.${limit}"): try again later.`,
    { limit },
    { status: 503 },
  )
}
