/** The middle of the page: one tool, resource, template, prompt or event, with its form and its result. */
import {
  type ArgumentForm,
  createArgumentForm,
  type FormDraft,
  fromStored,
  toStored,
} from './argument-form.ts'
import { suggest } from './completion.ts'
import { type Deliveries, showDeliveries } from './deliveries.ts'
import { code, element, nextId } from './dom.ts'
import { labelled } from './form.ts'
import { asList, asObject, asText, type Json, pretty } from './json.ts'
import { createKept } from './kept.ts'
import { moveByArrows, rove } from './keys.ts'
import type { AskReceivers } from './local.ts'
import { createRun, type RunPlace } from './run.ts'
import { expand, variablesOf } from './uri-template.ts'

export type Kind = 'tool' | 'resource' | 'template' | 'prompt' | 'event'

export interface Place extends Omit<RunPlace, 'onEnd'> {
  /** Called when a request has ended, with what the form held, and a word for how. */
  readonly onEnd: (values: Json, outcome: string, ms: number) => void
  readonly work: HTMLElement
  /** Whether the server declares that it completes arguments. */
  readonly canComplete: boolean
  /** Earlier calls. */
  readonly history: HTMLElement
  readonly askReceivers: AskReceivers | undefined
  /** What is known about the item. */
  readonly marks: readonly string[]
}

/** What the user typed, by kind and name: for the next time that the item is shown, also with another schema. */
const drafts = createKept<FormDraft>()
const typed = createKept<ReadonlyMap<string, string>>()

/** All of it, for the page after a reload. */
export function storedValues(): Json {
  return { drafts: drafts.stored(toStored), typed: typed.stored((values) => Object.fromEntries(values)) }
}

export function restoreValues(stored: unknown): void {
  const before = asObject(stored)
  drafts.restore(before.drafts, fromStored)
  const texts = (values: unknown): Map<string, string> =>
    new Map(Object.entries(asObject(values)).map(([name, value]) => [name, String(value)]))
  typed.restore(before.typed, texts)
}

export interface ShownItem {
  /** Focused when the user has chosen the item. */
  readonly heading: HTMLElement
  /** Ends the running request. False if nothing runs. */
  readonly end: () => boolean
  /** Keeps what the user typed for the next time. */
  readonly keep: () => void
  /** The same, and ends the running request. A task goes on without the page. */
  readonly leave: () => void
  readonly start: () => void
  /** Says of a result that the code has changed since. */
  readonly outdate: () => void
  /** What the form holds. Throws if it is invalid. */
  readonly read: () => Json
  readonly write: (values: Json) => void
}

/** Shows one item of the server's lists. */
export function showItem(kind: Kind, item: Json, place: Place): ShownItem {
  const panel = PANELS[kind](item, place)
  let called: Json = {}
  const params = (): Json => {
    called = panel.read()
    return panel.params()
  }
  const run = createRun(
    {
      method: panel.method,
      verb: panel.verb,
      params,
      schema: item.inputSchema,
      outputSchema: item.outputSchema,
    },
    {
      ...place,
      onResult: (result) => {
        panel.onResult?.(result)
        place.onResult(result)
      },
      onEnd: (outcome, ms) => place.onEnd(called, outcome, ms),
    },
  )
  const heading = element('h2', { tabindex: '-1' }, asText(item.title) ?? titleOf(kind, item))
  const { tabs, views } = createViews(panel, item, place.history)
  const form = element('form', { id: 'call', novalidate: '' }, ...views, run.bar)
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    run.start()
    // The end of a long form is far from its button.
    run.output.scrollIntoView({ block: 'nearest' })
  })
  const more = panel.deliveries === undefined ? [] : [panel.deliveries.node]
  place.work.replaceChildren(describe(heading, kind, item, place.marks), tabs, form, ...more, run.output)
  panel.prepare?.()
  return {
    heading,
    end: run.end,
    start: run.start,
    outdate: () => {
      run.outdate()
      panel.deliveries?.refresh()
    },
    read: panel.read,
    write: panel.write,
    keep: () => panel.keep?.(),
    leave: () => {
      panel.keep?.()
      run.leave()
    },
  }
}

