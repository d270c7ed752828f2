/**
 * The client's side of an elicitation, for tests and for hosts: making answers, and filling in a form by its defaults.
 */

import type { RequestedSchema } from './interaction/form-content.ts'

export { type RequestedSchema, validate } from './interaction/form-content.ts'

export type FormContent = Record<string, string | number | boolean | string[]>

/** An answer as on the wire. A type and no interface, so that it fits the open types of official SDKs. */
export type ElicitResult = {
  action: 'accept' | 'decline' | 'cancel'
  content?: FormContent
}

/** The defaults a form declares. */
export function getDefaults({ properties }: RequestedSchema): FormContent {
  const entries = Object.entries(properties).filter(([, field]) => field.default !== undefined)
  return Object.fromEntries(entries.map(([name, field]) => [name, field.default])) as FormContent
}

/** `content`, with the form's defaults where it says nothing. */
export function applyDefaults(schema: RequestedSchema, content: FormContent = {}): FormContent {
  return { ...getDefaults(schema), ...content }
}

/** The user filled in the form, or went to the URL. */
export function accept(content?: FormContent): ElicitResult {
  return { action: 'accept', ...(content !== undefined && { content }) }
}

/** The user took the form's defaults, but for `content`. */
export function acceptWithDefaults(schema: RequestedSchema, content?: FormContent): ElicitResult {
  return accept(applyDefaults(schema, content))
}

/** The user said no. */
export function decline(): ElicitResult {
  return { action: 'decline' }
}

/** The user said nothing, and closed the form. */
export function cancel(): ElicitResult {
  return { action: 'cancel' }
}

/** The same as `decline`, under the name some hosts give the button. */
export const reject: typeof decline = decline
