/** The client's one error class: contains the server, the operation, and a code for what went wrong. */
import { SdkHttpError, UnauthorizedError } from '@modelcontextprotocol/client'
import { isA, memberOf, stackOf, textOf } from '../definition/error-text.ts'
import { callHook } from '../definition/hook.ts'
import { ResponseTooLarge } from './body-limit.ts'
import { printable, printableLines } from './printable.ts'
import type { Task } from './task.ts'

/**
 * - `DUPLICATE_CLIENT`: another connected `MCPClient` has this configuration.
 * - `DISCONNECTED`: `disconnect()` was called.
 * - `UNAUTHORIZED`: the server needs a token, another token, or the user to sign in.
 * - `TIMEOUT`: no answer within `timeoutMs`; or, if the error has a `task`, the task has not ended within `maxTaskMs`.
 * - `ABORTED`: the caller's signal aborted.
 * - `CONNECTION_FAILED`: no connection; `cause` says why.
 * - `REQUEST_FAILED`: connected, but the request failed; `cause` is the error of the protocol or the transport.
 * - `RESPONSE_TOO_LARGE`: a response, or a list over all its pages, is larger than `maxResponseBytes`.
 * - `MALFORMED`: the server sent something invalid, which is skipped; the error is only reported.
 * - `UNSUPPORTED`: the server, or this platform, does not support the operation.
 * - `TOOL_FAILED`: the tool answered with `isError`; `result` is its answer.
 * - `TASK_FAILED`: the server could not finish the task; `cause` is its error.
 * - `TASK_CANCELLED`: the task was cancelled, by this or another client.
 * - `TASK_GONE`: the server does not or no longer know the task, or its time to live is over.
 * - `LISTENER_FAILED`: one of your listeners failed with `cause`.
 * - `STORAGE_FAILED`: `cursors` of a stream failed with `cause`, or did not answer within 10 seconds.
 * - `NAME_COLLISION`: a server has two tools with one name; the first is kept. Only reported.
 */
export type MCPClientErrorCode =
  | 'DUPLICATE_CLIENT'
  | 'DISCONNECTED'
  | 'UNAUTHORIZED'
  | 'TIMEOUT'
  | 'ABORTED'
  | 'CONNECTION_FAILED'
  | 'REQUEST_FAILED'
  | 'RESPONSE_TOO_LARGE'
  | 'MALFORMED'
  | 'UNSUPPORTED'
  | 'TOOL_FAILED'
  | 'TASK_FAILED'
  | 'TASK_CANCELLED'
  | 'TASK_GONE'
  | 'LISTENER_FAILED'
  | 'STORAGE_FAILED'
  | 'NAME_COLLISION'

export interface MCPClientErrorDetails {
  /** The server's name in `servers`. */
  readonly server?: string
  /** The operation that failed, such as `tools/list`. */
  readonly operation?: string
  readonly cause?: unknown
  readonly result?: unknown
  readonly task?: Task | undefined
}

/** Match `code`; the text of `message` may change. It is one line without control characters, except for `TOOL_FAILED`. */
export class MCPClientError extends Error {
  override readonly name = 'MCPClientError'
  readonly code: MCPClientErrorCode
  readonly server: string | undefined
  readonly operation: string | undefined
  /** The complete result of the tool, if `code` is `TOOL_FAILED`. */
  readonly result: unknown
  /** The task that the call became, in its last known state. It may continue: see `client.tasks`. */
  readonly task: Task | undefined

  constructor(code: MCPClientErrorCode, message: string, details: MCPClientErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.server = details.server
    this.operation = details.operation
    this.result = details.result
    this.task = details.task
  }
}

/** A sign-in that the server requests in an unsafe way. A TypeError, since the official client continues after other errors. */
export class SignInRefused extends TypeError {
  override readonly name = 'SignInRefused'
}

/** What removes a server's secrets. */
interface Hiding {
  hide(text: string): string
  hideIn(thrown: unknown): unknown
}

