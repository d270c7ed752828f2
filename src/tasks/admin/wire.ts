/** The requests of an operator to a task endpoint: `?list`, `?show=<id>`, `?retry=<id>` and `?cancel=<id>`. */
import { isA } from '../../definition/error-text.ts'
import { CursorError } from '../stored.ts'
import { type Action, METHODS, NUMBERS, TEXTS } from './actions.ts'
import type { AdminActions } from './gate.ts'
import { checkList, type TaskListOptions } from './operations.ts'
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

export const TASK_ACTIONS: AdminActions<Action, TaskListOptions> = {
  methods: METHODS,
  numbers: NUMBERS,
  texts: TEXTS,
  checkList,
  statusOf(error) {
    // Of the store, which alone can read it.
    if (isA(error, CursorError)) return 400
    return isA(error, TaskAdminError) ? STATUS[error.code] : undefined
  },
}
