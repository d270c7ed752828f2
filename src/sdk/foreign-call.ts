/**
 * The request to a server of another SDK, and its answer.
 */

import { isObject } from '../definition/is-object.ts'
import type { Incoming } from '../protocol/engine-options.ts'
import type { Message, RpcId } from '../protocol/json-rpc.ts'
import { ownAuth } from '../request/own-auth.ts'
import { pathOf } from '../request/request-url.ts'
import { visibleTo } from './guarded.ts'
import type { ForeignCall } from './run.ts'
import { type OpenMethods, withoutTasks } from './served-methods.ts'

/** A message that the server sent. */
export type Sent = { readonly [name: string]: unknown }

/** JSON-RPC 2.0, sections 4 and 5. */
const MEMBERS = {
  request: ['jsonrpc', 'id', 'method', 'params'],
  notification: ['jsonrpc', 'method', 'params'],
  response: ['jsonrpc', 'id', 'result', 'error'],
} as const

/** Only what nobody has checked would be in other members: for an app, they are the fields of a form. None is added. */
function ownMembers({ kind, value }: Sendable): unknown {
  const names: readonly string[] = MEMBERS[kind]
  return Object.fromEntries(Object.entries(value as object).filter(([name]) => names.includes(name)))
}

type Sendable = Message & { readonly kind: keyof typeof MEMBERS; readonly value: unknown }

/** `signal` aborts when the call is over. */
export function toCall(
  message: Sendable,
  { request, platform, auth, waitUntil, era }: Incoming,
  signal: AbortSignal,
  isBuffered: boolean,
): ForeignCall {
  const headers = new Headers(request.headers)
  // Both types are accepted here, even if the client accepts only one: the answer is converted.
  headers.set('accept', 'application/json, text/event-stream')
  // Its text is read here.
  headers.delete('accept-encoding')
  headers.delete('content-length')
  const value = ownMembers(message)
  const body = JSON.stringify(value)
  return {
    request: new Request(request.url, { method: 'POST', headers, body, signal }),
    message: value,
    era,
    isBuffered,
    auth: auth && ownAuth(auth),
    env: platform.env,
    clientAddress: platform.clientAddress,
    prefix: platform.prefix ?? '',
    waitUntil,
  }
}

/** Returns valid JSON-RPC messages; undefined for anything else. */
export function parseSent(text: string): Sent | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** The answer to a request; undefined for anything else. An error without an id is of that request: no other was sent. */
export function answerIn(sent: Sent | undefined, id: RpcId): Sent | undefined {
  if (sent === undefined || sent.method !== undefined) return undefined
  if (sent.id === id) return isObject(sent.result) || isObject(sent.error) ? sent : undefined
  return isObject(sent.error) && (sent.id ?? null) === null ? { ...sent, id } : undefined
}

/** Whether it is an error, also one of a tool. */
export function isFailure({ error, result }: Sent): boolean {
  return error !== undefined || (isObject(result) && result.isError === true)
}

/** For the operator: what is not JSON-RPC. */
export function describeAnswer({ status, headers }: Response, request: Request): string {
  const type = headers.get('content-type') ?? 'no content type'
  return `The server answered POST ${pathOf(request)} with HTTP status ${status} and ${type}, not with JSON-RPC: check that it has its MCP endpoint at this path.`
}

export function noteOutcome(sent: Sent, incoming: Incoming): void {
  if (isObject(sent.error) && Number.isInteger(sent.error.code))
    incoming.record.code = sent.error.code as number
  if (isObject(sent.result) && sent.result.isError === true) incoming.facts.isToolError = true
}

/** The answer without what this caller may not see. */
export function visibleAnswer(sent: Sent, method: string, { access }: Incoming, open: OpenMethods): Sent {
  const visible = withoutTasks(method, visibleTo(method, sent.result, access, open.scopes), open)
  return visible === sent.result ? sent : { ...sent, result: visible }
}
