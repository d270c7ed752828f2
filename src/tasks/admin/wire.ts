/** The requests of an operator to a task endpoint: `?list`, `?show=<id>`, `?retry=<id>` and `?cancel=<id>`. */
import { isA } from '../../definition/error-text.ts'
import { type Action, FILTERS, METHODS, NUMBERS, TEXTS } from './actions.ts'
import type { AdminActions } from './gate.ts'
import { checkList, type TaskOperations } from './operations.ts'
import { readFilters } from './query.ts'
import { type TaskAdminCode, TaskAdminError } from './refusal.ts'

const STATUS: { readonly [code in TaskAdminCode]: number } = {
  UNKNOWN_TASK: 404,
  COMPLETED: 409,
  CANCELLED: 409,
  NOT_KEPT: 409,
  UNCONFIRMED: 409,
  UNREADABLE: 409,
  CANNOT_LIST: 501,
}

export const TASK_ACTIONS: AdminActions<Action, TaskOperations> = {
  methods: METHODS,
  filters: FILTERS,
  async act(action, query, operations) {
    if (action === 'list') return operations.list(readFilters(query, NUMBERS, TEXTS, checkList))
    return operations[action](query.get(action)!)
  },
  refusalOf: (error) =>
    isA(error, TaskAdminError) ? { status: STATUS[error.code], code: error.code } : undefined,
}
