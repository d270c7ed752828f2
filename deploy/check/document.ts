/** A JSON document on the web that anybody may read. */
import type { Answer } from './http.ts'
import type { JsonObject } from './messages.ts'
import { Stop } from './outcome.ts'
import { isObject } from './reply.ts'
import type { Wire } from './wire.ts'

/** The JSON object at a URL, fetched without the token; undefined where there is none. Follows no redirect. */
export async function fetchDocument(
  wire: Wire,
  url: URL,
): Promise<{ answer: Answer; document: JsonObject } | undefined> {
  try {
    const answer = await wire.send({
      label: `GET ${url.pathname}`,
      method: 'GET',
      url,
      headers: { accept: 'application/json' },
      credentials: 'none',
      statuses: 'any',
    })
    const document: unknown = answer.status === 200 ? JSON.parse(answer.body) : undefined
    return isObject(document) ? { answer, document } : undefined
  } catch (error) {
    // Silence, or a page that is not JSON: no document either way.
    if (error instanceof Stop || error instanceof SyntaxError) return undefined
    throw error
  }
}
