/**
 * What two servers must agree on, out of what was observed: status, error codes and results. Results are compared by
 * value, which is more than by shape; only prose (error messages, the text of `isError` results) is left out.
 */
import type { CorpusEntry } from './corpus/_entry.ts'
import { type JsonObject, type Observation, observe } from './observe.ts'
import type { Peer } from './peer.ts'

export type OutcomeMessage =
  | { readonly method: string; readonly params: unknown }
  | { readonly id: unknown; readonly result: unknown }
  /** `data` holds the members that the specification defines. */
  | { readonly id: unknown; readonly code: number; readonly data: JsonObject }

export interface Outcome {
  readonly status: number
  /** Whether a 405 says what is allowed (RFC 9110 §15.5.6). */
  readonly hasAllow: boolean
  readonly messages: readonly OutcomeMessage[]
}

export async function outcomeOf(peer: Peer, entry: CorpusEntry): Promise<Outcome> {
  return toOutcome(await observe(peer, entry))
}

export function toOutcome({ status, headers, messages }: Observation): Outcome {
  return { status, hasAllow: headers.has('allow'), messages: messages.map(toOutcomeMessage) }
}

function toOutcomeMessage(message: JsonObject): OutcomeMessage {
  const { id, method, params, result } = message
  if (typeof method === 'string') return { method, params }
  if ('result' in message) {
    return { id, result: (result as JsonObject).isError === true ? toShape(result) : result }
  }
  const { code, data } = message.error as { code: number; data?: JsonObject }
  return { id: id ?? undefined, code, data: specified(data) }
}

const SPECIFIED = ['supported', 'requested', 'requiredCapabilities', 'uri']

function specified(data: JsonObject | undefined): JsonObject {
  if (typeof data !== 'object') return {}
  return Object.fromEntries(Object.entries(data).filter(([member]) => SPECIFIED.includes(member)))
}

/** Keys and types, recursively; booleans by value, arrays as the set of the shapes in them. */
export function toShape(value: unknown): unknown {
  if (value === null || typeof value === 'boolean') return value
  if (Array.isArray(value)) {
    const shapes = new Map(value.map((item) => [JSON.stringify(toShape(item)), toShape(item)]))
    return [...shapes.keys()].sort().map((key) => shapes.get(key))
  }
  if (typeof value !== 'object') return typeof value
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
  return Object.fromEntries(members.map(([name, child]) => [name, toShape(child)]))
}
