/** One task: what it is doing, its journal, and the buttons that retry and cancel it. */
import { button, code, details, element } from './dom.ts'
import { asList, asObject, asText, clip, isObject, type Json, parse, pretty } from './json.ts'
import { timeElement } from './task-times.ts'

/** Entries that are shown at once. */
const ENTRIES = 200
/** Entries on the page. */
const MAX_ENTRIES = 5000
const MAX_QUESTIONS = 100
/** Characters of a value beside its name. */
const PREVIEW = 80
const FINAL = ['completed', 'failed', 'cancelled']

export interface TaskActions {
  readonly refresh: () => void
  readonly retry: () => void
  readonly cancel: () => void
  readonly open: (id: string) => void
}

/** Shows a task in `place`. */
export function showTask(place: HTMLElement, task: Json, actions: TaskActions): void {
  const { journal, arguments: given, questions, inbox, result, error, caller } = task
  const heading = element('h2', { tabindex: '-1' }, element('code', {}, clip(asText(task.taskId) ?? '', 100)))
  place.replaceChildren(
    heading,
    factsOf(task, actions.open),
    ...(error === undefined
      ? []
      : [element('h3', { class: 'bad' }, 'Error'), code(pretty(error), 'The error')]),
    buttonsFor(task, actions),
    ...journalOf(journal),
    ...part('Arguments', given),
    ...part('Result', result),
    ...questionsOf(questions),
    ...part('Inbox', inbox),
    ...part('Caller', caller),
    lazy('All of it', () => code(pretty(task), 'The whole task')),
  )
  heading.focus()
}

export function showTaskProblem(place: HTMLElement, message: string): void {
  place.replaceChildren(element('h2', {}, 'No task'), code(message, 'The reason'))
}

/** Formats a value only when it is opened: a journal may have thousands. */
function lazy(summary: string, content: () => HTMLElement): HTMLDetailsElement {
  const node = details(summary)
  node.addEventListener('toggle', () => node.append(content()), { once: true })
  return node
}

function part(name: string, value: unknown): HTMLElement[] {
  return value === undefined || value === null ? [] : [lazy(name, () => valueElement(value, name))]
}

/** A value, of which the endpoint may have cut the end. */
function valueElement(given: unknown, label: string): HTMLElement {
  const { json, bytes, isCut } = asObject(given)
  if (typeof json !== 'string') return code(pretty(given), label)
  const value = isCut === true ? undefined : parse(json)
  const text = value === undefined ? clip(json) : pretty(value)
  return code(isCut === true ? `${text}\n… cut, of ${String(bytes)} bytes` : text, label)
}

function questionsOf(given: unknown): HTMLElement[] {
  const asked = asList(given).slice(0, MAX_QUESTIONS).map(asObject)
  return asked.map(({ key, method, params }) => {
    const label = `Question ${clip(String(key), 100)}`
    return lazy(`${label}: ${clip(String(method), 100)}`, () => valueElement(params, label))
  })
}

function factsOf(task: Json, open: (id: string) => void): HTMLElement {
  const { status, statusMessage, tool, toolVersion, run, retriedAs, retryOf, bytes, awaits } = task
  const list = element('dl', {})
  const add = (name: string, value: string | HTMLElement | undefined): void => {
    if (value !== undefined && value !== '') list.append(element('dt', {}, name), element('dd', {}, value))
  }
  const link = (id: unknown): HTMLElement | undefined => {
    const text = asText(id)
    return text === undefined ? undefined : button(clip(text, 100), () => open(text))
  }
  const text = (value: unknown): string =>
    value === undefined || value === null ? '' : clip(String(value), 500)
  const time = (value: unknown): HTMLElement | undefined => (value ? timeElement(value) : undefined)
  const isError = task.isError === true ? 'with an error' : ''
  add('Status', element('span', {}, element('mark', {}, text(status)), isError, text(statusMessage)))
  add('Tool', [text(tool), toolVersion === undefined ? '' : `version ${text(toolVersion)}`].join(' '))
  add('Created', time(task.createdAt))
  add('Last updated', time(task.lastUpdatedAt))
  add('Due', time(task.dueAt))
  add('Deleted', time(task.expiresAt))
  add('Lease of a run', isObject(run) ? leaseOf(run) : undefined)
  add('Runs so far', runsOf(task))
  add('Waits for', asList(asObject(awaits).events).slice(0, 20).map(text).join(', '))
  add('Stored bytes', text(bytes))
  add('Tried again as', link(retriedAs))
  add('Tried again from', link(retryOf))
  return list
}

