/**
 * How one call asks: by replay in the modern era, by one of three policies in the legacy one.
 */
import type { CallToolResult } from '../definition/content.ts'
import type { ClientCapabilities } from '../definition/context.ts'
import type { ProtocolError } from '../definition/protocol-error.ts'
import { missingCapabilities, missingCapabilityError } from './capabilities.ts'
import type { Question } from './question.ts'
import { type Journal, Replay } from './replay.ts'
import type { Binding } from './seal.ts'
import { keepJournal, type StateOptions } from './state.ts'

/** How a call that cannot go on ends; whatever the tool still does reaches nobody. */
export type Ending =
  | {
      readonly kind: 'inputRequired'
      readonly inputRequests: object
      readonly requestState: string | undefined
    }
  | { readonly kind: 'result'; readonly result: CallToolResult }
  | { readonly kind: 'error'; readonly error: unknown }

export interface CallControl {
  readonly signal: AbortSignal
  end(ending: Ending): void
  /** Sends a request on the response stream. Legacy era only. Returns false where nothing can be streamed. */
  sendRequest(id: string, method: string, params: object): boolean
}

/** What `ctx.elicit`, `createMessage`, `listRoots` and `step` are made of. */
export interface Interaction {
  ask(question: Question): Promise<unknown>
  step<Value>(name: string, fn: () => Value | Promise<Value>): Promise<Value>
}

/** A promise that never settles: no `catch` or `finally` of the tool runs after its call has ended. */
export function never(): Promise<never> {
  return new Promise(() => {})
}

/** Ends the call with an error that user code cannot swallow. */
export function endWith(control: CallControl, error: ProtocolError): Promise<never> {
  control.end({ kind: 'error', error })
  return never()
}

export interface ModernCall {
  readonly journal: Journal
  readonly responses: { readonly [key: string]: unknown }
  readonly clientCapabilities: ClientCapabilities
  readonly binding: Binding
}

/** MCP 2026-07-28: the client calls again, with the answers. */
export function createModernInteraction(
  call: ModernCall,
  control: CallControl,
  options: StateOptions,
): Interaction {
  const replay = new Replay({
    journal: call.journal,
    responses: call.responses,
    onSuspend: async ({ questions, journal }) => {
      try {
        const requestState = await keepJournal(journal, call.binding, options)
        const inputRequests = Object.fromEntries(
          questions.map(({ key, question: { method, params } }) => [key, { method, params }]),
        )
        control.end({ kind: 'inputRequired', inputRequests, requestState })
      } catch (error) {
        control.end({ kind: 'error', error })
      }
    },
  })
  return {
    ask(question) {
      const missing = missingCapabilities(question.needs, call.clientCapabilities)
      if (Object.keys(missing).length > 0) return endWith(control, missingCapabilityError(missing))
      return replay.ask(question)
    },
    step: (name, fn) => replay.step(name, fn),
  }
}
