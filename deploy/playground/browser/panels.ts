/** The middle of the page: one tool, resource, template or prompt, with its form and its result. */
import { type ArgumentForm, createArgumentForm } from './argument-form.ts'
import type { Client } from './client.ts'
import { type Completable, suggest } from './completion.ts'
import { button, code, details, element } from './dom.ts'
import { labelled } from './form.ts'
import { asList, asObject, asText, type Json, pretty } from './json.ts'
import { showProblem, showResult } from './result.ts'
import { expand, variablesOf } from './uri-template.ts'

export type Kind = 'tool' | 'resource' | 'template' | 'prompt'

export interface Place {
  readonly client: Client
  readonly work: HTMLElement
  /** Where the server's questions appear. */
  readonly questions: HTMLElement
  /** For screen readers. */
  readonly say: (text: string) => void
  /** Called with an error, including that the server requires a token. */
  readonly onFailure: (error: unknown) => void
}

/** Shows one item of the server's lists. Returns a function that ends its running request. */
export function showItem(kind: Kind, item: Json, place: Place): () => void {
  const panel = PANELS[kind](item, place)
  const output = element('div', { class: 'result' })
  let running: AbortController | undefined
  const cancel = button('Cancel', () => running?.abort(new Error('cancelled')), { disabled: '' })
  const submit = element('button', { type: 'submit', class: 'main' }, panel.verb)
  const run = async (): Promise<void> => {
    running?.abort(new Error('called again'))
    const own = new AbortController()
    running = own
    try {
      const params = panel.params()
      cancel.disabled = false
      place.say('Running')
      output.replaceChildren(element('p', {}, 'Running …'))
      output.classList.remove('failed')
      const result = await place.client.request(panel.method, params, own.signal, item.inputSchema)
      showResult(output, result)
      place.say('There is a result')
    } catch (error) {
      if (running !== own) return
      showProblem(output, own.signal.aborted ? new Error('cancelled') : error)
      place.say('There is no result')
      place.onFailure(error)
    } finally {
      if (running === own) {
        cancel.disabled = true
        running = undefined
      }
    }
  }
  const form = element(
    'form',
    { novalidate: '' },
    ...panel.fields,
    element('div', { class: 'buttons' }, submit, cancel),
  )
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void run()
  })
  place.questions.replaceChildren()
  place.work.replaceChildren(...heading(kind, item), form, place.questions, output)
  panel.prepare?.()
  return () => running?.abort(new Error('cancelled'))
}

interface Panel {
  readonly method: string
  readonly verb: string
  readonly fields: readonly HTMLElement[]
  /** Throws if a JSON field is invalid. */
  readonly params: () => Json
  /** Called when the panel is on the page. */
  readonly prepare?: () => void
}

const PANELS: { readonly [kind in Kind]: (item: Json, place: Place) => Panel } = {
  tool: ({ name, inputSchema }) => {
    const form: ArgumentForm = createArgumentForm(inputSchema, 'Arguments')
    return {
      method: 'tools/call',
      verb: 'Call',
      fields: [form.node],
      params: () => ({ name, arguments: form.read() }),
    }
  },
  resource: ({ uri }) => ({ method: 'resources/read', verb: 'Read', fields: [], params: () => ({ uri }) }),
  template: ({ uriTemplate }, place) => {
    const template = asText(uriTemplate) ?? ''
    const ref = { type: 'ref/resource', uri: template }
    const inputs = textInputs(variablesOf(template).map((name) => ({ name })))
    return {
      method: 'resources/read',
      verb: 'Read',
      fields: inputs.nodes,
      params: () => ({ uri: expand(template, inputs.values()) }),
      prepare: () => inputs.suggestAll({ client: place.client, ref, values: inputs.values }),
    }
  },
  prompt: ({ name, arguments: given }, place) => {
    const ref = { type: 'ref/prompt', name }
    const inputs = textInputs(asList(given).slice(0, 100).map(asObject))
    return {
      method: 'prompts/get',
      verb: 'Render',
      fields: inputs.nodes,
      params: () => ({
        name,
        arguments: Object.fromEntries([...inputs.values()].filter(([, value]) => value !== '')),
      }),
      prepare: () => inputs.suggestAll({ client: place.client, ref, values: inputs.values }),
    }
  },
}

interface TextInputs {
  readonly nodes: HTMLElement[]
  readonly values: () => ReadonlyMap<string, string>
  readonly suggestAll: (completable: Completable) => void
}

function textInputs(fields: readonly Json[]): TextInputs {
  const inputs = fields.map(({ name, title, description, required }) => {
    const input = element('input', { type: 'text' })
    const label = {
      title: asText(title) ?? String(name),
      hint: asText(description),
      isRequired: required === true,
    }
    return { name: String(name), input, node: labelled(label, input) }
  })
  return {
    nodes: inputs.map(({ node }) => node),
    values: () => new Map(inputs.map(({ name, input }) => [name, input.value])),
    suggestAll: (completable) => {
      for (const { name, input } of inputs) suggest(input, name, completable)
    },
  }
}

function heading(kind: Kind, item: Json): HTMLElement[] {
  const name = titleOf(kind, item)
  const title = asText(item.title)
  const { readOnlyHint, destructiveHint } = asObject(item.annotations)
  const mark = (text: string, isOn: unknown): HTMLElement | undefined =>
    isOn === true ? element('mark', {}, text) : undefined
  const heading = element('h2', { tabindex: '-1' }, element('code', {}, name))
  const description = asText(item.description)
  const marks = [mark('read-only', readOnlyHint), mark('destructive', destructiveHint)]
  return [
    heading,
    ...(title === undefined || title === name ? [] : [element('p', { class: 'soft' }, title)]),
    ...marks.filter((one) => one !== undefined),
    ...(description === undefined ? [] : [element('p', { class: 'description' }, description)]),
    details('Definition', code(pretty(item), 'The definition as JSON')),
  ]
}

export function titleOf(kind: Kind, item: Json): string {
  const name = kind === 'resource' ? item.uri : kind === 'template' ? item.uriTemplate : item.name
  return asText(name) ?? '(without a name)'
}
