/** The requests of an operator to an endpoint of events: `?list`, `?show=<id>` and `?redeliver=<id>`. */
import { isA } from '../../definition/error-text.ts'
import type { AdminActions } from '../../tasks/admin/gate.ts'
import { type Action, METHODS, NUMBERS, TEXTS } from './actions.ts'
import { checkList, type DeadLetterListOptions } from './operations.ts'
import { type EventAdminCode, EventAdminError } from './refusal.ts'

const STATUS: { readonly [code in EventAdminCode]: number } = {
  UNKNOWN_LETTER: 404,
  EVENT_GONE: 409,
  SUBSCRIPTION_GONE: 409,
  QUEUE_FULL: 409,
}

export const EVENT_ACTIONS: AdminActions<Action, DeadLetterListOptions> = {
  methods: METHODS,
  numbers: NUMBERS,
  texts: TEXTS,
  checkList,
  statusOf: (error) => (isA(error, EventAdminError) ? STATUS[error.code] : undefined),
}
