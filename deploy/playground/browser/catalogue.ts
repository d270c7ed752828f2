/** What the server offers: sections of buttons with a line of description and marks, and a filter. */
import { isA } from '../../../src/definition/error-text.ts'
import type { Client } from './client.ts'
import { button, element, nextId } from './dom.ts'
import { RpcError } from './exchange.ts'
import { asObject, asText, clip, isObject, type Json } from './json.ts'
import { moveByArrows } from './keys.ts'
import { type Kind, titleOf } from './panels.ts'

const LISTS = [
  { kind: 'tool', heading: 'Tools', method: 'tools/list', member: 'tools', capability: 'tools' },
  {
    kind: 'resource',
    heading: 'Resources',
    method: 'resources/list',
    member: 'resources',
    capability: 'resources',
  },
  {
    kind: 'template',
    heading: 'Resource templates',
    method: 'resources/templates/list',
    member: 'resourceTemplates',
    capability: 'resources',
  },
  { kind: 'prompt', heading: 'Prompts', method: 'prompts/list', member: 'prompts', capability: 'prompts' },
  { kind: 'event', heading: 'Events', method: 'events/list', member: 'events', capability: 'events' },
] as const

const EVENTS_EXTENSION = 'io.modelcontextprotocol/events'

export interface Offer {
  readonly kind: Kind
  readonly item: Json
}

/** All lists of the server's capabilities. Rejects if one fails, unless its method is unknown. */
export async function readOffers(client: Client, described: Json, signal: AbortSignal): Promise<Offer[]> {
  const given = asObject(described.capabilities)
  const events = given.events ?? asObject(given.extensions)[EVENTS_EXTENSION]
  const capabilities: Json = { ...given, events }
  const lists = LISTS.filter(({ capability }) => isObject(capabilities[capability]))
  const read = lists.map(async ({ kind, method, member }) => {
    try {
      const items = await client.list(method, member, signal)
      return items.map((item) => ({ kind, item }))
    } catch (error) {
      if (isA(error, RpcError) && error.code === -32601) return []
      throw error
    }
  })
  return (await Promise.all(read)).flat()
}

/** What calls have shown of an offer, which its definition does not say. */
export type Trait = 'asks' | 'task'

export interface Catalogue {
  /** Chooses the offer with this id, otherwise the first. */
  readonly pick: (id: string | undefined) => void
  /** False if there is none. */
  readonly has: (id: string) => boolean
  readonly note: (offer: Offer, trait: Trait) => void
  /** Shows a text beside an offer. */
  readonly remark: (id: string, text: string) => void
  /** Returns a function that gives the filter and the focus to the catalogue that replaces this one. */
  readonly hold: () => (next: Catalogue) => void
  readonly filterBy: (text: string) => void
  /** Focuses the chosen offer. */
  readonly focusChosen: () => void
  readonly focusFilter: () => void
  /** Shows all offers again, and focuses the chosen one. */
  readonly leaveFilter: () => void
}

export interface CatalogueHooks {
  /** `isByUser`: not the first one, or that of the URL, on connecting. */
  readonly onPick: (offer: Offer, isByUser: boolean) => void
  /** For screen readers. */
  readonly say: (text: string) => void
}

/** `encodeURIComponent` throws for half a pair of surrogates. */
const LONE = /[\uD800-\uDFFF]/gu

/** For the hash of the URL. */
export function idOf({ kind, item }: Offer): string {
  return `${kind}=${encodeURIComponent(titleOf(kind, item).slice(0, 500).replace(LONE, '\uFFFD'))}`
}

const learned = new Map<string, Set<Trait>>()

interface Row {
  readonly offer: Offer
  readonly node: HTMLButtonElement
  readonly place: HTMLElement
  readonly marks: HTMLElement
  /** What the filter reads. */
  readonly text: string
}

