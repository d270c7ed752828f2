/**
 * Cursor pagination (MCP 2026-07-28, "Pagination"). A cursor is the offset of the next page, opaque to clients.
 */
import { asMembers, type JsonMembers } from '../definition/json-members.ts'
import { invalidParams } from '../definition/protocol-error.ts'
import { optionalStringParam, type Params } from './params.ts'

/** Reads `cursor`: the offset of the requested page. @throws ProtocolError `-32602` for a cursor that this server did not create. */
export function pageStart(params: Params, total: number, pageSize: number): number {
  const cursor = optionalStringParam(params, 'cursor')
  if (cursor === undefined) return 0
  const offset = /^p[1-9]\d{0,8}$/.test(cursor) ? Number(cursor.slice(1)) : Number.NaN
  // Cursors always point to the start of a page.
  if (!(offset < total && offset % pageSize === 0)) {
    throw invalidParams('Invalid params: "cursor" does not come from this server. List again from the start.')
  }
  return offset
}

/** A page of serialized items, as the members of its result. */
export function pageMembers(
  name: string,
  items: readonly string[],
  start: number,
  pageSize: number,
): JsonMembers {
  const end = start + pageSize
  const page = start === 0 && end >= items.length ? items : items.slice(start, end)
  const next = end < items.length ? `,"nextCursor":"p${end}"` : ''
  return asMembers(`"${name}":[${page.join(',')}]${next}`)
}
