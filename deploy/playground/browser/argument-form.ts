/** The arguments of a call: a form from its schema, or the same as JSON. */
import { button, element } from './dom.ts'
import { createForm, labelled, readJson, writeJson } from './form.ts'
import { asObject, type Json } from './json.ts'
import { toField } from './schema.ts'

export interface ArgumentForm {
  readonly node: HTMLElement
  /** Switches between the form and JSON, with the same values. Not in `node`. */
  readonly toggle: HTMLButtonElement
  /** False if it stays as it is, since the JSON is invalid. */
  edit(as: 'form' | 'json'): boolean
  /** Throws if a JSON field is invalid, after showing the error. */
  read(): Json
}

export function createArgumentForm(schema: unknown, title: string): ArgumentForm {
  const control = createForm(toField(schema))
  const input = element('textarea', { rows: '8', class: 'mono', spellcheck: 'false' })
  const raw = labelled({ title: `${title} as JSON`, isRequired: false }, input)
  raw.hidden = true
  let isRaw = false
  const edit = (as: 'form' | 'json'): boolean => {
    if ((as === 'json') === isRaw) return true
    try {
      if (isRaw) control.write(readJson(input))
      else writeJson(input, control.read() ?? {})
    } catch {
      return false
    }
    isRaw = !isRaw
    raw.hidden = !isRaw
    control.node.hidden = isRaw
    toggle.textContent = isRaw ? 'Edit as a form' : 'Edit as JSON'
    return true
  }
  const toggle = button('Edit as JSON', () => edit(isRaw ? 'form' : 'json'))
  return {
    node: element('div', { class: 'fields' }, control.node, raw),
    toggle,
    edit,
    read: () => asObject(isRaw ? readJson(input) : control.read()),
  }
}
