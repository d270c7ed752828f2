/** The slots of an owner's open tasks in the storage of a Durable Object. Synchronous, so that no other code runs in between. */
import { SUSPECT_AFTER_MS, SUSPECTS, type Taken } from '../_tasks/slots.ts'
import type { ObjectStorage } from './durable-object.ts'
import type { SlotOf } from './task-wire.ts'

export interface OpenTasks {
  take(task: SlotOf, maxOpen: number, now: number): Taken
  keep(task: SlotOf, now: number): void
  /** Returns how many are left. */
  free(ids: readonly string[]): number
  /** Deletes expired slots. Returns when the last remaining one expires; undefined if there is none. */
  clean(now: number): number | undefined
}

export function createOpenTasks({ sql }: ObjectStorage): OpenTasks {
  const createTable = () =>
    sql.exec(
      'CREATE TABLE IF NOT EXISTS open (id TEXT PRIMARY KEY, expires_at INTEGER, taken_at INTEGER NOT NULL)',
    )
  const removeExpired = (now: number) =>
    sql.exec('DELETE FROM open WHERE expires_at <= ? RETURNING id', now).toArray().length
  /** Counted once in the life of the object, since reading rows costs. */
  let open: number | undefined
  const count = (): number => Number(sql.exec('SELECT count(*) AS count FROM open').toArray()[0]!.count)

  const keep = ({ id, expiresAt }: SlotOf, now: number): void => {
    createTable()
    open ??= count()
    const known = sql
      .exec('UPDATE open SET expires_at = ? WHERE id = ? RETURNING id', expiresAt, id)
      .toArray()
    if (known.length > 0) return
    sql.exec('INSERT INTO open (id, expires_at, taken_at) VALUES (?, ?, ?)', id, expiresAt, now)
    open++
  }
  return {
    keep,
    take(task, maxOpen, now) {
      createTable()
      open ??= count()
      const isKnown = sql.exec('SELECT id FROM open WHERE id = ?', task.id).toArray().length > 0
      if (!isKnown && open >= maxOpen) open -= removeExpired(now)
      if (!isKnown && open >= maxOpen) {
        const query = 'SELECT id FROM open WHERE taken_at <= ? ORDER BY random() LIMIT ?'
        const suspects = sql.exec(query, now - SUSPECT_AFTER_MS, SUSPECTS).toArray()
        return { isTaken: false, suspects: suspects.map(({ id }) => String(id)) }
      }
      keep(task, now)
      return { isTaken: true, isNew: !isKnown }
    },
    free(ids) {
      createTable()
      open ??= count()
      for (const id of ids)
        open -= sql.exec('DELETE FROM open WHERE id = ? RETURNING id', id).toArray().length
      return open
    },
    clean(now) {
      createTable()
      removeExpired(now)
      open = count()
      const [row] = sql
        .exec('SELECT max(ifnull(expires_at, ?)) AS last FROM open', Number.MAX_SAFE_INTEGER)
        .toArray()
      return open === 0 ? undefined : Number(row!.last)
    },
  }
}
