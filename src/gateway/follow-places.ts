/** The resources of a process that are followed, shared among callers: they have one connection, and its server takes a limited number. */
import { printable } from '../client/printable.ts'
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'
import { createShares } from '../definition/shares.ts'
import { MAX_SUBSCRIBED_CHARACTERS, MAX_SUBSCRIBED_URIS } from '../events/listen-filter.ts'
import { FAILED } from './failure.ts'

export interface FollowPlaces {
  /**
   * Takes a place for each URI that nobody follows yet. Returns a function that frees them.
   *
   * @param caller Undefined: one who cannot be told from others. @throws ProtocolError naming the URIs that do not fit; none is taken then.
   */
  take(uris: readonly string[], caller: string | undefined): () => void
}

interface Held {
  count: number
  free(): void
}

/** The part of the places left by others that one caller may hold. */
const SHARE = 0.5
/** Maximum URIs in the error. */
const MAX_NAMED = 5

export function createFollowPlaces(server: string): FollowPlaces {
  const numbers = createShares(MAX_SUBSCRIBED_URIS, SHARE)
  const characters = createShares(MAX_SUBSCRIBED_CHARACTERS, SHARE)
  const held = new Map<string, Held>()

  const hold = (uri: string, caller: string | undefined): boolean => {
    const known = held.get(uri)
    if (known !== undefined) {
      known.count++
      return true
    }
    const place = numbers.take(caller)
    if (typeof place === 'string') return false
    const length = characters.take(caller, uri.length)
    if (typeof length === 'string') {
      place.free()
      return false
    }
    const free = (): void => {
      place.free()
      length.free()
    }
    held.set(uri, { count: 1, free })
    return true
  }

  const release = (uri: string): void => {
    const known = held.get(uri)
    if (known === undefined || --known.count > 0) return
    held.delete(uri)
    known.free()
  }

  return {
    take(uris, caller) {
      const taken: string[] = []
      for (const uri of uris) if (hold(uri, caller)) taken.push(uri)
      const giveBack = (): void => {
        for (const uri of taken.splice(0)) release(uri)
      }
      if (taken.length === uris.length) return giveBack
      const fitting = new Set(taken)
      const missing = uris.filter((uri) => !fitting.has(uri)).slice(0, MAX_NAMED)
      const more = uris.length - taken.length - missing.length
      giveBack()
      throw refusal(server, missing, more)
    },
  }
}

function refusal(server: string, uris: readonly string[], more: number): ProtocolError {
  const named = uris.map((uri) => printable(uri, 100)).join(', ')
  const text = `The server "${server}" behind this one cannot follow more resources for you: subscribe without ${named}${more > 0 ? ` and ${more} more` : ''}.`
  return new ProtocolError(ErrorCode.internal, text, { [FAILED]: { server, uris } }, { status: 429 })
}
