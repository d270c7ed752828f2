/** The arguments of a call: a form from its schema, or the same as JSON. */
import { button, element } from './dom.ts'
import { createForm, labelled, readJson, reviveDraft, writeJson } from './form.ts'
import { asObject, asText, type Json } from './json.ts'
import { secretsOf, toField } from './schema.ts'

export interface ArgumentForm {
  readonly node: HTMLElement
  /** Switches between the form and JSON, with the same values. Not in `node`. */
  readonly toggle: HTMLButtonElement
  /** How they are edited now. */
  readonly view: 'form' | 'json'
  /** False if it stays as it is, since the JSON is invalid. */
  edit(as: 'form' | 'json'): boolean
  /** Throws if a JSON field is invalid, after showing the error. */
  read(): Json
  /** Shows these arguments: those of an earlier call. */
  write(values: Json): void
  /** What the user changed, for `restore` of another form of the same tool. Undefined if that is nothing. */
  draft(): FormDraft | undefined
  restore(draft: FormDraft): void
}

export interface FormDraft {
  /** What differs from the defaults, by name: a new default of other arguments is not hidden by the old one. */
  readonly values: ReadonlyMap<string, unknown>
  /** The text, if the arguments are edited as JSON. */
  readonly text: string | undefined
  readonly isSecret: (name: string) => boolean
}

/** A draft as JSON, without what may be a password. */
export function toStored({ values, text, isSecret }: FormDraft): Json {
  const kept = [...values].filter(([name]) => !isSecret(name))
  // A name that no schema has.
  return { values: Object.fromEntries(kept), text: isSecret('') ? undefined : text }
}

export function fromStored(stored: unknown): FormDraft {
  const { values, text } = asObject(stored)
  const entries = Object.entries(asObject(values)).map(([name, value]) => [name, reviveDraft(value)] as const)
  return { values: new Map(entries), text: asText(text), isSecret: () => false }
}

export function createArgumentForm(schema: unknown, title: string): ArgumentForm {
  const control = createForm(toField(schema))
  const input = element('textarea', { rows: '8', class: 'mono', spellcheck: 'false' })
  const raw = labelled({ title: `${title} as JSON`, isRequired: false }, input)
  raw.hidden = true
  let isRaw = false
  const showRaw = (wanted: boolean): void => {
    isRaw = wanted
    raw.hidden = !isRaw
    control.node.hidden = isRaw
    toggle.textContent = isRaw ? 'Edit as a form' : 'Edit as JSON'
  }
  const edit = (as: 'form' | 'json'): boolean => {
    if ((as === 'json') === isRaw) return true
    try {
      if (isRaw) control.write(readJson(input))
      else writeJson(input, control.read() ?? {})
    } catch {
      return false
    }
    showRaw(!isRaw)
    return true
  }
  const toggle = button('Edit as JSON', () => edit(isRaw ? 'form' : 'json'))
  const given = asObject(control.draft())
  return {
    node: element('div', { class: 'fields' }, control.node, raw),
    toggle,
    get view() {
      return isRaw ? 'json' : 'form'
    },
    edit,
    read: () => asObject(isRaw ? readJson(input) : control.read()),
    write: (values) => {
      try {
        control.write(values)
        showRaw(false)
      } catch {
        // Too many for a form.
        writeJson(input, values)
        showRaw(true)
      }
    },
    draft: () => {
      const now = asObject(control.draft())
      const names = new Set([...Object.keys(given), ...Object.keys(now)])
      const changed = [...names].filter((name) => JSON.stringify(now[name]) !== JSON.stringify(given[name]))
      const values = new Map(changed.map((name) => [name, now[name]]))
      if (values.size === 0 && !isRaw) return undefined
      return { values, text: isRaw ? input.value : undefined, isSecret: secretsOf(schema) }
    },
    restore: ({ values, text }) => {
      try {
        if (values.size > 0) control.write({ ...given, ...Object.fromEntries(values) })
      } catch {
        // The new schema has no room for them.
        control.write(given)
      }
      if (text !== undefined) input.value = text
      showRaw(text !== undefined)
    },
  }
}
