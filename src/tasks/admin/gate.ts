/** How an endpoint answers its operators: their secret first, then one of the actions of its admin. */
import { memberOf, textOf } from '../../definition/error-text.ts'
import { jsonAnswer } from '../../http/json-answer.ts'
import { createUnsetAnswer } from '../../http/unset-secret.ts'
import { createOptionalSecrets, isBearer, listed } from '../endpoint-secrets.ts'
import { type ListFilters, readAsked } from './query.ts'

type Secret = string | readonly string[]

/** What an admin can be asked for. Each action but `list` takes one value, that of its name in the query. */
export interface AdminActions<Action extends string, Filters extends object> extends ListFilters<Filters> {
  /** The method of each action. */
  readonly methods: { readonly [action in Action]: string }
  /** The status of a refusal, which may have a `code`. Undefined for any other error. */
  statusOf(error: unknown): number | undefined
}

type Operations<Action extends string> = {
  readonly [action in Action]: (value: never) => Promise<object>
}

export interface AdminGate<Server> {
  /** Undefined for a request that is not for the admin. Rejects with errors of the store. */
  answer(request: Request, query: URLSearchParams, server: Server): Promise<Response> | undefined
  /** @throws TypeError if one of these, which `others` names, is a secret of the admin. */
  refuseSecrets(given: readonly Secret[], others: string): void
}

/**
 * @param creator What the user calls: `createTaskAdmin`.
 * @param variable The usual name of its secret's variable.
 * @param of The operations of a server.
 * @throws TypeError for a secret that is too short.
 */
export function createAdminGate<Action extends string, Filters extends object, Server>(
  creator: string,
  variable: string,
  options: { readonly secret: Secret | undefined },
  actions: AdminActions<Action, Filters>,
  of: (server: Server) => Operations<Action>,
): AdminGate<Server> {
  const secrets = createOptionalSecrets(creator, 'secret', options)
  const unset = createUnsetAnswer(creator, 'secret', variable)
  const respond = async (
    action: Action,
    request: Request,
    query: URLSearchParams,
    server: Server,
  ): Promise<Response> => {
    if (secrets === undefined) return unset()
    if (!(await isBearer(request, secrets)))
      return jsonAnswer(401, { error: `Send the secret of ${creator} as a bearer token.` })
    const allow = actions.methods[action]
    if (request.method !== allow) return jsonAnswer(405, { error: `Send a ${allow}.` }, { allow })
    let asked: object | string | null | undefined
    try {
      asked = readAsked(action, query, actions)
      return jsonAnswer(200, await of(server)[action](asked as never))
    } catch (error) {
      // What cannot be read is the request's fault.
      const status = asked === undefined ? 400 : actions.statusOf(error)
      if (status === undefined) throw error
      return jsonAnswer(status, { code: memberOf(error, 'code'), error: textOf(error) })
    }
  }
  return {
    answer(request, query, server) {
      const action = (Object.keys(actions.methods) as Action[]).find((name) => query.has(name))
      return action && respond(action, request, query, server)
    },
    refuseSecrets(given, others) {
      const own = secrets && listed(options.secret!)
      if (given.flatMap(listed).some((secret) => own?.includes(secret)))
        throw new TypeError(`The "secret" of ${creator} must differ from ${others}: it opens more.`)
    },
  }
}
