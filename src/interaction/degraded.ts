/**
 * The typed end of a call that would have had to ask and could not.
 */
import type { CallToolResult } from '../definition/content.ts'
import type { Feature } from '../definition/context.ts'
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'

/** `_meta["mayfly/degraded"]` of a result, or `data` of an error. */
export interface Degraded {
  readonly feature: Feature
  /** Why it cannot be done here. */
  readonly reason: string
  /** What to do about it. */
  readonly remedy: string
}

export const DEGRADED_META = 'mayfly/degraded'

/** What the model reads, and can tell its user. */
export function degradedResult(degraded: Degraded, question: string): CallToolResult {
  return {
    content: [
      {
        type: 'text',
        text: `${question}\n\nThis needs an answer, and this client cannot be asked for one. ${degraded.reason} ${degraded.remedy}`,
      },
    ],
    isError: true,
    _meta: { [DEGRADED_META]: degraded },
  }
}

/** The same where the result has no room for it: prompts and resources. */
export function degradedError(degraded: Degraded): ProtocolError {
  return new ProtocolError(ErrorCode.internal, `${degraded.reason} ${degraded.remedy}`, degraded)
}
