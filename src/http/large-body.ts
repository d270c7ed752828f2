/** Reads bodies that are large, or not declared as small: a part that is loaded with the first of them. */
import { createShares, type Place } from '../definition/shares.ts'
import type { Admitted } from '../protocol/engine-options.ts'
import type { Sharing } from '../request/sharing.ts'
import type { Body, NoRoom } from './body.ts'
import { type Reserve, readBody } from './body-pieces.ts'

export interface BodyOptions extends Sharing {
  readonly maxBodyBytes: number
  /** Maximum bytes of all larger bodies that are arriving. */
  readonly maxBufferedBytes: number
  /** Milliseconds that a body may take to arrive. */
  readonly bodyTimeoutMs: number
}

export type ReadLarge = (admitted: Admitted) => Promise<Body | NoRoom>

export function createReadLarge(options: BodyOptions): ReadLarge {
  const buffers = createShares(options.maxBufferedBytes, options.callerShare)
  return async (admitted) => {
    let place: Place | undefined
    const reserve: Reserve = (bytes) => {
      if (place !== undefined) return place.grow(bytes)
      const taken = buffers.take(options.callerOf(admitted), bytes)
      if (typeof taken === 'string') return taken
      place = taken
      return undefined
    }
    const { maxBodyBytes, bodyTimeoutMs } = options
    const body = await readBody(admitted.request, maxBodyBytes, bodyTimeoutMs, reserve)
    place?.free()
    return body
  }
}
