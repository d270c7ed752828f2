/** Tasks as rows of the table, and back. */
import type { StoredTask } from '../../src/tasks/store.ts'

export type Row = { readonly [column: string]: unknown }

export function toValues(task: StoredTask): (string | number | boolean | null)[] {
  const { id, owner, version, isOpen, dueAt, expiresAt, state, server = null } = task
  const time = (at: number | null): number | null => (at === null ? null : Math.ceil(at))
  return [id, owner, version, isOpen, time(dueAt), time(expiresAt), state, server]
}

export function toTask({ id, owner, version, is_open, due_at, expires_at, state, server }: Row): StoredTask {
  const time = (at: unknown): number | null => (at === null ? null : Number(at))
  return {
    id: String(id),
    owner: String(owner),
    ...(typeof server === 'string' && { server }),
    version: Number(version),
    isOpen: is_open === true,
    dueAt: time(due_at),
    expiresAt: time(expires_at),
    state: String(state),
  }
}