/** Shows the offers in sections, with a filter. */
export function showCatalogue(
  place: HTMLElement,
  offers: readonly Offer[],
  { onPick, say }: CatalogueHooks,
): Catalogue {
  const rows = new Map<string, Row>()
  let chosen: Row | undefined
  const choose = (row: Row, isByUser: boolean): void => {
    chosen?.node.removeAttribute('aria-current')
    chosen = row
    row.node.setAttribute('aria-current', 'true')
    reach()
    onPick(row.offer, isByUser)
  }
  const shown = (): Row[] => [...rows.values()].filter((row) => !row.place.hidden)
  const reach = (): void => {
    const target = chosen === undefined || chosen.place.hidden ? shown()[0] : chosen
    if (target === reached) return
    if (reached !== undefined) reached.node.tabIndex = -1
    if (target !== undefined) target.node.tabIndex = 0
    reached = target
  }
  let reached: Row | undefined
  const sections = LISTS.flatMap(({ kind, heading }) => {
    const own = offers.filter((offer) => offer.kind === kind)
    if (own.length === 0) return []
    const ownRows = own.map((offer) => {
      const row: Row = createRow(offer, () => choose(row, true))
      const id = idOf(offer)
      // The first of two with the same name.
      rows.set(rows.has(id) ? `${id}&${rows.size}` : id, row)
      return row
    })
    const count = element('span', {}, String(own.length))
    const list = element('ul', {}, ...ownRows.map((row) => row.place))
    const node = element('section', {}, element('h2', {}, element('span', {}, heading), ' ', count), list)
    return [{ node, count, rows: ownRows }]
  })
  const filter = element('input', {
    type: 'search',
    autocomplete: 'off',
    spellcheck: 'false',
    'aria-label': 'Filter by name or text',
    'aria-keyshortcuts': '/',
    placeholder: `Filter ${offers.length} by name or text`,
  })
  const none = element('p', { class: 'soft', hidden: '' }, 'Nothing matches. Esc shows all again.')
  const apply = (): void => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean)
    for (const row of rows.values()) row.place.hidden = !words.every((word) => row.text.includes(word))
    for (const section of sections) {
      const left = section.rows.filter((row) => !row.place.hidden).length
      section.node.hidden = left === 0
      const all = section.rows.length
      section.count.textContent = left === all ? String(all) : `${left} of ${all}`
    }
    const left = shown().length
    none.hidden = left > 0
    reach()
    say(words.length === 0 ? '' : `${left} of ${rows.size} match`)
  }
  filter.addEventListener('input', apply)
  filter.addEventListener('keydown', (event) => {
    const [first] = shown()
    if (first === undefined || event.ctrlKey || event.metaKey) return
    if (event.key === 'Enter') choose(first, true)
    else if (event.key === 'ArrowDown') first.node.focus()
    else return
    event.preventDefault()
  })
  const find = element('div', { id: 'find' }, filter, element('kbd', { 'aria-hidden': 'true' }, '/'))
  const lists = element('div', {}, ...sections.map(({ node }) => node))
  lists.addEventListener('keydown', (event) => {
    moveByArrows(
      event,
      shown().map(({ node }) => node),
    )
  })
  if (sections.length === 0) lists.append(element('p', {}, 'The server offers nothing to this client.'))
  place.replaceChildren(find, none, lists)
  return {
    has: (id) => rows.has(id),
    pick: (id) => {
      const row = rows.get(id ?? '') ?? [...rows.values()][0]
      if (row !== undefined) choose(row, false)
    },
    note: (offer, trait) => {
      const id = idOf(offer)
      learned.set(id, (learned.get(id) ?? new Set<Trait>()).add(trait))
      const row = rows.get(id)
      if (row !== undefined) drawMarks(row.marks, offer)
    },
    remark: (id, text) => {
      const place = rows.get(id)?.place
      place?.querySelector('.heard')?.remove()
      place?.append(element('small', { class: 'heard' }, text))
    },
    hold: () => {
      const focused = document.activeElement
      const text = filter.value
      const hadFocus = place.contains(focused)
      return (next) => {
        if (text !== '') next.filterBy(text)
        if (focused === filter) next.focusFilter()
        else if (hadFocus) next.focusChosen()
      }
    },
    filterBy: (text) => {
      filter.value = text
      apply()
    },
    focusChosen: () => chosen?.node.focus(),
    focusFilter: () => filter.focus(),
    leaveFilter: () => {
      if (filter.value !== '') {
        filter.value = ''
        apply()
      }
      reached?.node.focus()
    },
  }
}

function createRow(offer: Offer, onClick: () => void): Row {
  const { kind, item } = offer
  const name = clip(titleOf(kind, item), 300)
  const title =
    asText(item.title) ?? (kind === 'resource' || kind === 'template' ? asText(item.name) : undefined)
  const description = asText(item.description) ?? ''
  const [line = ''] = clip(title ?? description, 150)
    .trim()
    .split('\n', 1)
  const small = element('small', { id: nextId() }, line)
  const marks = element('span', { class: 'marks', id: nextId() })
  const node = button(name, onClick, { tabindex: '-1', 'aria-describedby': `${marks.id} ${small.id}` })
  drawMarks(marks, offer)
  const text = [name, title ?? '', description.slice(0, 2000)].join(' ').toLowerCase()
  return { offer, node, place: element('li', {}, node, marks, small), marks, text }
}

/** What the definition of a tool, and calls of it, say about it. */
export function marksOf(offer: Offer): string[] {
  const { annotations, execution } = offer.item
  const { readOnlyHint, destructiveHint } = asObject(annotations)
  const { taskSupport } = asObject(execution)
  const traits = learned.get(idOf(offer))
  return [
    readOnlyHint === true && 'read-only',
    destructiveHint === true && readOnlyHint !== true && 'destructive',
    traits?.has('asks') === true && 'asks',
    (traits?.has('task') === true || taskSupport === 'required' || taskSupport === 'optional') && 'task',
  ].filter((mark) => mark !== false)
}

function drawMarks(place: HTMLElement, offer: Offer): void {
  const marks = marksOf(offer)
  place.textContent = marks.join(' · ')
  place.classList.toggle('danger', marks.includes('destructive'))
}
