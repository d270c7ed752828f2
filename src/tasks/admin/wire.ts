/** The requests of an operator to a task endpoint: `?list`, `?show=<id>`, `?retry=<id>` and `?cancel=<id>`. */
import { isA } from '../../definition/error-text.ts'
import { jsonAnswer } from '../../http/json-answer.ts'
import { CursorError } from '../stored.ts'
import { type Action, FILTERS, METHODS, NUMBERS, TEXTS } from './actions.ts'
import { checkList, type TaskListOptions, type TaskOperations } from './operations.ts'
import { checkNames, QueryError, readFilters } from './query.ts'
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

/** Undefined for a request that is not for the admin. */
export function actionOf(query: URLSearchParams): Action | undefined {
  return (Object.keys(METHODS) as Action[]).find((name) => query.has(name))
}

/** Answers a request with the secret. Rejects with errors of the store. */
export async function answerAction(
  action: Action,
  method: string,
  query: URLSearchParams,
  operations: TaskOperations,
): Promise<Response> {
  const allow = METHODS[action]
  if (method !== allow) return jsonAnswer(405, { error: `Send a ${allow}.` }, { allow })
  try {
    return jsonAnswer(200, await act(action, query, operations))
  } catch (error) {
    if (isA(error, QueryError) || isA(error, CursorError)) return jsonAnswer(400, { error: error.message })
    if (!isA(error, TaskAdminError)) throw error
    return jsonAnswer(STATUS[error.code], { code: error.code, error: error.message })
  }
}

async function act(action: Action, query: URLSearchParams, operations: TaskOperations): Promise<object> {
  checkNames(action, query, action === 'list' ? FILTERS : [])
  if (action === 'list') return operations.list(toOptions(query))
  return operations[action](query.get(action)!)
}

/** @throws QueryError */
function toOptions(query: URLSearchParams): TaskListOptions {
  return readFilters(query, NUMBERS, TEXTS, checkList)
}
