/** The requests of an operator to an endpoint of events: `?list`, `?show=<id>` and `?redeliver=<id>`. */
import { isA } from '../../definition/error-text.ts'
import type { AdminActions } from '../../tasks/admin/gate.ts'
import { readFilters } from '../../tasks/admin/query.ts'
import { type Action, METHODS, NUMBERS, TEXTS } from './actions.ts'
import { checkList, type EventOperations } from './operations.ts'
import { type EventAdminCode, EventAdminError } from './refusal.ts'

const STATUS: { readonly [code in EventAdminCode]: number } = {
  UNKNOWN_LETTER: 404,
  EVENT_GONE: 409,
  SUBSCRIPTION_GONE: 409,
  QUEUE_FULL: 409,
}

export const EVENT_ACTIONS: AdminActions<Action, EventOperations> = {
  methods: METHODS,
  filters: [...NUMBERS, ...TEXTS],
  async act(action, query, operations) {
    if (action === 'list') return operations.list(readFilters(query, NUMBERS, TEXTS, checkList))
    return operations[action](query.get(action)!)
  },
  refusalOf: (error) =>
    isA(error, EventAdminError) ? { status: STATUS[error.code], code: error.code } : undefined,
}
