/**
 * For tests: connects the official client to a server in the same process. Also the client's side of elicitation, for tests and hosts:
 * creates answers, and fills in a form with its defaults.
 */

import { type RequestedSchema, requireForm } from './interaction/form-content.ts'
import type { ElicitResult, FormContent } from './testing/answers.ts'

export { type RequestedSchema, validate } from './interaction/form-content.ts'

export {
  type Answers,
  type ElicitResult,
  type FormContent,
  type Question,
  TestingError,
  type TestingErrorCode,
} from './testing/answers.ts'
export { type ConnectedClient, type ConnectOptions, connect } from './testing/connect.ts'

/** The defaults that a form declares. */
export function getDefaults(schema: RequestedSchema): FormContent {
  const { properties } = requireForm(schema)
  const entries = Object.entries(properties).filter(([, field]) => field.default !== undefined)
  return Object.fromEntries(entries.map(([name, field]) => [name, field.default])) as FormContent
}

/** `content`, with the form's defaults for missing fields. */
export function applyDefaults(schema: RequestedSchema, content: FormContent = {}): FormContent {
  return { ...getDefaults(schema), ...content }
}

/** The user submitted the form, or agreed to open the URL. */
export function accept(content?: FormContent): ElicitResult {
  return { action: 'accept', ...(content !== undefined && { content }) }
}

/** The user submitted the form with its defaults, except for `content`. */
export function acceptWithDefaults(schema: RequestedSchema, content?: FormContent): ElicitResult {
  return accept(applyDefaults(schema, content))
}

/** The user refused. */
export function decline(): ElicitResult {
  return { action: 'decline' }
}

/** The user closed the form without an answer. */
export function cancel(): ElicitResult {
  return { action: 'cancel' }
}

/** The same as `decline`, named like the button of some hosts. */
export const reject: typeof decline = decline
