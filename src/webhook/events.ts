/**
 * The body of an event webhook: one change, or a list of them.
 */
import { type Change, isChangeEvent } from '../events/bus.ts'

const MAX_EVENTS = 100
const MAX_URI_CHARACTERS = 8192

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Undefined for anything other than `{ type }`, `{ type: 'resourceUpdated', uri }`, and lists of 1 to 100 of them. */
export function parseEvents(body: Uint8Array): readonly Change[] | undefined {
  let value: unknown
  try {
    value = JSON.parse(UTF8.decode(body))
  } catch {
    return undefined
  }
  const events = Array.isArray(value) ? value : [value]
  return events.length > 0 && events.length <= MAX_EVENTS && events.every(isChange) ? events : undefined
}

function isChange(value: unknown): value is Change {
  // Only a bus knows whether it lost events, and only a server knows its clients' subscriptions.
  if (!isChangeEvent(value) || value.type === 'gap' || value.type === 'sessionChanged') return false
  const members = Object.keys(value).length
  if (value.type !== 'resourceUpdated') return members === 1
  return members === 2 && value.uri.length <= MAX_URI_CHARACTERS && URL.canParse(value.uri)
}