interface Panel {
  /** Of a tool, which is also edited as JSON. */
  readonly arguments?: ArgumentForm
  readonly method: string
  readonly verb: string
  readonly fields: readonly HTMLElement[]
  /** Throws if a JSON field is invalid. */
  readonly params: () => Json
  /** What the form holds. Throws if a JSON field is invalid. */
  readonly read: () => Json
  readonly write: (values: Json) => void
  /** Called when the panel is on the page. */
  readonly prepare?: () => void
  /** Keeps what the user typed. */
  readonly keep?: () => void
  readonly onResult?: (result: Json) => void
  /** Of an event. */
  readonly deliveries?: Deliveries
}

const PANELS: { readonly [kind in Kind]: (item: Json, place: Place) => Panel } = {
  tool: (item) => {
    const { name, inputSchema } = item
    const { form, ...access } = keptForm(`tool ${titleOf('tool', item)}`, inputSchema)
    return {
      method: 'tools/call',
      verb: 'Call',
      ...access,
      fields: [form.node],
      params: () => ({ name, arguments: form.read() }),
    }
  },
  event: (item, place) => {
    const { name, inputSchema } = item
    const { form, ...access } = keptForm(`event ${titleOf('event', item)}`, inputSchema)
    const cursor = element('input', { type: 'text', autocomplete: 'off', spellcheck: 'false' })
    const label = {
      title: 'Cursor',
      hint: 'Of the last poll. Without one, a poll asks where to begin.',
      isRequired: false,
    }
    return {
      method: 'events/poll',
      verb: 'Poll',
      ...access,
      fields: [form.node, labelled(label, cursor)],
      params: () => ({ name, arguments: form.read(), cursor: cursor.value || null }),
      onResult: (result) => {
        cursor.value = asText(result.cursor) ?? cursor.value
      },
      deliveries: showDeliveries(item, { ...place, read: form.read }),
    }
  },
  resource: ({ uri }) => ({
    method: 'resources/read',
    verb: 'Read',
    fields: [],
    params: () => ({ uri }),
    read: () => ({}),
    write: () => {},
  }),
  template: ({ uriTemplate }, place) => {
    const template = asText(uriTemplate) ?? ''
    const ref = { type: 'ref/resource', uri: template }
    const inputs = textInputs(
      variablesOf(template).map((name) => ({ name })),
      `template ${template}`,
    )
    return {
      method: 'resources/read',
      verb: 'Read',
      fields: inputs.nodes,
      params: () => ({ uri: expand(template, inputs.values()) }),
      ...inputs.access,
      prepare: () => inputs.suggestAll(place, ref),
      keep: inputs.keep,
    }
  },
  prompt: (item, place) => {
    const { name, arguments: given } = item
    const ref = { type: 'ref/prompt', name }
    const inputs = textInputs(asList(given).slice(0, 100).map(asObject), `prompt ${titleOf('prompt', item)}`)
    return {
      method: 'prompts/get',
      verb: 'Render',
      fields: inputs.nodes,
      params: () => ({
        name,
        arguments: Object.fromEntries([...inputs.values()].filter(([, value]) => value !== '')),
      }),
      ...inputs.access,
      prepare: () => inputs.suggestAll(place, ref),
      keep: inputs.keep,
    }
  },
}

/** A form that keeps what the user typed. */
function keptForm(
  key: string,
  schema: unknown,
): { readonly form: ArgumentForm } & Required<Pick<Panel, 'arguments' | 'keep'>> &
  Pick<Panel, 'read' | 'write'> {
  const form: ArgumentForm = createArgumentForm(schema, 'Arguments')
  const draft = drafts.get(key)
  if (draft !== undefined) form.restore(draft)
  const { read, write } = form
  return { form, arguments: form, read, write, keep: () => drafts.set(key, form.draft()) }
}

