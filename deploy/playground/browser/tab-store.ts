/** What a reload of the page keeps, in the storage of its tab, and only while no page is open: what was typed, and the last calls. */
import { asObject, type Json, parse } from './json.ts'

/** Characters: the browser has room for some millions. */
const MAX_STORED = 1_000_000

/** Without the query, which may be a key. */
export function placeOf(endpoint: string): string {
  const { origin, pathname } = new URL(endpoint)
  return origin + pathname
}

const keyOf = (endpoint: string): string => `mayfly-typed ${placeOf(endpoint)}`

/** What the page before this one has left, which is removed. */
export function takeStored(endpoint: string): Json {
  const text = sessionStorage.getItem(keyOf(endpoint))
  sessionStorage.removeItem(keyOf(endpoint))
  return asObject(parse(text ?? ''))
}

/** Without secrets, by the caller. Too much is not kept. */
export function store(endpoint: string, values: Json): void {
  const text = JSON.stringify(values)
  if (text.length > MAX_STORED) return
  try {
    sessionStorage.setItem(keyOf(endpoint), text)
  } catch {
    // No room, or not allowed: the next page begins empty.
  }
}
