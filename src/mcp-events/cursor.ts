/**
 * Positions in the log of a type, and in the history of its upstream: opaque to clients. The log has a random name, so that one that was lost
 * is noticed.
 */
import { fromBase64Url, toBase64Url } from '../definition/base64.ts'

export interface Position {
  /** Empty: a position in the history alone. */
  readonly epoch: string
  readonly seq: number
  /** Where `replay` of the event continues, if the log does not have the position any more. */
  readonly upstream?: string | undefined
}

/** Bytes of the cursor of an upstream. */
export const MAX_UPSTREAM_BYTES = 1024

export const toCursor = (epoch: string, seq: number): string => `${epoch}.${seq}`

export function cursorOf({ epoch, seq, upstream }: Position): string {
  const own = epoch === '' ? '' : toCursor(epoch, seq)
  return upstream === undefined ? own : `${own}~${toBase64Url(new TextEncoder().encode(upstream))}`
}

/** Undefined for a cursor that this server did not create. */
export function readCursor(cursor: string): Position | undefined {
  const [text, , epoch = '', seq = '0', encoded] =
    /^(([\w-]{1,32})\.(\d{1,12}))?(?:~([\w-]{0,1366}))?$/.exec(cursor) ?? []
  if (!text) return undefined
  if (encoded === undefined) return { epoch, seq: Number(seq) }
  const upstream = decode(encoded)
  return upstream === undefined ? undefined : { epoch, seq: Number(seq), upstream }
}

function decode(encoded: string): string | undefined {
  const bytes = fromBase64Url(encoded)
  if (bytes === undefined) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}
