/** What the server of `mayfly dev` logged about a failed call: the cause, and the place in the user's files. */
import { code, details, element, frame } from './dom.ts'
import { asList, asText, clip, isObject, type Json, parse } from './json.ts'
import { askLocal, type Local } from './local.ts'

const MAX_SHOWN = 5
const PATIENCE_MS = 5000
const HEADING = "In the server's log"

/** Finds what was logged about a request, by its id. Empty if nothing was, or if that cannot be told. */
export type ReadErrors = (requestId: string) => Promise<readonly Json[]>

/** Undefined for a server whose log is elsewhere. */
export function createReadErrors(local: Local): ReadErrors | undefined {
  if (local.reloads === undefined) return undefined
  return async (requestId) => {
    try {
      const { body } = await askLocal(local, 'errors', { requestId }, AbortSignal.timeout(PATIENCE_MS))
      return asList(parse(body)).filter(isObject)
    } catch {
      // The command has ended.
      return []
    }
  }
}

/** Adds them to a shown failure, without what it says already. */
export function showErrors(place: HTMLElement, errors: readonly Json[]): void {
  const said = place.textContent ?? ''
  const blocks = errors.slice(0, MAX_SHOWN).flatMap((error) => block(error, said))
  const last = place.lastElementChild?.matches('details') === true ? place.lastElementChild : null
  for (const one of blocks.length === 0 ? [] : [element('h4', {}, HEADING), ...blocks])
    place.insertBefore(one, last)
}

function block({ message, cause, place, frame: source, calls }: Json, said: string): HTMLElement[] {
  const reason = [message, cause].map(asText).filter((text) => text !== undefined)
  const at = asText(place)
  const names = asList(calls).map(String)
  const text = reason.some((part) => !said.includes(part)) ? clip(reason.join(': '), 2000) : undefined
  const line = asText(source)
  return [
    ...(text === undefined ? [] : [code(text, 'The error')]),
    ...(at === undefined ? [] : [element('p', {}, 'Thrown at ', element('code', {}, at))]),
    ...(line === undefined ? [] : [frame(line, 'The line')]),
    ...(names.length < 2 ? [] : [details('The calls that led there', code(names.join('\n'), 'The calls'))]),
  ]
}
