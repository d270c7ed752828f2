/** How a request of either era asks the client: what it needs before the code that asks is loaded. */
import { isObject } from '../definition/is-object.ts'
import { invalidParams } from '../definition/protocol-error.ts'
import type { Asker } from '../interaction/begin.ts'
import { EMPTY_JOURNAL } from '../interaction/journal.ts'
import type { Params } from '../request/params.ts'
import { principalOf } from '../request/principal.ts'
import type { EarlierRounds } from './call.ts'
import type { EngineOptions, Incoming } from './engine-options.ts'

export function askerOf(incoming: Incoming, options: EngineOptions): Asker {
  const { env, session } = incoming.platform
  return {
    requestId: incoming.requestId,
    principal: principalOf(incoming),
    env,
    rendezvous: session?.rendezvous,
    caller: () => options.callerOf(incoming),
    options,
  }
}

/** @throws ProtocolError `-32602` for `inputResponses` or `requestState` of a wrong type. */
export function modernRounds(params: Params): EarlierRounds | undefined {
  const { inputResponses: responses, requestState: sealed } = params
  if (responses === undefined && sealed === undefined) return undefined
  if (responses !== undefined && !isObject(responses)) {
    throw invalidParams('Invalid params: "inputResponses" must be an object.')
  }
  if (sealed !== undefined && typeof sealed !== 'string') {
    throw invalidParams('Invalid params: "requestState" must be a string.')
  }
  return { journal: EMPTY_JOURNAL, responses: responses ?? {}, sealed }
}