/** Its process may have died. */
function leaseOf({ until, leaseMs, isAlone }: Json): HTMLElement {
  const more = [
    typeof leaseMs === 'number' ? `a lease of ${leaseMs} ms` : undefined,
    isAlone === true ? 'alone in its process' : undefined,
  ]
  return element(
    'span',
    {},
    'until ',
    timeElement(until),
    more
      .filter(Boolean)
      .map((one) => `, ${one}`)
      .join(''),
  )
}

/** Consecutive runs since the last finished step. */
function runsOf({ idleRuns, crashes, loneCrashes, releases }: Json): string {
  const counts = [
    [idleRuns, 'without a finished step'],
    [crashes, 'crashed'],
    [loneCrashes, 'crashed alone'],
    [releases, 'could not begin'],
  ] as const
  return counts
    .filter(([count]) => typeof count === 'number' && count > 0)
    .map(([count, what]) => `${String(count)} ${what}`)
    .join(', ')
}

function buttonsFor(task: Json, { refresh, retry, cancel }: TaskActions): HTMLElement {
  const place = element('div', { class: 'buttons' })
  const status = String(task.status)
  const isFailed = status === 'failed' || task.isError === true
  const retryText = isFailed
    ? 'A new task begins with the stored steps and the arguments of this one.'
    : 'The task is due now, and its counts of failed runs begin again.'
  const restore = (): void =>
    place.replaceChildren(
      button('Refresh', refresh),
      ...(isFailed || !FINAL.includes(status) ? [button('Retry', () => ask(retryText, retry))] : []),
      ...(FINAL.includes(status)
        ? []
        : [button('Cancel', () => ask('A cancelled task never runs again.', cancel))]),
    )
  const ask = (text: string, act: () => void): void => {
    const yes = button('Yes', act, { class: 'main' })
    place.replaceChildren(element('p', { role: 'alert' }, text), yes, button('No', restore))
    yes.focus()
  }
  restore()
  return place
}

/** The last entries first on the page: a task that is stuck or failed shows there why. */
function journalOf(given: unknown): HTMLElement[] {
  const entries: readonly unknown[] = Array.isArray(given) ? given : []
  const rows = element('ol', { class: 'journal' })
  let first = entries.length
  const earlier = button('', () => showEarlier())
  const showEarlier = (): void => {
    const end = first
    first = Math.max(0, first - ENTRIES)
    rows.prepend(...entries.slice(first, end).map((entry, at) => entryOf(entry, first + at)))
    earlier.hidden = first === 0 || rows.childElementCount >= MAX_ENTRIES
    earlier.textContent = `${first} earlier`
  }
  showEarlier()
  const none =
    entries.length === 0
      ? element('p', {}, 'No entries. Of a task that has completed, only the result is kept.')
      : undefined
  return [
    element('h3', {}, `Journal (${entries.length})`),
    ...(none === undefined ? [] : [none]),
    earlier,
    rows,
  ]
}

function entryOf(given: unknown, at: number): HTMLElement {
  const { at: index, kind, name, value, error, isPending, ...more } = asObject(given)
  const place = typeof index === 'number' ? index : at
  const row = lazy('', () =>
    element(
      'div',
      {},
      ...(value === undefined ? [] : [valueElement(value, `Value ${place + 1}`)]),
      ...(error === undefined ? [] : [code(pretty(error), `Error ${place + 1}`)]),
      ...(Object.keys(more).length === 0 ? [] : [code(pretty(more), `Entry ${place + 1}`)]),
    ),
  )
  const [problem, preview] = [previewOf(error, 'message'), previewOf(value, 'json')]
  row.firstElementChild!.append(
    element('small', {}, `${place + 1} ${clip(String(kind), 40)} `),
    element('code', {}, clip(asText(name) ?? '', 200)),
    ...(isPending === true ? [' ', element('mark', {}, 'pending')] : []),
    ...(preview === undefined ? [] : [' ', element('small', { class: 'mono' }, preview)]),
    ...(problem === undefined ? [] : [' ', element('span', { class: 'bad' }, problem)]),
  )
  return element('li', {}, row)
}

function previewOf(given: unknown, member: string): string | undefined {
  const text = asText(asObject(given)[member])
  return text === undefined || text.length <= PREVIEW ? text : `${text.slice(0, PREVIEW)}…`
}
