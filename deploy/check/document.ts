/** A public JSON document at a URL that a server names, which may be any URL. */
import type { Answer } from './http.ts'
import type { JsonObject } from './messages.ts'
import { Stop } from './outcome.ts'
import { isObject } from './reply.ts'
import { NoAnswerStop, type Wire } from './wire.ts'

export type Fetched =
  | { readonly kind: 'document'; readonly answer: Answer; readonly document: JsonObject }
  | { readonly kind: 'none' }
  /** `why`: as in `not fetched, since it is http`. */
  | { readonly kind: 'refused'; readonly why: string }

/**
 * The JSON object at a URL, fetched without the token. Follows no redirect, and fetches nothing but what is https or of the very
 * origin that is checked, at an address that is public or of the same kind as the server's own.
 */
export async function fetchDocument(wire: Wire, url: URL): Promise<Fetched> {
  if (url.protocol !== 'https:' && url.origin !== wire.options.url.origin)
    return { kind: 'refused', why: 'since it is not https, and not on the server that is checked' }
  if (url.username !== '' || url.password !== '') return { kind: 'refused', why: 'since it holds a password' }
  try {
    const answer = await wire.send({
      label: 'GET of metadata',
      method: 'GET',
      url,
      headers: { accept: 'application/json' },
      credentials: 'none',
      statuses: 'any',
    })
    const document: unknown = answer.status === 200 ? JSON.parse(answer.body) : undefined
    return isObject(document) ? { kind: 'document', answer, document } : { kind: 'none' }
  } catch (error) {
    if (error instanceof NoAnswerStop && error.why === 'address refused')
      return { kind: 'refused', why: `since it is at ${error.reason}` }
    // Silence, or a page that is not JSON: no document either way.
    if (error instanceof Stop || error instanceof SyntaxError) return { kind: 'none' }
    throw error
  }
}
