/** The end of a call that asks its client or cannot ask it. */
import type { CallToolResult } from '../definition/content.ts'

/** How a call that cannot continue ends. Later output of the tool is not sent. */
export type Ending =
  | {
      readonly kind: 'inputRequired'
      /** Undefined if the client must call again without a question. */
      readonly inputRequests: object | undefined
      readonly requestState: string | undefined
    }
  | { readonly kind: 'result'; readonly result: CallToolResult }
  | { readonly kind: 'error'; readonly error: unknown }

/** A promise that never settles, so that no `catch` or `finally` of the tool runs after its call has ended. */
export function neverSettles(): Promise<never> {
  return new Promise(() => {})
}
