/** What the admin refuses. */

/**
 * - `UNKNOWN_TASK`: there is no such task, it was deleted after its `ttlMs`, or it belongs to another server.
 * - `COMPLETED`, `CANCELLED`: it ended without an error, so nothing is tried again.
 * - `NOT_KEPT`: it failed, and what another run needs did not fit in the store, or an older version did not keep it.
 * - `UNCONFIRMED`: its call still goes on.
 * - `UNREADABLE`: it is damaged, or a newer version wrote it.
 * - `CANNOT_LIST`: the store has no list of all tasks.
 */
export type TaskAdminCode =
  | 'UNKNOWN_TASK'
  | 'COMPLETED'
  | 'CANCELLED'
  | 'NOT_KEPT'
  | 'UNCONFIRMED'
  | 'UNREADABLE'
  | 'CANNOT_LIST'

/** A refusal of `mayfly-mcp/tasks-admin`, which changed nothing. Match `code`; the text of `message` may change. */
export class TaskAdminError extends Error {
  override readonly name = 'TaskAdminError'
  readonly code: TaskAdminCode

  constructor(code: TaskAdminCode, message: string) {
    super(message)
    this.code = code
  }
}
