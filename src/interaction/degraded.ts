/** The result or error of a call that needed to ask its client but could not. */
import type { CallToolResult } from '../definition/content.ts'
import type { Feature } from '../definition/context.ts'
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'

/** `_meta["mayfly/degraded"]` of a result, or `data` of an error. */
export interface Degraded {
  readonly feature: Feature
  /** Why the feature is not available here. */
  readonly reason: string
  /** What to do about it. */
  readonly remedy: string
}

/** The key in `_meta` of a result whose tool could not ask its client. Its value is a `Degraded`. */
export const DEGRADED_META = 'mayfly/degraded'

/** A text that the model can read and pass on to its user. */
export function degradedResult(degraded: Degraded, question: string): CallToolResult {
  return {
    content: [
      {
        type: 'text',
        text: `${question}\n\nThis needs an answer, but this client cannot be asked. ${degraded.reason} ${degraded.remedy}`,
      },
    ],
    isError: true,
    _meta: { [DEGRADED_META]: degraded },
  }
}

/** The same as an error, for prompts and resources, whose results have no place for it. */
export function degradedError(degraded: Degraded): ProtocolError {
  return new ProtocolError(ErrorCode.internal, `${degraded.reason} ${degraded.remedy}`, degraded)
}
