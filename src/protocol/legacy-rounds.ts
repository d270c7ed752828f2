/** The earlier rounds of a legacy call. */
import { isObject } from '../definition/is-object.ts'
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'
import { CONTINUE } from '../interaction/continuation.ts'
import { EMPTY_JOURNAL } from '../interaction/journal.ts'
import type { Params } from '../request/params.ts'
import type { EarlierRounds } from './call.ts'

/** Legacy: a continuation is in the arguments of a tool call. Returns the parameters without it. */
export function legacyRounds(
  method: string,
  params: Params,
): { readonly rounds: EarlierRounds | undefined; readonly params: Params } {
  const isContinued =
    method === 'tools/call' && isObject(params.arguments) && Object.hasOwn(params.arguments, CONTINUE)
  if (!isContinued) return { rounds: undefined, params }
  const { [CONTINUE]: continuation, ...args } = params.arguments as Params
  const { token, answers } = readContinuation(continuation)
  return {
    rounds: { journal: EMPTY_JOURNAL, responses: answers, sealed: token },
    params: { ...params, arguments: args },
  }
}

/** Reads `_continue`: the sealed token and the answers. @throws ProtocolError `-32602` if it is malformed. */
function readContinuation(value: unknown): { token: string; answers: Record<string, unknown> } {
  const { token, answers } = (value ?? {}) as { token?: unknown; answers?: unknown }
  if (
    typeof token !== 'string' ||
    answers === null ||
    typeof answers !== 'object' ||
    Array.isArray(answers)
  ) {
    throw new ProtocolError(
      ErrorCode.invalidParams,
      `Invalid params: "${CONTINUE}" needs a string "token" and an object "answers".`,
    )
  }
  return { token, answers: answers as Record<string, unknown> }
}
