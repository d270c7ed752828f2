/** Runs one request of a panel: the run bar with its buttons, and where its questions and its result appear. */
import type { Client } from './client.ts'
import { button, element } from './dom.ts'
import type { Json } from './json.ts'
import { showProblem, showResult } from './result.ts'
import { followTask, isTask, type TaskPlace } from './task-run.ts'

export interface Request {
  readonly method: string
  /** Of the button. */
  readonly verb: string
  /** Throws if a JSON field is invalid. */
  readonly params: () => Json
  /** The schema of a tool's arguments. */
  readonly schema: unknown
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
  /** Called with each result. */
  readonly onResult: (result: Json) => void
}

export interface Run {
  /** The buttons; `#run-actions` is for more of them. */
  readonly bar: HTMLElement
  readonly output: HTMLElement
  readonly start: () => void
  /** False if nothing runs. */
  readonly end: () => boolean
}

export function createRun({ method, verb, params, schema }: Request, place: RunPlace): Run {
  const result = element('div', { class: 'result' })
  let running: AbortController | undefined
  const end = (): boolean => {
    running?.abort(new Error('cancelled'))
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
    try {
      const given = params()
      cancel.hidden = false
      place.say('Running')
      result.replaceChildren(element('p', { class: 'running' }, 'Running …'))
      result.classList.remove('failed')
      const answer = await place.client.request(method, given, own.signal, schema)
      place.onResult(answer)
      const { signal } = own
      const last = isTask(answer) ? await followTask(answer, { ...place, output: result }, signal) : answer
      showResult(result, last)
      place.say('There is a result')
    } catch (error) {
      if (running !== own) return
      showProblem(result, own.signal.aborted ? new Error('cancelled') : error)
      place.say('There is no result')
      place.onFailure(error)
    } finally {
      if (running === own) {
        if (document.activeElement === cancel) submit.focus()
        cancel.hidden = true
        running = undefined
      }
    }
  }
  place.questions.replaceChildren()
  return {
    bar: element('div', { id: 'run-bar' }, submit, cancel, element('div', { id: 'run-actions' })),
    output: element('div', { id: 'output' }, place.questions, result),
    start: () => void run(),
    end,
  }
}
