/**
 * Describes a message for the log, the audit trail, telemetry and the header checks.
 */

import { cut } from '../definition/error-text.ts'
import { isObject } from '../definition/is-object.ts'
import type { Params } from '../request/params.ts'
import type { Incoming } from './engine-options.ts'
import { hasEnvelope, META } from './envelope.ts'

/** The parameter with a method's target. Other parameters with these names are not a target. */
const TARGET: ReadonlyMap<string, 'name' | 'uri'> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['resources/subscribe', 'uri'],
  ['resources/unsubscribe', 'uri'],
])

/** Maximum characters of one value in the log, so that a client cannot fill it with invented text. */
const MAX_CHARACTERS = 256

/** Fills in the record of a message that has a method: when it is written, since most calls are not. */
export function fillRecord({ message, era, record, facts, versionHeader }: Incoming): void {
  if (message?.kind !== 'request' && message?.kind !== 'notification') return
  const { method, params } = message
  facts.arguments = params.arguments
  const member = TARGET.get(method)
  const target = member === undefined ? referenceOf(method, params) : params[member]
  if (typeof target === 'string') record.target = clip(target)
  record.era = era
  const version = hasEnvelope(params)
    ? (params._meta as Params)[META.protocolVersion]
    : (versionHeader ?? params.protocolVersion)
  // A legacy session knows what was agreed.
  if (typeof version === 'string') record.protocolVersion ??= clip(version)
  if (facts.client !== undefined) record.client = clientLabel(facts.client)
}

/** Shortens a value for the log. */
export function clip(text: string): string {
  return text.length <= MAX_CHARACTERS ? text : cut(text, MAX_CHARACTERS)
}

/** A client's name and version, for the log. */
export function clientLabel({ name, version }: { readonly name: string; readonly version: string }): string {
  return clip(`${name}/${version}`)
}

/** What a completion is for. */
function referenceOf(method: string, { ref }: Params): unknown {
  if (method !== 'completion/complete' || !isObject(ref)) return undefined
  return ref[ref.type === 'ref/resource' ? 'uri' : 'name']
}
