/** The last calls of this page, to be repeated, and calls that the user saved by name in the browser's storage. */
import { button, element, nextId } from './dom.ts'
import { asList, asObject, asText, clip, isObject, type Json, parse, pretty, reasonOf } from './json.ts'
import { durationText } from './measures.ts'
import { placeOf } from './tab-store.ts'

export interface Call {
  /** Of the offer, for `open`. */
  readonly id: string
  /** The name or URI of what is called. */
  readonly name: string
  /** What its form holds. */
  readonly values: Json
}

export interface HistoryOptions {
  /** The MCP endpoint: each has its own saved calls. */
  readonly endpoint: string
  /** Shows the call in its form, and runs it if wanted. False if the server does not offer it now. */
  readonly open: (call: Call, isRun: boolean) => boolean
  /** What the form holds now. Undefined without a form; throws if the form is invalid. */
  readonly current: () => Call | undefined
  /** Those of the page before a reload. */
  readonly lastCalls: unknown
  /** For screen readers. */
  readonly say: (text: string) => void
}

export interface History {
  readonly endpoint: string
  /** A menu. */
  readonly node: HTMLDetailsElement
  /** Adds a call that has ended. */
  add(call: Call, outcome: string, ms: number): void
  /** The last calls, for `lastCalls` of another page. */
  last(): readonly Json[]
  /** Opens the menu where a call is saved. */
  openSave(): void
}

interface Saved extends Call {
  readonly title: string
}

const MAX_LAST = 20
const MAX_SAVED = 50
const MAX_TITLE = 100
/** Characters of one saved call. */
const MAX_CHARACTERS = 100_000

export function createHistory({ endpoint, open, current, lastCalls, say }: HistoryOptions): History {
  const last = element('ol')
  const saved = element('ol')
  const title = element('input', { type: 'text', id: nextId(), maxlength: String(MAX_TITLE) })
  const problem = element('p', { class: 'bad', role: 'alert' })
  const store = `mayfly-calls ${placeOf(endpoint)}`

  const summary = element('summary', {}, 'History')
  const close = (): void => {
    node.open = false
  }
  const use = (call: Call, isRun: boolean): void => {
    close()
    if (!open(call, isRun)) say(`The server does not offer ${clip(call.name, 100)} now`)
  }
  const readAll = (): Saved[] =>
    asList(parse(localStorage.getItem(store) ?? ''))
      .flatMap(toSaved)
      .slice(0, MAX_SAVED)
  const writeAll = (calls: readonly Saved[]): void => {
    localStorage.setItem(store, JSON.stringify(calls))
    showSaved(calls)
  }
  const showSaved = (calls: readonly Saved[]): void => {
    const rows = calls.map((call) =>
      element(
        'li',
        { class: 'row' },
        button('', () => use(call, false), { 'aria-label': `Open ${call.title}` }),
        button('Delete', () => writeAll(readAll().filter((other) => other.title !== call.title)), {
          'aria-label': `Delete ${call.title}`,
        }),
      ),
    )
    rows.forEach((row, at) => {
      row.firstElementChild!.append(
        calls[at]!.title,
        ' ',
        element('small', {}, `${clip(calls[at]!.name, 60)} ${briefly(calls[at]!.values)}`),
      )
    })
    saved.replaceChildren(...rows)
    none.hidden = rows.length > 0
  }
  const save = (): void => {
    problem.textContent = ''
    try {
      const call = current()
      if (call === undefined) return
      const name = title.value.trim() || `${call.name} ${briefly(call.values)}`
      const entry = { ...call, title: clip(name, MAX_TITLE) }
      if (JSON.stringify(entry).length > MAX_CHARACTERS)
        throw new Error(`a saved call has at most ${MAX_CHARACTERS} characters`)
      const others = readAll().filter((other) => other.title !== entry.title)
      if (others.length >= MAX_SAVED) throw new Error(`${MAX_SAVED} calls are saved: delete one first`)
      writeAll([entry, ...others])
      title.value = ''
      say(`Saved as ${entry.title}`)
    } catch (error) {
      problem.textContent = `Not saved: ${reasonOf(error)}`
    }
  }
  title.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter') return
    event.preventDefault()
    save()
  })

  const none = element('p', { class: 'soft' }, 'None.')
  const noneYet = element('p', { class: 'soft' }, 'None in this tab.')
  const node = element(
    'details',
    { class: 'menu', name: 'menu' },
    summary,
    element(
      'div',
      { class: 'panel history' },
      element('h3', {}, 'Last calls'),
      noneYet,
      last,
      element('h3', {}, 'Saved calls'),
      none,
      saved,
      element('label', { for: title.id }, 'Save this call as'),
      element('div', { class: 'row' }, title, button('Save', save)),
      problem,
    ),
  )
  /** Newest first. */
  let calls: readonly Json[] = []
  const add = (call: Call, outcome: string, ms: number): void => {
    calls = [{ ...call, outcome, ms }, ...calls].slice(0, MAX_LAST)
    const text = `${clip(call.name, 60)} ${briefly(call.values)}`
    const row = button('', () => use(call, true), { title: 'Call again with the same arguments' })
    row.append(
      element('span', { class: 'away' }, 'Call again: '),
      element('code', {}, text),
      ' ',
      element('small', {}, `${outcome} · ${durationText(ms)}`),
    )
    last.prepend(element('li', {}, row))
    if (last.childElementCount > MAX_LAST) last.lastElementChild!.remove()
    noneYet.hidden = true
  }
  for (const given of asList(lastCalls).slice(0, MAX_LAST).reverse()) {
    const { outcome, ms } = asObject(given)
    const [call] = toSaved({ ...asObject(given), title: 'one of the last' })
    if (call !== undefined && typeof ms === 'number') add(call, clip(String(outcome), 20), ms)
  }
  showSaved(readAll())
  return {
    endpoint,
    node,
    add,
    last: () => calls,
    openSave: () => {
      // After the click, which closes open menus.
      setTimeout(() => {
        node.open = true
        title.focus()
      })
    },
  }
}

/** What the storage has may be of an older page, or edited. */
function toSaved(stored: unknown): Saved[] {
  const { title, id, name, values } = asObject(stored)
  if (asText(title) === undefined || asText(name) === undefined) return []
  if (asText(id) === undefined || !isObject(values)) return []
  return [{ title: clip(String(title), MAX_TITLE), id: String(id), name: String(name), values }]
}

function briefly(values: Json): string {
  const text = pretty(values, 300).replaceAll(/\s+/g, ' ')
  return text === '{}' ? '' : clip(text, 60).split('\n', 1)[0]!
}
