/**
 * What a message says of itself: for the log, the audit trail, telemetry and the checks of its headers.
 */
import { cut } from '../definition/error-text.ts'
import type { Params } from '../request/params.ts'
import type { Incoming } from './engine-options.ts'
import { hasEnvelope, META } from './envelope.ts'
import { mismatch } from './headers.ts'
import { isObject, type Message } from './json-rpc.ts'
import { isModernVersion } from './versions.ts'

/** Which parameter names what a method is about. Anything else that a client puts beside it is no target. */
const TARGET: ReadonlyMap<string, 'name' | 'uri'> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['resources/subscribe', 'uri'],
  ['resources/unsubscribe', 'uri'],
])

/** Characters of one value in the log: a client must not fill it with what it made up. */
const MAX_CHARACTERS = 256

/** Fills in the record of a message that has a method. */
export function fillRecord(message: Message, { record, facts, versionHeader }: Incoming): void {
  if (message.kind !== 'request' && message.kind !== 'notification') return
  const { method, params } = message
  record.method = clip(method)
  facts.arguments = params.arguments
  const target = targetOf(method, params)
  if (target !== undefined) record.target = clip(target)
  const isEnveloped = hasEnvelope(params)
  record.era = isEnveloped || (versionHeader !== null && isModernVersion(versionHeader)) ? 'modern' : 'legacy'
  const version = isEnveloped
    ? (params._meta as Params)[META.protocolVersion]
    : (versionHeader ?? params.protocolVersion)
  if (typeof version === 'string') record.protocolVersion = clip(version)
}

/** @throws ProtocolError for `initialize`, which is legacy, under the header of a modern version. */
export function checkEra({ method, params }: { method: string; params: Params }, { record }: Incoming): void {
  if (method !== 'initialize' || record.era === 'legacy' || hasEnvelope(params)) return
  throw mismatch('initialize is a legacy request, but the MCP-Protocol-Version header names a modern version')
}

/** For the log: cut where a client wrote a novel. */
export function clip(text: string): string {
  return cut(text, MAX_CHARACTERS)
}

/** A client's name and version, for the log. */
export function clientLabel({ name, version }: { readonly name: string; readonly version: string }): string {
  return clip(`${name}/${version}`)
}

function targetOf(method: string, params: Params): string | undefined {
  const member = TARGET.get(method)
  const target =
    member !== undefined
      ? params[member]
      : method === 'completion/complete' && isObject(params.ref)
        ? params.ref[params.ref.type === 'ref/resource' ? 'uri' : 'name']
        : undefined
  return typeof target === 'string' ? target : undefined
}
