/** What a poll or a stream asks for, without a subscription. */
import type { Params } from '../request/params.ts'
import { principalOf } from '../request/principal.ts'
import type { RequestScope } from '../request/request-server.ts'
import { type Core, maySubscribe } from './core.ts'
import { forbidden } from './errors.ts'
import type { EventType } from './event.ts'
import { argumentsParam, requirePrincipal, typeParam } from './params.ts'
import type { ReplayContext } from './replay.ts'

export interface Watched {
  readonly type: EventType
  readonly args: unknown
  /** For `replay` of the event. */
  readonly caller: ReplayContext
  /** @throws ProtocolError `-32012` if the caller may not have it, any more. */
  requireAllowed(): Promise<void>
}

/** @throws ProtocolError */
export async function watchedBy(
  core: Core,
  scope: RequestScope,
  params: Params,
  mode: 'poll' | 'push',
): Promise<Watched> {
  const { context } = scope
  const type = typeParam(core, scope, params, mode)
  const { valid: args } = await argumentsParam(type, params)
  const auth = context.auth === undefined ? undefined : requirePrincipal(scope).auth
  const subscriber = { principal: principalOf(context), auth, env: context.env }
  return {
    type,
    args,
    caller: {
      principal: subscriber.principal,
      auth: context.auth,
      env: context.env,
      signal: context.signal,
    },
    async requireAllowed() {
      if (await maySubscribe(type, args, subscriber)) return
      throw forbidden('This caller may not have the event with these arguments.')
    },
  }
}
