/** Positions in the log of a type: opaque to clients. The log has a random name, so that one that was lost is noticed. */

export interface Position {
  readonly epoch: string
  readonly seq: number
}

export const toCursor = (epoch: string, seq: number): string => `${epoch}.${seq}`

/** Undefined for a cursor that this server did not create. */
export function readCursor(cursor: string): Position | undefined {
  const [, epoch, seq] = /^([\w-]{1,32})\.(\d{1,12})$/.exec(cursor) ?? []
  return epoch === undefined ? undefined : { epoch, seq: Number(seq) }
}
