/**
 * How a call ends that asks its client, or cannot.
 */
import type { CallToolResult } from '../definition/content.ts'

/** How a call ends that cannot continue. Whatever the tool does after that is not sent. */
export type Ending =
  | {
      readonly kind: 'inputRequired'
      /** Undefined if the client is to call again without a question. */
      readonly inputRequests: object | undefined
      readonly requestState: string | undefined
    }
  | { readonly kind: 'result'; readonly result: CallToolResult }
  | { readonly kind: 'error'; readonly error: unknown }
