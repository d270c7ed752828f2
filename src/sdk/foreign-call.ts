/**
 * What goes to a server that is not ours, and what is read of it on the way; what comes back.
 */
import { hasEnvelope, META } from '../protocol/envelope.ts'
import { isObject, type Message, type RpcId } from '../protocol/json-rpc.ts'
import type { Incoming } from '../protocol/options.ts'
import { isModernVersion } from '../protocol/versions.ts'
import { type GuardedNames, visibleTo } from './guarded.ts'
import type { ForeignCall } from './run.ts'

/** A message as the server sent it. */
type Sent = { readonly [name: string]: unknown }

/** `signal` aborts when the call is over. */
export function toCall(
  message: unknown,
  incoming: Incoming,
  signal: AbortSignal,
  isWhole: boolean,
): ForeignCall {
  const { request, body, platform, auth, waitUntil } = incoming
  const headers = new Headers(request.headers)
  // Our own client may take one form alone: the other one is translated.
  headers.set('accept', 'application/json, text/event-stream')
  headers.delete('content-length')
  return {
    request: new Request(request.url, { method: 'POST', headers, body, signal }),
    message,
    era: isModern(message, headers) ? 'modern' : 'legacy',
    isWhole,
    auth,
    env: platform.env,
    waitUntil,
  }
}

function isModern(message: unknown, headers: Headers): boolean {
  const params = isObject(message) && isObject(message.params) ? message.params : {}
  const version = headers.get('mcp-protocol-version')
  return hasEnvelope(params) || (version !== null && isModernVersion(version))
}

/** For the log, the audit trail and telemetry. */
export function describe(message: Message, { record, facts, request }: Incoming): void {
  if (!('method' in message)) return
  const { method, params } = message
  record.method = method
  facts.arguments = params.arguments
  const target = params.name ?? params.uri
  if (typeof target === 'string') record.target = target
  const version = hasEnvelope(params)
    ? (params._meta as { [name: string]: unknown })[META.protocolVersion]
    : (params.protocolVersion ?? request.headers.get('mcp-protocol-version'))
  record.era = isModern({ params }, request.headers) ? 'modern' : 'legacy'
  if (typeof version === 'string') record.protocolVersion = version
}

/** Only well-formed JSON objects are messages; undefined for anything else. */
export function parseSent(text: string): Sent | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

export function isAnswerTo(sent: Sent | undefined, id: RpcId): sent is Sent {
  return sent !== undefined && sent.id === id && sent.method === undefined
}

export function noteOutcome(sent: Sent | undefined, incoming: Incoming): void {
  if (isObject(sent?.error) && Number.isInteger(sent.error.code))
    incoming.record.code = sent.error.code as number
  if (isObject(sent?.result) && sent.result.isError === true) incoming.facts.isToolError = true
}

/** The answer, without what this caller may not see. */
export function shownTo(
  sent: Sent,
  text: string,
  method: string,
  { access }: Incoming,
  scopes: GuardedNames | undefined,
): string {
  const visible = visibleTo(method, sent.result, access, scopes)
  return visible === sent.result ? text : JSON.stringify({ ...sent, result: visible })
}
