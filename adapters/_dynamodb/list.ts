/** The list of all tasks, which reads the table: a page is what one scan has looked at, and may be empty. */
import { fromBase64Url, toBase64Url } from '../../src/definition/base64.ts'
import type { StoredTask, TaskStore } from '../../src/tasks/store.ts'
import { CursorError } from '../../src/tasks/stored.ts'
import type { KeptItem } from './client.ts'
import type { Table } from './table.ts'

/** @param begin of the keys of tasks. */
export function listOf(
  scan: NonNullable<Table['scan']>,
  begin: string,
  now: () => number,
  toTask: (id: string, item: KeptItem) => StoredTask,
): NonNullable<TaskStore['list']> {
  return async ({ server, after, limit }) => {
    const start = after === undefined ? undefined : fromBase64Url(after)
    if (after !== undefined && (start === undefined || start.length === 0)) throw new CursorError()
    const isKept = '(attribute_not_exists(#expiresAt) OR #expiresAt > :now)'
    const isOwn = server === undefined ? '' : ' AND (attribute_not_exists(#server) OR #server = :server)'
    const { items, next } = await scan(
      begin,
      isKept + isOwn,
      { '#expiresAt': 'expiresAt', ...(server !== undefined && { '#server': 'server' }) },
      { ':now': { N: String(now()) }, ...(server !== undefined && { ':server': { S: server } }) },
      limit,
      start && new TextDecoder().decode(start),
    )
    const tasks = items.map(([key, item]) => toTask(key.slice(begin.length), item))
    return { tasks, ...(next !== undefined && { next: toBase64Url(new TextEncoder().encode(next)) }) }
  }
}
