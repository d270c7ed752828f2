/** `_continue`: the argument of a tool call with which a model continues it, under the legacy policy `arguments`. */
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'

/** The argument with which a model continues a call with the policy `arguments`. */
export const CONTINUE = '_continue'

/** Reads `_continue`: the sealed token and the answers. @throws ProtocolError `-32602` if it is malformed. */
export function readContinuation(value: unknown): { token: string; answers: Record<string, unknown> } {
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
