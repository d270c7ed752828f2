/** How an endpoint answers its operators: their secret first, then one of the actions of its admin. */
import { isA } from '../../definition/error-text.ts'
import { jsonAnswer } from '../../http/json-answer.ts'
import { createUnsetAnswer } from '../../http/unset-secret.ts'
import { createOptionalSecrets, isBearer, listed } from '../endpoint-secrets.ts'
import { CursorError } from '../stored.ts'
import { checkNames, QueryError } from './query.ts'

type Secret = string | readonly string[]

/** What an admin can be asked for. */
export interface AdminActions<Action extends string, Operations> {
  /** The method of each action. */
  readonly methods: { readonly [action in Action]: 'GET' | 'POST' }
  /** The names that `list` takes. */
  readonly filters: readonly string[]
  /** Performs an action with its value in the query. */
  act(action: Action, query: URLSearchParams, operations: Operations): Promise<object>
  /** The status of a refusal, which has a `code`. Undefined for any other error. */
  refusalOf(error: unknown): { readonly status: number; readonly code: string } | undefined
}

export interface AdminGate<Operations> {
  /** Undefined for a request that is not for the admin. Rejects with errors of the store. */
  answer(request: Request, query: URLSearchParams, of: () => Operations): Promise<Response> | undefined
  /** Whether one of these is a secret of the admin. */
  hasSecret(given: readonly Secret[]): boolean
}

/**
 * @param creator What the user calls: `createTaskAdmin`.
 * @param variable The usual name of its secret's variable.
 * @throws TypeError for a secret that is too short.
 */
export function createAdminGate<Action extends string, Operations>(
  creator: string,
  variable: string,
  options: { readonly secret: Secret | undefined },
  actions: AdminActions<Action, Operations>,
): AdminGate<Operations> {
  const secrets = createOptionalSecrets(creator, 'secret', options)
  const unset = createUnsetAnswer(creator, 'secret', variable)
  return {
    answer(request, query, of) {
      const action = (Object.keys(actions.methods) as Action[]).find((name) => query.has(name))
      if (action === undefined) return undefined
      if (secrets === undefined) return Promise.resolve(unset())
      return isBearer(request, secrets).then((isOurs) =>
        isOurs
          ? perform(actions, action, request.method, query, of())
          : jsonAnswer(401, { error: `Send the secret of ${creator} as a bearer token.` }),
      )
    },
    hasSecret(given) {
      const own = secrets === undefined ? [] : listed(options.secret ?? [])
      return given.flatMap(listed).some((secret) => own.includes(secret))
    },
  }
}

async function perform<Action extends string, Operations>(
  { methods, filters, act, refusalOf }: AdminActions<Action, Operations>,
  action: Action,
  method: string,
  query: URLSearchParams,
  operations: Operations,
): Promise<Response> {
  const allow = methods[action]
  if (method !== allow) return jsonAnswer(405, { error: `Send a ${allow}.` }, { allow })
  try {
    checkNames(action, query, action === 'list' ? filters : [])
    return jsonAnswer(200, await act(action, query, operations))
  } catch (error) {
    if (isA(error, QueryError) || isA(error, CursorError)) return jsonAnswer(400, { error: error.message })
    const refusal = refusalOf(error)
    if (refusal === undefined) throw error
    return jsonAnswer(refusal.status, { code: refusal.code, error: (error as Error).message })
  }
}
