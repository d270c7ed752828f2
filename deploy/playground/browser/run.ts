/** Runs one request of a panel: the run bar with its buttons, and where its questions and its result appear. */
import { createCallActions } from './call-actions.ts'
import type { Draft } from './call-text.ts'
import type { Client } from './client.ts'
import { button, element } from './dom.ts'
import { outcomeOf } from './exchange.ts'
import type { Json } from './json.ts'
import { type Shown, showCancelled, showProblem, showResult } from './result.ts'
import { type Running, showRunning } from './running.ts'
import { type ReadErrors, showErrors } from './server-errors.ts'
import { CancelledByUser, followTask, isTask, type TaskPlace } from './task-run.ts'

/** For a resource that a result links to. */
const READ_MS = 30_000

export interface Request {
  readonly method: string
  /** Of the button. */
  readonly verb: string
  /** Throws if a JSON field is invalid. */
  readonly params: () => Json
  /** The schema of a tool's arguments. */
  readonly schema: unknown
  /** The schema of its results. */
  readonly outputSchema: unknown
}

export interface RunPlace {
  readonly client: Client
  /** Where the server's questions appear. */
  readonly questions: HTMLElement
  /** For screen readers. */
  readonly say: (text: string) => void
  /** Called with an error, including that the server requires a token. */
  readonly onFailure: (error: unknown) => void
  readonly readJournal: TaskPlace['readJournal']
  /** What the server logged about a request. Undefined if that cannot be told. */
  readonly readErrors: ReadErrors | undefined
  /** Called with each result. */
  readonly onResult: (result: Json) => void
  /** Called when a request has ended, with a word for how. */
  readonly onEnd: (outcome: string, ms: number) => void
  /** The MCP endpoint, as other clients use it. */
  readonly endpoint: string
  /** Opens where the call is saved. */
  readonly save: () => void
}

export interface Run {
  /** The buttons; `#run-actions` is for more of them. */
  readonly bar: HTMLElement
  readonly output: HTMLElement
  readonly start: () => void
  /** Cancels the request, and the task that it became. False if nothing runs. */
  readonly end: () => boolean
  /** Ends the request. A task goes on without the page. */
  readonly leave: () => void
  /** Says of a result that the code has changed since. */
  readonly outdate: () => void
}

export function createRun(request: Request, place: RunPlace): Run {
  const { method, verb, params, schema } = request
  const result = element('div', { class: 'result' })
  let running: AbortController | undefined
  const end = (): boolean => {
    running?.abort(new CancelledByUser())
    return running !== undefined
  }
  const submit = element(
    'button',
    { type: 'submit', class: 'main', 'aria-keyshortcuts': 'Control+Enter' },
    verb,
    element('kbd', { 'aria-hidden': 'true' }, 'Ctrl ↵'),
  )
  const cancel = button('Cancel', end, { hidden: '', 'aria-keyshortcuts': 'Escape' })
  cancel.append(element('kbd', { 'aria-hidden': 'true' }, 'Esc'))
  const run = async (): Promise<void> => {
    running?.abort(new Error('called again'))
    const own = new AbortController()
    running = own
    cancel.hidden = false
    // "Call again" is about to go.
    if (result.contains(document.activeElement)) cancel.focus()
    const { signal } = own
    await runOnce(request, place, { result, signal, isLast: () => running === own, again: () => void run() })
    if (running !== own) return
    if (document.activeElement === cancel) submit.focus()
    cancel.hidden = true
    running = undefined
  }
  const draft = (): Draft => ({ url: place.endpoint, ...place.client.draft(method, params(), schema) })
  const buttons = createCallActions({ draft, save: place.save, say: place.say })
  const actions = element('div', { id: 'run-actions' }, ...buttons)
  place.questions.replaceChildren()
  return {
    bar: element('div', { id: 'run-bar' }, submit, cancel, actions),
    output: element('div', { id: 'output' }, place.questions, result),
    start: () => void run(),
    end,
    leave: () => running?.abort(new Error('left')),
    outdate: () => {
      if (running !== undefined || result.childElementCount === 0 || result.querySelector('.older') !== null)
        return
      result.prepend(element('p', { class: 'notice older' }, 'The code has changed since this call.'))
    },
  }
}

interface Attempt {
  readonly result: HTMLElement
  readonly signal: AbortSignal
  /** False once the user has called again. */
  readonly isLast: () => boolean
  readonly again: () => void
}

/** Shows how the request goes, and then its result or its failure. Never rejects. */
async function runOnce(
  { method, params, schema, outputSchema }: Request,
  place: RunPlace,
  { result, signal, isLast, again }: Attempt,
): Promise<void> {
  const { client, say, onResult, onFailure, onEnd } = place
  const started = performance.now()
  let [bytes, outcome] = [0, 'failed']
  let requestId: string | undefined
  let view: Running | undefined
  const shown = (): Shown => ({
    ms: performance.now() - started,
    endpoint: place.endpoint,
    outputSchema,
    say,
    again,
    read: (uri) => client.request('resources/read', { uri }, AbortSignal.timeout(READ_MS)),
    reported: view?.end(),
  })
  try {
    const given = params()
    say('Running')
    result.classList.remove('failed')
    const running = showRunning(result, say)
    view = running
    const onMessage = (message: Json, size: number): void => {
      bytes = size
      running.onMessage(message)
    }
    const onRequestId = (id: string): void => {
      requestId = id
    }
    const watch = { onMessage, onAsking: running.onAsking, onRequestId }
    const answer = await client.request(method, given, signal, schema, watch)
    onResult(answer)
    const followed = { ...place, output: result }
    const last = isTask(answer) ? await followTask(answer, followed, signal) : answer
    if (outcomeOf({ result: last }) !== 'failed') outcome = 'ok'
    showResult(result, last, { ...shown(), bytes: last === answer ? bytes : undefined })
  } catch (error) {
    const facts = shown()
    if (signal.aborted) outcome = 'cancelled'
    if (!isLast()) return
    if (signal.aborted) showCancelled(result, facts)
    else showProblem(result, error, facts)
    onFailure(error)
  } finally {
    // Not of a form that could not be read.
    if (view !== undefined) onEnd(outcome, performance.now() - started)
    if (outcome === 'failed' && requestId !== undefined) void showLogged(requestId, place, result)
  }
}

/** Adds what the server logged about a call, unless another result is shown by then. */
async function showLogged(requestId: string, { readErrors }: RunPlace, result: HTMLElement): Promise<void> {
  const shown = result.firstElementChild
  const errors = await (readErrors?.(requestId) ?? [])
  if (shown !== null && result.contains(shown)) showErrors(result, errors)
}
