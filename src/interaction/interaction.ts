/** How a call asks: by replay in the modern era, by one of three policies in the legacy era. */
import type { ClientCapabilities, StepOptions } from '../definition/context.ts'
import type { Jsonified } from '../definition/jsonified.ts'
import { mergeCapabilities, missingCapabilities, missingCapabilityError } from './capabilities.ts'
import { type Ending, neverSettles } from './ending.ts'
import type { Journal } from './journal.ts'
import type { Question } from './question.ts'
import { type OpenQuestion, Replay, type ReplayHooks, type Suspension } from './replay.ts'
import type { Binding } from './seal.ts'
import { type StateOptions, sealIfNeeded } from './state.ts'
import type { StepFunction } from './steps.ts'

export interface CallControl {
  readonly signal: AbortSignal
  end(ending: Ending): void
  /** Sends a request on the response stream. Legacy era only. Returns false if nothing can be streamed. */
  sendRequest(id: string, method: string, params: object): boolean
  /** Set for a call that may become a task. */
  readonly hooks?: ReplayHooks | undefined
}

/** The implementation behind `ctx.elicit`, `createMessage`, `listRoots` and `step`. */
export interface Interaction {
  ask(question: Question): Promise<unknown>
  /**
   * Asks the questions that a tool returned instead of a result. Modern era: the call ends, and the next call starts with the answers
   * and `state`. Otherwise resolves with the answers by key, for the tool to run again in this call.
   */
  askReturned(questions: readonly OpenQuestion[], state: string | undefined): Promise<Record<string, unknown>>
  step<Value>(name: string, fn: StepFunction<Value>, options?: StepOptions): Promise<Jsonified<Value>>
  /** Whether the tool waits for an answer that this call will not get. */
  isSuspended(): boolean
  /** Whether a question asked now needs a state that is sealed: the call has answers or steps. */
  mustRemember(): boolean
  /** Called when the tool answered or its call was aborted. */
  close(): void
}

/** Creates the replay of one call. When it suspends, the call ends with the result of `conclude`, or with the error it throws. */
export function createReplay(
  call: { readonly journal: Journal; readonly responses: { readonly [key: string]: unknown } },
  control: CallControl,
  conclude: (suspension: Suspension) => Promise<Ending>,
): Replay {
  const { hooks } = control
  const fail = (error: unknown): void => control.end({ kind: 'error', error })
  const replay = new Replay({
    journal: call.journal,
    responses: call.responses,
    signal: () => control.signal,
    onSuspend: (suspension) => {
      const ending = hooks?.conclude(suspension) ?? conclude(suspension)
      void ending.then((end) => control.end(end), fail)
    },
    onStuck: fail,
    hooks,
  })
  hooks?.onReplay(replay)
  return replay
}

/** Ends the call: nothing new starts in it, and user code cannot catch this. */
export function endCall(replay: Replay, control: CallControl, ending: Ending): Promise<never> {
  replay.end()
  control.end(ending)
  return neverSettles()
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
  const replay = createReplay(call, control, async ({ questions, journal }) => {
    const missing = mergeCapabilities(
      questions.map(({ question }) => missingCapabilities(question.needs, call.clientCapabilities)),
    )
    if (Object.keys(missing).length > 0) throw missingCapabilityError(missing)
    const requestState = await sealIfNeeded(journal, call.binding, options)
    const requests = questions.map(({ key, question: { method, params } }) => [key, { method, params }])
    const inputRequests = requests.length === 0 ? undefined : Object.fromEntries(requests)
    return { kind: 'inputRequired', inputRequests, requestState }
  })
  return replay
}
