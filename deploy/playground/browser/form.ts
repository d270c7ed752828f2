/** Inputs for a field of a schema, which can be read and written. */
import { isA } from '../../../src/definition/error-text.ts'
import { button, element, nextId } from './dom.ts'
import { asList, asObject, asText, isObject, type Json, pretty } from './json.ts'
import type { Choice, Field } from './schema.ts'

export interface Control {
  readonly node: HTMLElement
  /** Undefined if the user left it empty. Throws if a JSON field is invalid, after showing the error at it. */
  read(): unknown
  /** The same for `write`, also if a JSON field is invalid. Never throws. */
  draft(): unknown
  write(value: unknown): void
}

/** What the user typed into a JSON field, which may be invalid so far. */
class JsonText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  toJSON(): Json {
    return { [TYPED]: this.text }
  }
}

const TYPED = 'mayfly-json-text'

/** A draft that was stored as JSON. */
export function reviveDraft(value: unknown): unknown {
  const text = asText(asObject(value)[TYPED])
  return text === undefined ? value : new JsonText(text)
}

const MAX_ARRAY = 200

/** Controls of one form, whatever its schema and values; arrays within arrays would make 200ⁿ. */
const MAX_CONTROLS = 1000

interface Budget {
  /** Controls that the form may still have. */
  controls: number
  /** Controls that this edit may still make: defaults of a schema may fill lists that a value then empties. */
  made: number
}

class FormTooLarge extends Error {
  override readonly message = 'too large for a form: edit it as JSON'
}

/** The control of a whole form; a JSON field if the form would have too many controls. */
export function createForm(field: Field): Control {
  const budget: Budget = { controls: MAX_CONTROLS, made: 2 * MAX_CONTROLS }
  try {
    const control = createControl(field, budget)
    const write = (value: unknown): void => {
      budget.made = 2 * MAX_CONTROLS
      control.write(value)
    }
    return { ...control, write }
  } catch (error) {
    if (!isA(error, FormTooLarge)) throw error
    return createControl({ ...field, kind: 'json', hint: error.message }, { controls: 1, made: 1 })
  }
}

function createControl(field: Field, budget: Budget): Control {
  const cost = 1 + ('choices' in field ? field.choices.length / 10 : 0)
  budget.controls -= cost
  budget.made -= cost
  if (budget.controls < 0 || budget.made < 0) throw new FormTooLarge()
  const control = MAKERS[field.kind](field as never, budget)
  if (field.initial !== undefined) control.write(field.initial)
  return control
}

const MAKERS: {
  readonly [Kind in Field['kind']]: (field: Extract<Field, { kind: Kind }>, budget: Budget) => Control
} = {
  text: (field) => {
    const input =
      field.input === 'area'
        ? element('textarea', { rows: '4' })
        : field.input === 'password'
          ? element('input', { type: 'password', autocomplete: 'off' })
          : element('input', { type: 'text' })
    // Only typing aids: the browser's own validation would keep invalid values from the server.
    if (field.input === 'email' || field.input === 'url') input.setAttribute('inputmode', field.input)
    if (field.input === 'date') input.setAttribute('placeholder', 'YYYY-MM-DD')
    const read = (): unknown => (input.value === '' && !field.isRequired ? undefined : input.value)
    return { node: labelled(field, input), read, draft: read, write: writeText(input) }
  },
  number: (field) => {
    const input = element('input', { type: 'text', inputmode: 'decimal' })
    const read = (): unknown => {
      const text = input.value.trim()
      // A value that is not a number is sent unchanged, to show how the server answers.
      return text === '' ? undefined : Number.isFinite(Number(text)) ? Number(text) : text
    }
    return { node: labelled(field, input), read, draft: read, write: writeText(input) }
  },
  boolean: (field) =>
    pick(field, [
      { value: true, label: 'true' },
      { value: false, label: 'false' },
    ]),
  choice: (field) => pick(field, field.choices),
  several: (field) => {
    const boxes = field.choices.map(({ value, label }) => {
      const box = element('input', { type: 'checkbox' })
      return { box, value, node: element('label', { class: 'check' }, box, label) }
    })
    const group = grouped(field, ...boxes.map(({ node }) => node))
    const read = (): unknown => {
      const picked = boxes.filter(({ box }) => box.checked).map(({ value }) => value)
      return picked.length === 0 && !field.isRequired ? undefined : picked
    }
    return {
      node: group,
      read,
      draft: read,
      write: (value) => {
        for (const one of boxes) one.box.checked = asList(value).includes(one.value)
      },
    }
  },
  object: (field, budget) => {
    const controls = field.fields.map((inner) => ({
      name: inner.name,
      isRequired: inner.isRequired,
      ...createControl(inner, budget),
    }))
    const nodes = controls.map(({ node }) => node)
    const readBy = (how: 'read' | 'draft'): unknown => {
      const values = controls
        .map((control) => [control.name, control[how]()] as const)
        .filter(([, value]) => value !== undefined)
      if (values.length === 0 && !field.isRequired) return undefined
      return Object.fromEntries(values)
    }
    return {
      node: field.name === '' ? element('div', { class: 'fields' }, ...nodes) : grouped(field, ...nodes),
      read: () => readBy('read'),
      draft: () => readBy('draft'),
      write: (value) => {
        const values = asObject(value)
        for (const { name, write } of controls) write(Object.hasOwn(values, name) ? values[name] : undefined)
      },
    }
  },
  array: createArray,
  json: (field) => {
    const input = element('textarea', { rows: '4', class: 'mono', spellcheck: 'false', placeholder: '{ }' })
    return {
      node: labelled(field, input),
      read: () => readJson(input),
      draft: () => (input.value === '' ? undefined : new JsonText(input.value)),
      write: (value) => writeJson(input, value),
    }
  },
}

