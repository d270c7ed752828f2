/** The parameters of a query or a form of sign-in: few and short, and each at most once, before anything is done with them. */
import { cut } from '../definition/error-text.ts'

/** Characters of a form. The HTTP side of a server has its own limit in bytes. */
export const MAX_FORM_CHARACTERS = 65_536
/** Characters of a query. */
export const MAX_QUERY_CHARACTERS = 8192
/** Of any name. What reads them, here and in libraries, looks for each name among all. */
const MAX_PARAMETERS = 50
const MAX_NAME_SHOWN = 100

export type ReadParameters =
  /** Without those that are empty. */
  | { readonly ok: true; readonly parameters: URLSearchParams }
  /** `why`: a sentence without its end. */
  | { readonly ok: false; readonly isTooLong: boolean; readonly why: string }

/** @param text As in a URL, with or without `?`. */
export function readQuery(text: string): ReadParameters {
  return readParameters(text, 'A query', MAX_QUERY_CHARACTERS)
}

/** Content of the type `application/x-www-form-urlencoded`. */
export function readForm(text: string): ReadParameters {
  return readParameters(text, 'A form', MAX_FORM_CHARACTERS)
}

function readParameters(text: string, what: string, maxCharacters: number): ReadParameters {
  const refuse = (why: string, isTooLong = false): ReadParameters => ({ ok: false, isTooLong, why })
  if (text.length > maxCharacters) return refuse(`${what} has at most ${maxCharacters} characters`, true)
  const parameters = new URLSearchParams(text)
  const names = new Set<string>()
  let count = 0
  for (const name of parameters.keys()) {
    if (++count > MAX_PARAMETERS) return refuse(`${what} has at most ${MAX_PARAMETERS} parameters`)
    // RFC 6749 §3.1. `resource` may be: RFC 8707 §2.
    if (name !== 'resource' && names.has(name))
      return refuse(`The parameter ${JSON.stringify(cut(name, MAX_NAME_SHOWN))} is repeated`)
    names.add(name)
  }
  // RFC 6749 §3.1: as if they were omitted. A `resource` is refused instead: it limits what a token is for.
  const filled = [...parameters].filter(([name, value]) => value !== '' || name === 'resource')
  return { ok: true, parameters: new URLSearchParams(filled) }
}
