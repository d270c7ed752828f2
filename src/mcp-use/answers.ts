/**
 * The client's side of a question as mcp-use has it: functions that take the parameters of `elicitation/create`. Those of
 * `mayfly-mcp/testing` take the schema.
 */
import { isObject } from '../definition/is-object.ts'
import { validate as faultsIn, type RequestedSchema } from '../interaction/form-content.ts'

/** What the user has entered, by field. */
export interface ElicitContent {
  [field: string]: string | number | boolean | string[]
}

/** The user's answer. */
export interface ElicitResult {
  action: 'accept' | 'decline' | 'cancel'
  content?: ElicitContent | undefined
  [other: string]: unknown
}

/** What `validate` found. */
export interface ElicitValidationResult {
  valid: boolean
  /** One string for each error: absent if there is none. */
  errors?: string[]
}

/** The parameters of a question; without a form, there are no fields. */
export interface ElicitQuestion {
  readonly message: string
  readonly mode?: string | undefined
  readonly url?: string
  readonly requestedSchema?: object
}

/** The parameters that a handler receives: those of a form, or of a URL. */
export type ElicitRequest =
  | {
      readonly mode?: 'form' | undefined
      readonly message: string
      readonly requestedSchema: RequestedSchema
    }
  | { readonly mode: 'url'; readonly message: string; readonly url: string }

/** Answers the questions of servers. */
export type OnElicitationCallback = (params: ElicitRequest) => ElicitResult | Promise<ElicitResult>

/** @throws TypeError for anything but the parameters of a question. */
function formOf(where: string, params: ElicitQuestion): RequestedSchema | undefined {
  if (typeof (params as Partial<ElicitQuestion> | undefined)?.message !== 'string')
    throw new TypeError(`${where} needs the parameters of the question: { message, requestedSchema }.`)
  const { properties } = (params.requestedSchema ?? {}) as Partial<RequestedSchema>
  return isObject(properties) ? (params.requestedSchema as RequestedSchema) : undefined
}

function defaultsOf(where: string, params: ElicitQuestion): ElicitContent {
  const fields = Object.entries(formOf(where, params)?.properties ?? {})
  return Object.fromEntries(
    fields.flatMap(([name, field]) => (field.default === undefined ? [] : [[name, field.default]])),
  ) as ElicitContent
}

/** The defaults that the form declares: nothing for a URL. */
export function getDefaults(params: ElicitQuestion): ElicitContent {
  return defaultsOf('getDefaults', params)
}

/** `partial`, with the form's defaults for missing fields. */
export function applyDefaults(params: ElicitQuestion, partial: ElicitContent = {}): ElicitContent {
  return { ...defaultsOf('applyDefaults', params), ...partial }
}

/** The user submitted the form with its defaults. */
export function acceptWithDefaults(params: ElicitQuestion): ElicitResult {
  return accept(defaultsOf('acceptWithDefaults', params))
}

/** The user submitted the form. */
export function accept(content: ElicitContent): ElicitResult {
  return { action: 'accept', content }
}

/** The user refused. The reason is for your own log: it is not sent. */
export function decline(_reason?: string): ElicitResult {
  return { action: 'decline' }
}

/** The same as `decline`. */
export const reject: typeof decline = decline

/** The user closed the form without an answer. */
export function cancel(): ElicitResult {
  return { action: 'cancel' }
}

/** Checks `content` against the form. Formats are not checked. */
export function validate(params: ElicitQuestion, content: ElicitContent = {}): ElicitValidationResult {
  const form = formOf('validate', params)
  if (form === undefined) return { valid: false, errors: ['The question has no form.'] }
  const errors = faultsIn(form, content).map(({ field, message }) => `${field} ${message}`)
  return errors.length === 0 ? { valid: true } : { valid: false, errors }
}
