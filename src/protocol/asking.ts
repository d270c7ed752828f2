/** The earlier rounds of a request. */
import { isObject } from '../definition/is-object.ts'
import { invalidParams } from '../definition/protocol-error.ts'
import { EMPTY_JOURNAL } from '../interaction/journal.ts'
import type { Params } from '../request/params.ts'
import type { EarlierRounds } from './call.ts'

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
