/** A call that became a task (extension `io.modelcontextprotocol/tasks`): polls it, answers its questions, and shows how far it is. */
import { isA } from '../../../src/definition/error-text.ts'
import type { Client } from './client.ts'
import { button, element } from './dom.ts'
import { RpcError } from './exchange.ts'
import { asObject, asText, clip, type Json } from './json.ts'
import { stepElements } from './task-steps.ts'

export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks'

/** Between two polls, whatever the server says; and if it says nothing. */
const MIN_POLL_MS = 200
const MAX_POLL_MS = 60_000
const USUAL_POLL_MS = 2000
/** Polls in a row without an answer of the server: it may be restarting. */
const MAX_FAILURES = 5
const MAX_QUESTIONS = 200
const MAX_ID = 1024
const CANCEL_MS = 5000

/** The reason of a signal that also cancels the task. */
export class CancelledByUser extends Error {
  override readonly message = 'cancelled'
}

export interface TaskPlace {
  readonly client: Client
  /** Shows the task while it runs. */
  readonly output: HTMLElement
  /** For screen readers. */
  readonly say: (text: string) => void
  /** The journal of a task, where `mayfly dev` knows it. Rejects if it does not. */
  readonly readJournal?: ((id: string, signal: AbortSignal) => Promise<readonly unknown[]>) | undefined
}

export function isTask(result: Json): boolean {
  return result.resultType === 'task'
}

/**
 * Follows the task in an answer to `tools/call` until it has ended. Returns its result. Throws if it failed or was cancelled, and the reason
 * of `signal`, which ends the polling, and with `CancelledByUser` the task.
 */
export async function followTask(task: Json, place: TaskPlace, signal: AbortSignal): Promise<Json> {
  const id = asText(task.taskId)
  if (id === undefined || id.length > MAX_ID) throw new Error('the server answered with a task without an id')
  const over = new AbortController()
  try {
    return await new Promise<Json>((resolve, reject) => {
      const ended = AbortSignal.any([signal, over.signal])
      const stop = (): void => {
        if (isA(signal.reason, CancelledByUser)) cancelAside(id, place.client)
        reject(signal.reason)
      }
      signal.addEventListener('abort', stop, { signal: over.signal })
      signal.throwIfAborted()
      poll(id, task, { ...place, ended, fail: reject }).then(resolve, reject)
    })
  } finally {
    over.abort(new Error('the task is no longer followed'))
  }
}

/** Its result is of no use any more. */
function cancelAside(taskId: string, client: Client): void {
  client.request('tasks/cancel', { taskId }, AbortSignal.timeout(CANCEL_MS)).catch(() => {})
}

interface Following extends TaskPlace {
  /** Aborts when the task is no longer followed. */
  readonly ended: AbortSignal
  readonly fail: (reason: unknown) => void
}

async function poll(id: string, started: Json, following: Following): Promise<Json> {
  const { client, ended } = following
  const clock = createPause(ended)
  const view = createView(id, following, clock.end)
  const questions = createQuestions(id, following, clock.end)
  let failures = 0
  for (let task = started; ; ) {
    view.draw(task)
    if (task.status === 'completed') return asObject(task.result)
    if (task.status === 'failed') throw new RpcError(asObject(task.error))
    if (task.status === 'cancelled') throw new Error('the task was cancelled')
    questions.update(task.status === 'input_required' ? asObject(task.inputRequests) : {})
    await clock.pause(pollMsOf(task))
    try {
      task = await client.request('tasks/get', { taskId: id }, ended)
      failures = 0
    } catch (error) {
      if (ended.aborted || isA(error, RpcError) || ++failures >= MAX_FAILURES) throw error
    }
  }
}

function pollMsOf({ pollIntervalMs }: Json): number {
  const ms = typeof pollIntervalMs === 'number' ? pollIntervalMs : USUAL_POLL_MS
  return Math.min(Math.max(ms, MIN_POLL_MS), MAX_POLL_MS) || USUAL_POLL_MS
}