interface TextInputs {
  readonly nodes: HTMLElement[]
  readonly values: () => ReadonlyMap<string, string>
  readonly access: Pick<Panel, 'read' | 'write'>
  readonly suggestAll: (place: Place, ref: Json) => void
  readonly keep: () => void
}

function textInputs(fields: readonly Json[], key: string): TextInputs {
  const before = typed.get(key)
  const inputs = fields.map(({ name: given, title, description, required }) => {
    const name = asText(given) ?? ''
    const input = element('input', { type: 'text' })
    input.value = before?.get(name) ?? ''
    const label = {
      title: asText(title) ?? name,
      hint: asText(description),
      isRequired: required === true,
    }
    return { name, input, node: labelled(label, input) }
  })
  const values = (): Map<string, string> => new Map(inputs.map(({ name, input }) => [name, input.value]))
  return {
    nodes: inputs.map(({ node }) => node),
    values,
    keep: () => typed.set(key, values()),
    access: {
      read: () => Object.fromEntries(values()),
      write: (given) => {
        for (const { name, input } of inputs) input.value = String(given[name] ?? '')
      },
    },
    suggestAll: ({ client, canComplete }, ref) => {
      if (canComplete) for (const { name, input } of inputs) suggest(input, name, { client, ref, values })
    },
  }
}

/** Form, JSON and Definition. `#saved` is for saved calls. */
function createViews(
  panel: Panel,
  item: Json,
  history: HTMLElement,
): { readonly tabs: HTMLElement; readonly views: HTMLElement[] } {
  const none = element('p', { class: 'soft' }, 'Nothing to fill in.')
  const fields = element('div', { class: 'fields', role: 'tabpanel' }, ...panel.fields)
  if (fields.querySelector('.field:not([hidden]),fieldset') === null) fields.append(none)
  const definition = element(
    'div',
    { id: 'definition', role: 'tabpanel', hidden: '' },
    code(pretty(item), 'The definition as JSON'),
  )
  const names = panel.arguments === undefined ? ['Form', 'Definition'] : ['Form', 'JSON', 'Definition']
  const tabs = names.map((name) => element('button', { type: 'button', role: 'tab', id: nextId() }, name))
  const select = (tab: HTMLElement): void => {
    const name = tab.textContent
    if (name !== 'Definition' && panel.arguments?.edit(name === 'JSON' ? 'json' : 'form') === false) return
    for (const one of tabs) one.setAttribute('aria-selected', String(one === tab))
    rove(tabs, tab)
    definition.hidden = name !== 'Definition'
    fields.hidden = !definition.hidden
    ;(fields.hidden ? definition : fields).setAttribute('aria-labelledby', tab.id)
  }
  for (const tab of tabs) tab.addEventListener('click', () => select(tab))
  select(tabs.find((tab) => tab.textContent === 'JSON' && panel.arguments?.view === 'json') ?? tabs[0]!)
  const list = element('div', { role: 'tablist', 'aria-label': 'Views' }, ...tabs)
  list.addEventListener('keydown', (event) => moveByArrows(event, tabs))
  return {
    tabs: element('div', { id: 'views' }, list, element('div', { id: 'saved' }, history)),
    views: [fields, definition],
  }
}

function describe(heading: HTMLElement, kind: Kind, item: Json, marks: readonly string[]): HTMLElement {
  const name = titleOf(kind, item)
  const description = asText(item.description)
  return element(
    'div',
    { id: 'item' },
    element(
      'div',
      { class: 'line' },
      heading,
      heading.textContent === name ? undefined : element('code', { class: 'soft' }, name),
      ...marks.map((mark) => element('mark', mark === 'destructive' ? { class: 'bad' } : {}, mark)),
    ),
    element('p', { class: 'description' }, description ?? ''),
  )
}

export function titleOf(kind: Kind, item: Json): string {
  const name = kind === 'resource' ? item.uri : kind === 'template' ? item.uriTemplate : item.name
  return asText(name) ?? '(without a name)'
}
