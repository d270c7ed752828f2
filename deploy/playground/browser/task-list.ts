/** The list of tasks: one page of the endpoint after the other, as far as the user asks for more. */
import { button, element } from './dom.ts'
import { asList, asObject, asText, clip, type Json } from './json.ts'
import { type AskTasks, EndpointError, NOT_AN_ADMIN } from './task-endpoint.ts'
import { fromNow, timeOf } from './task-times.ts'

const PAGE = '50'
/** Rows on the page. */
const MAX_ROWS = 1000
/** Pages read for one click: a page may have few matches, or none. */
const MAX_PAGES = 10

export interface TaskList {
  /** Shows the first tasks of a filter. Never rejects. */
  load(filter: Readonly<Record<string, string>>): Promise<void>
  /** Marks a task as the shown one. */
  mark(id: string): void
}

export interface ListHooks {
  readonly ask: AskTasks
  readonly onPick: (id: string) => void
  /** Called with what the list holds, for screen readers. */
  readonly say: (text: string) => void
  readonly onFailure: (error: unknown) => void
}

export function createTaskList(place: HTMLElement, { ask, onPick, say, onFailure }: ListHooks): TaskList {
  let reading = new AbortController()
  let marked = ''
  const buttons = new Map<string, HTMLButtonElement>()
  const mark = (id: string): void => {
    buttons.get(marked)?.removeAttribute('aria-current')
    buttons.get(id)?.setAttribute('aria-current', 'true')
    marked = id
  }

  const rowOf = (task: Json): HTMLElement => {
    const id = asText(task.taskId) ?? ''
    const node = button('', () => onPick(id))
    node.append(...partsOf(task, id))
    buttons.set(id, node)
    return element('li', {}, node)
  }

  return {
    mark,
    async load(filter) {
      reading.abort()
      const own = new AbortController()
      reading = own
      const rows = element('ol', {})
      const more = button('More', () => void read())
      let after: string | undefined
      const read = async (): Promise<void> => {
        more.disabled = true
        say('Reading the tasks')
        try {
          const found: Json[] = []
          for (let page = 0; page < MAX_PAGES && found.length === 0; page++) {
            const query = { ...filter, limit: PAGE, ...(after !== undefined && { after }) }
            const answer = await ask('list', { filter: query }, own.signal)
            if (!Array.isArray(answer.tasks)) throw new EndpointError(200, NOT_AN_ADMIN)
            found.push(...asList(answer.tasks).map(asObject))
            after = asText(answer.next)
            if (after === undefined) break
          }
          own.signal.throwIfAborted()
          show(found)
        } catch (error) {
          if (!own.signal.aborted) onFailure(error)
        } finally {
          more.disabled = false
        }
      }
      const show = (found: readonly Json[]): void => {
        rows.append(...found.slice(0, MAX_ROWS - rows.childElementCount).map(rowOf))
        mark(marked)
        const count = rows.childElementCount
        const isFull = count >= MAX_ROWS
        more.hidden = after === undefined || isFull
        const rest = isFull ? ': filter for others' : after === undefined ? '' : ', and more to read'
        say(`${count === 1 ? '1 task' : `${count} tasks`}${rest}`)
      }
      buttons.clear()
      place.replaceChildren(element('h2', {}, 'Tasks'), rows, more)
      more.hidden = true
      await read()
    },
  }
}

function partsOf(task: Json, id: string): HTMLElement[] {
  const now = Date.now()
  const status = `${clip(String(task.status), 40)}${task.isError === true ? ', error' : ''}`
  const isBad = task.status === 'failed' || task.isError === true
  const tool = clip(asText(task.tool) ?? '(without a tool)', 100)
  return [
    element('span', {}, element('mark', isBad ? { class: 'bad' } : {}, status), element('code', {}, tool)),
    element('small', {}, [`created ${fromNow(task.createdAt, now)}`, ...notesOf(task, now)].join(' · ')),
    element('small', { class: 'mono' }, clip(id, 100)),
  ]
}

/** What is special about a task now: it runs, waits, or had runs that crashed. */
function notesOf({ run, crashes, idleRuns, releases, awaits, dueAt }: Json, now: number): string[] {
  const { events, questions } = asObject(awaits)
  const count = (value: unknown, one: string, several: string): string | undefined =>
    typeof value === 'number' && value > 0 ? `${value} ${value === 1 ? one : several}` : undefined
  const waited = asList(events).slice(0, 5).map(String).join(', ')
  return [
    runOf(run, now),
    count(questions, 'question', 'questions'),
    waited === '' ? undefined : `waits for ${clip(waited, 100)}`,
    count(crashes, 'crash', 'crashes'),
    count(idleRuns, 'run without a step', 'runs without a step'),
    count(releases, 'run that could not begin', 'runs that could not begin'),
    dueAt === undefined || dueAt === null ? undefined : `due ${fromNow(dueAt, now)}`,
  ].filter((note) => note !== undefined)
}

/** A run whose lease is over has died, or does not reach the store. */
function runOf(run: unknown, now: number): string | undefined {
  if (run === undefined || run === null) return undefined
  const until = timeOf(asObject(run).until)
  return until !== undefined && until < now ? 'its run was lost' : 'runs now'
}