/** `end` ends a pause early, or the next one. */
function createPause(ended: AbortSignal): { pause(ms: number): Promise<void>; end(): void } {
  let wake = (): void => {}
  let isDue = false
  return {
    pause: async (ms) => {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, isDue ? MIN_POLL_MS : ms)
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
        ended.addEventListener('abort', wake, { once: true })
      })
      ended.removeEventListener('abort', wake)
      isDue = false
      ended.throwIfAborted()
    },
    end: () => {
      isDue = true
      wake()
    },
  }
}

/** Each question is shown once, and taken back when the task no longer asks it. */
function createQuestions(
  taskId: string,
  { client, say, ended, fail }: Following,
  onAnswered: () => void,
): { update(open: Json): void } {
  const asked = new Map<string, AbortController>()
  const ask = async (key: string, question: unknown, signal: AbortSignal): Promise<void> => {
    try {
      const inputResponses = await client.answerAll({ [key]: question }, signal)
      await client.request('tasks/update', { taskId, inputResponses }, ended)
      onAnswered()
    } catch (error) {
      if (!signal.aborted) fail(error)
    }
  }
  return {
    update: (open) => {
      for (const [key, controller] of asked)
        if (!Object.hasOwn(open, key)) controller.abort(new Error('the task no longer asks this'))
      for (const key of Object.keys(open).slice(0, MAX_QUESTIONS)) {
        if (asked.has(key)) continue
        if (asked.size >= MAX_QUESTIONS)
          throw new Error(`the task asked ${MAX_QUESTIONS} questions: this page stops here`)
        const controller = new AbortController()
        asked.set(key, controller)
        say('The task asks')
        void ask(key, open[key], AbortSignal.any([controller.signal, ended]))
      }
    },
  }
}

function createView(
  id: string,
  { client, output, say, readJournal, ended, fail }: Following,
  onCancelled: () => void,
): { draw(task: Json): void } {
  const heading = element('h3')
  const pace = element('span', { class: 'soft' })
  const message = element('p', { class: 'soft' })
  const progress = element('progress', { max: '1', 'aria-label': 'Progress' })
  const steps = element('ol', { class: 'steps', 'aria-label': 'Steps' })
  const cancel = button('Cancel task', () => {
    cancel.disabled = true
    client.request('tasks/cancel', { taskId: id }, ended).then(onCancelled, fail)
  })
  let said: string | undefined
  let canRead = readJournal !== undefined
  const drawSteps = async (): Promise<void> => {
    try {
      steps.replaceChildren(...stepElements(await readJournal!(id, ended), Date.now()))
    } catch {
      // Another server, an endpoint without `admin`, or a page that was opened without the key.
      canRead = false
    }
    steps.hidden = steps.childElementCount === 0
  }
  steps.hidden = true
  output.classList.remove('failed')
  output.replaceChildren(
    element(
      'div',
      { class: 'task' },
      element('div', { class: 'line' }, heading, element('code', { class: 'soft' }, clip(id, 100)), pace),
      progress,
      message,
      steps,
      element('div', { class: 'buttons' }, cancel),
      element('p', { class: 'soft' }, 'You may leave this page: the task goes on without it.'),
    ),
  )
  return {
    draw: (task) => {
      const text = clip(asText(task.statusMessage) ?? '', 1000)
      const title = task.status === 'input_required' ? 'The task asks' : 'Task running'
      heading.textContent = title
      pace.textContent = `asks every ${pollMsOf(task) / 1000} s`
      message.textContent = text
      const share = shareOf(text)
      progress.hidden = share === undefined
      progress.value = share ?? 0
      const now = [title, text].filter(Boolean).join(': ')
      if (now !== said) say(now)
      said = now
      if (canRead) void drawSteps()
    },
  }
}

/** Of the progress at the end of a status, as Mayfly writes it: `loaded (1/3)`. */
function shareOf(text: string): number | undefined {
  const [, done, all] = /(?:^|\()(\d{1,15}(?:\.\d{1,15})?)\/(\d{1,15}(?:\.\d{1,15})?)\)?$/.exec(text) ?? []
  return done === undefined || Number(all) === 0 ? undefined : Math.min(Number(done) / Number(all), 1)
}