function createArray(field: Extract<Field, { kind: 'array' }>, budget: Budget): Control {
  const items: { readonly control: Control; readonly row: HTMLElement; readonly cost: number }[] = []
  const rows = element('div', { class: 'fields' })
  const insert = (value?: unknown): HTMLElement | undefined => {
    if (items.length >= MAX_ARRAY) return undefined
    const title = `${field.title} ${items.length + 1}`
    const before = budget.controls
    const control = createControl({ ...field.item, title }, budget)
    if (value !== undefined) control.write(value)
    const item = { control, row: element('div', { class: 'row' }), cost: before - budget.controls }
    const remove = button(
      'Remove',
      () => {
        items.splice(items.indexOf(item), 1)
        budget.controls += item.cost
        item.row.remove()
        add.focus()
      },
      { 'aria-label': `Remove ${title}` },
    )
    item.row.append(control.node, remove)
    items.push(item)
    rows.append(item.row)
    return item.row
  }
  const focusNew = (): void => {
    const before = budget.controls
    budget.made = 2 * MAX_CONTROLS
    try {
      insert()?.querySelector<HTMLElement>('input,select,textarea')?.focus()
    } catch (error) {
      if (!isA(error, FormTooLarge)) throw error
      budget.controls = before
      add.disabled = true
      add.textContent = error.message
    }
  }
  const add = button('Add', focusNew, { 'aria-label': `Add to ${field.title}` })
  const readBy = (how: 'read' | 'draft'): unknown => {
    const values = items.map(({ control }) => control[how]()).filter((value) => value !== undefined)
    return values.length === 0 && !field.isRequired ? undefined : values
  }
  return {
    node: grouped(field, rows, add),
    read: () => readBy('read'),
    draft: () => readBy('draft'),
    write: (value) => {
      for (const { cost } of items) budget.controls += cost
      items.length = 0
      rows.replaceChildren()
      for (const one of asList(value).slice(0, MAX_ARRAY)) insert(one)
    },
  }
}

/** A choice between values, none of them chosen for the user. */
function pick(field: Field, choices: readonly Choice[]): Control {
  const select = element('select')
  select.append(element('option', { value: '' }, field.isRequired ? 'Choose one' : '(not set)'))
  choices.forEach(({ label }, index) => {
    select.append(element('option', { value: String(index) }, label))
  })
  const write = (value: unknown): void => {
    const index = choices.findIndex((choice) => choice.value === value)
    select.value = index >= 0 ? String(index) : ''
  }
  const read = (): unknown => (select.value === '' ? undefined : choices[Number(select.value)]?.value)
  return { node: labelled(field, select), read, draft: read, write }
}

/** A text area for JSON. Throws if it is invalid, after showing the error at the input. */
export function readJson(input: HTMLTextAreaElement): unknown {
  input.setCustomValidity('')
  if (input.value.trim() === '') return undefined
  try {
    return JSON.parse(input.value) as unknown
  } catch {
    input.setCustomValidity('This is not JSON')
    input.reportValidity()
    input.addEventListener('input', () => input.setCustomValidity(''), { once: true })
    throw new Error('a JSON field is invalid')
  }
}

export function writeJson(input: HTMLTextAreaElement, value: unknown): void {
  input.value = value === undefined ? '' : value instanceof JsonText ? value.text : pretty(value)
}

/** A label, its input, and its description. */
export function labelled(
  field: Pick<Field, 'title' | 'rules' | 'hint' | 'isRequired'>,
  input: HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement,
): HTMLElement {
  input.id = nextId()
  const hint = describe(field.hint, input)
  return element(
    'div',
    { class: 'field' },
    element('label', { for: input.id }, field.title, rulesOf(field)),
    input,
    hint,
  )
}

function grouped(field: Field, ...children: Node[]): HTMLElement {
  const legend = element('legend', {}, field.title, rulesOf(field))
  const group = element('fieldset', {}, legend)
  group.append(...[describe(field.hint, group)].filter((hint) => hint !== undefined), ...children)
  return group
}

function rulesOf({ isRequired, rules }: Pick<Field, 'rules' | 'isRequired'>): HTMLElement | undefined {
  const all = [isRequired ? 'required' : undefined, rules].filter((rule) => rule !== undefined)
  return all.length === 0 ? undefined : element('small', {}, ` ${all.join(', ')}`)
}

function describe(hint: string | undefined, of: HTMLElement): HTMLElement | undefined {
  if (hint === undefined) return undefined
  const node = element('p', { id: nextId(), class: 'hint' }, hint)
  of.setAttribute('aria-describedby', node.id)
  return node
}

function writeText(input: HTMLInputElement | HTMLTextAreaElement): (value: unknown) => void {
  return (value) => {
    input.value = toText(value)
  }
}

function toText(value: unknown): string {
  if (value === undefined || value === null) return ''
  return isObject(value) || Array.isArray(value) ? pretty(value) : String(value)
}