/** Converts an error from communicating with `server`; its secrets are removed. */
export function toClientError(
  code: 'CONNECTION_FAILED' | 'REQUEST_FAILED',
  error: unknown,
  { secrets, ...details }: { readonly server: string; readonly operation: string; readonly secrets: Hiding },
): MCPClientError {
  const known = findKnown(error)
  if (isA(known, MCPClientError)) return known
  const { server, operation } = details
  const cause = secrets.hideIn(error)
  makeStackPrintable(cause)
  const text = printable(secrets.hide(textOf(known ?? cause)))
  const settled = { ...details, cause }
  const of = `MCP server "${server}"`
  if (isA(known, ResponseTooLarge)) {
    return new MCPClientError('RESPONSE_TOO_LARGE', `${of} failed at ${operation}: ${text}`, settled)
  }
  if (isA(known, SignInRefused)) {
    return new MCPClientError('UNAUTHORIZED', `${of} needs its user to sign in, but ${text}.`, settled)
  }
  if (isUnauthorized(error)) {
    return new MCPClientError(
      'UNAUTHORIZED',
      `${of} needs its user to sign in (${text}): give it a token, or an authProvider and then finishAuth().`,
      settled,
    )
  }
  const what = code === 'CONNECTION_FAILED' ? 'cannot be reached' : `failed at ${operation}`
  return new MCPClientError(code, `${of} ${what}: ${text}`, settled)
}

/** Runtimes print the stack of a `cause` unchanged, and it begins with the message, which may come from the server. */
function makeStackPrintable(thrown: unknown): void {
  for (const error of errorsIn(thrown)) {
    const message = textOf(error)
    const stack = stackOf(error)
    if (stack === undefined) continue
    const safe = printableLines(stack.replace(message, () => printable(message)))
    try {
      Reflect.defineProperty(error, 'stack', { value: safe, configurable: true, writable: true })
    } catch {
      // It cannot be changed.
    }
  }
}

type Known = MCPClientError | ResponseTooLarge | SignInRefused

/** Finds an error of this client, wherever the official client put it. A server cannot forge one, since it sends only JSON. */
function findKnown(thrown: unknown): Known | undefined {
  for (const error of errorsIn(thrown))
    if (isA(error, MCPClientError) || isA(error, ResponseTooLarge) || isA(error, SignInRefused)) return error
  return undefined
}

/** Maximum errors within one that are looked at. */
const MAX_INNER = 100

/** An error and those within it, each once: an error may be its own cause. */
function errorsIn(thrown: unknown): readonly Error[] {
  const found = new Set<Error>()
  const search = (error: unknown, depth: number): void => {
    if (!isA(error, Error) || found.has(error) || depth > 4 || found.size >= MAX_INNER) return
    found.add(error)
    for (const inner of innerOf(error)) search(inner, depth + 1)
  }
  search(thrown, 0)
  return [...found]
}

function listOf(errors: unknown): readonly unknown[] {
  try {
    return Array.isArray(errors) ? [...errors] : []
  } catch {
    return []
  }
}

/** The errors within an error. */
function innerOf(error: Error): readonly unknown[] {
  const errors = memberOf(error, 'errors')
  return [memberOf(error, 'cause'), memberOf(error, 'data'), ...listOf(errors)]
}

function isUnauthorized(error: unknown): boolean {
  return isA(error, UnauthorizedError) || (isA(error, SdkHttpError) && error.data.status === 401)
}

/** The server of a listener, and where to report the listener's errors. */
export interface ListenerHost {
  readonly server: string
  report(error: MCPClientError): void
}

/** Calls a user's listener. Its errors are reported, and the other listeners are still called. */
export function callListener<T>(listener: (value: T) => unknown, value: T, host: ListenerHost): void {
  callHook(
    () => listener(value),
    (cause) => {
      const { server } = host
      const text = `A listener for MCP server "${server}" failed: ${printable(textOf(cause))}`
      host.report(new MCPClientError('LISTENER_FAILED', text, { server, operation: 'notification', cause }))
    },
  )
}
