/**
 * How one call asks: by replay in the modern era, by one of three policies in the legacy one.
 */
import type { CallToolResult } from '../definition/content.ts'
import type { ClientCapabilities } from '../definition/context.ts'
import type { ProtocolError } from '../definition/protocol-error.ts'
import { missingCapabilities, missingCapabilityError } from './capabilities.ts'
import type { Question } from './question.ts'
import { type Journal, type OpenQuestion, Replay, type Suspension } from './replay.ts'
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
  /**
   * Asks what a tool returned instead of a result. Either the call ends, and the next one brings answers and `state` from the
   * start; or the answers come by key, for the tool to be run again in this call.
   */
  askReturned(questions: readonly OpenQuestion[], state: string | undefined): Promise<Record<string, unknown>>
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
  const onSuspend = async ({ questions, journal }: Suspension): Promise<void> => {
    try {
      const requestState = await keepJournal(journal, call.binding, options)
      const inputRequests = Object.fromEntries(
        questions.map(({ key, question: { method, params } }) => [key, { method, params }]),
      )
      control.end({ kind: 'inputRequired', inputRequests, requestState })
    } catch (error) {
      control.end({ kind: 'error', error })
    }
  }
  const replay = new Replay({ journal: call.journal, responses: call.responses, onSuspend })
  const missingFor = ({ needs }: Question) => missingCapabilities(needs, call.clientCapabilities)
  return {
    ask(question) {
      const missing = missingFor(question)
      if (Object.keys(missing).length > 0) return endWith(control, missingCapabilityError(missing))
      return replay.ask(question)
    },
    async askReturned(questions, state) {
      const missing = Object.assign({}, ...questions.map(({ question }) => missingFor(question)))
      if (Object.keys(missing).length > 0) return endWith(control, missingCapabilityError(missing))
      void onSuspend({ questions, journal: { ...replay.journal, state } })
      return never()
    },
    step: (name, fn) => replay.step(name, fn),
  }
}
