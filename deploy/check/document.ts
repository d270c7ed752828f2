/** Fetches a public JSON document at a URL from a server, which may be any URL. */
import { isA } from '../../src/definition/error-text.ts'
import { isObject } from '../../src/definition/is-object.ts'
import type { Answer } from './http.ts'
import type { JsonObject } from './messages.ts'
import { Stop } from './outcome.ts'
import { NoAnswerStop, type Wire } from './wire.ts'

export type Fetched =
  | { readonly kind: 'document'; readonly answer: Answer; readonly document: JsonObject }
  /** `answer`: the answer that is not a document, if there is one. */
  | { readonly kind: 'none'; readonly answer?: Answer }
  /** `why`: as in `not fetched, since it is http`. */
  | { readonly kind: 'refused'; readonly why: string }

/**
 * The JSON object at a URL, fetched without the token. Does not follow redirects. Only fetches https URLs or the checked server's own
 * origin, at an address that is public or of the same kind as the server's own.
 */
export async function fetchDocument(
  wire: Wire,
  url: URL,
  headers: { readonly [name: string]: string } = {},
): Promise<Fetched> {
  const why = whyNotAsked(wire, url)
  if (why !== undefined) return { kind: 'refused', why }
  try {
    const answer = await wire.send({
      label: 'GET of metadata',
      method: 'GET',
      url,
      headers: { accept: 'application/json', ...headers },
      credentials: 'none',
      statuses: 'any',
    })
    const document = answer.status === 200 ? parseDocument(answer.body) : undefined
    return document !== undefined ? { kind: 'document', answer, document } : { kind: 'none', answer }
  } catch (error) {
    if (isA(error, NoAnswerStop) && error.why === 'address refused')
      return { kind: 'refused', why: `since it is at ${error.reason}` }
    if (isA(error, Stop)) return { kind: 'none' }
    throw error
  }
}

/** Why a URL from a server is not fetched; undefined if it is. Addresses are checked once they are resolved. */
export function whyNotAsked(wire: Wire, url: URL): string | undefined {
  if (url.protocol !== 'https:' && url.origin !== wire.options.url.origin)
    return 'since it is not https and not on the checked server'
  return url.username !== '' || url.password !== '' ? 'since it contains a password' : undefined
}

/** Undefined if it is not a JSON object. */
export function parseDocument(text: string): JsonObject | undefined {
  try {
    const document: unknown = JSON.parse(text)
    return isObject(document) ? document : undefined
  } catch {
    return undefined
  }
}
