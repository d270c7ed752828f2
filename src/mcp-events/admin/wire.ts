/** The requests of an operator to an endpoint of events: `?list`, `?show=<id>` and `?redeliver=<id>`. */
import { isA } from '../../definition/error-text.ts'
import { jsonAnswer } from '../../http/json-answer.ts'
import { checkNames, QueryError, readFilters } from '../../tasks/admin/query.ts'
import { CursorError } from '../../tasks/stored.ts'
import { type Action, METHODS, NUMBERS, TEXTS } from './actions.ts'
import { checkList, type EventOperations } from './operations.ts'
import { type EventAdminCode, EventAdminError } from './refusal.ts'

const STATUS: { readonly [code in EventAdminCode]: number } = {
  UNKNOWN_LETTER: 404,
  EVENT_GONE: 409,
  SUBSCRIPTION_GONE: 409,
  QUEUE_FULL: 409,
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
  operations: EventOperations,
): Promise<Response> {
  const allow = METHODS[action]
  if (method !== allow) return jsonAnswer(405, { error: `Send a ${allow}.` }, { allow })
  try {
    return jsonAnswer(200, await act(action, query, operations))
  } catch (error) {
    if (isA(error, QueryError) || isA(error, CursorError)) return jsonAnswer(400, { error: error.message })
    if (!isA(error, EventAdminError)) throw error
    return jsonAnswer(STATUS[error.code], { code: error.code, error: error.message })
  }
}

async function act(action: Action, query: URLSearchParams, operations: EventOperations): Promise<object> {
  checkNames(action, query, action === 'list' ? [...NUMBERS, ...TEXTS] : [])
  if (action === 'list') return operations.list(readFilters(query, NUMBERS, TEXTS, checkList))
  return operations[action](query.get(action)!)
}
