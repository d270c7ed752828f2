/** What the admin refuses. */

/**
 * - `UNKNOWN_LETTER`: there is no such dead letter, or it was deleted: after a week, or because of newer ones.
 * - `EVENT_GONE`: its event is not stored any more.
 * - `SUBSCRIPTION_GONE`: its subscription has ended.
 * - `QUEUE_FULL`: too many events wait for its subscription.
 */
export type EventAdminCode = 'UNKNOWN_LETTER' | 'EVENT_GONE' | 'SUBSCRIPTION_GONE' | 'QUEUE_FULL'

/** A refusal of `mayfly-mcp/events-admin`, which changed nothing. Match `code`; the text of `message` may change. */
export class EventAdminError extends Error {
  override readonly name = 'EventAdminError'
  readonly code: EventAdminCode

  constructor(code: EventAdminCode, message: string) {
    super(message)
    this.code = code
  }
}
