/** Limits the streams of changes in one process or isolate, for every kind of server: their number and their memory. */
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'
import { createShares, type Full, fullAnswer, type Holder, type Place } from '../definition/shares.ts'
import type { Key } from '../events/coalesced-changes.ts'
import type { CallLimits, Incoming } from './engine-options.ts'

export interface ListenPlaces {
  /**
   * Takes a slot for a stream that listens to these URIs and lists. Returns a function that frees it. If another caller needs the
   * slot, `end` is called to end the stream, at the earliest after half a minute.
   *
   * @throws ProtocolError if none is free: HTTP status 503, or 429 if the caller holds its share.
   */
  take(keys: Iterable<Key>, incoming: Incoming, end: () => void): () => void
}

/** What the stream stores for each URI besides its characters: 70 to 130 bytes on Node 24. */
const CHARACTERS_PER_URI = 100

/** Milliseconds for which a stream keeps its slot. */
const KEPT_MS = 30_000

export function createListenPlaces(limits: CallLimits): ListenPlaces {
  const { maxListenStreams, maxListenCharacters, callerShare, callerOf } = limits
  const streams = createShares(maxListenStreams, callerShare)
  const characters = createShares(maxListenCharacters, callerShare)
  return {
    take(keys, incoming, end) {
      let own = 0
      for (const key of keys) if (typeof key === 'string') own += key.length + CHARACTERS_PER_URI
      const caller = callerOf(incoming)
      const since = Date.now()
      const holder: Holder = {
        idleSince: () => (Date.now() - since >= KEPT_MS ? since : undefined),
        evict() {
          giveBack()
          end()
        },
      }
      const stream = orThrow(streams.take(caller, 1, holder), 'maxListenStreams')
      const giveBack = (): void => {
        stream.free()
        memory?.free()
      }
      let memory: Place | undefined
      try {
        if (own > 0) memory = orThrow(characters.take(caller, own, holder), 'maxListenCharacters')
      } catch (error) {
        giveBack()
        throw error
      }
      return giveBack
    },
  }
}

function orThrow(place: Place | Full, limit: keyof CallLimits): Place {
  if (typeof place !== 'string') return place
  const { status, message, headers } = fullAnswer(place, 'subscriptions', `http.${limit}`, KEPT_MS / 1000)
  throw new ProtocolError(ErrorCode.internal, message, { limit }, { status, headers })
}
