/** The one error of the client: which server, what was asked of it, and what went wrong, by code. */
import { SdkHttpError, UnauthorizedError } from '@modelcontextprotocol/client'
import { textOf } from '../definition/error-text.ts'
import { callHook } from '../definition/hook.ts'
import { ResponseTooLarge } from './body-limit.ts'
import { printable } from './printable.ts'

/**
 * - `DUPLICATE_CLIENT`: another live `MCPClient` has this configuration.
 * - `DISCONNECTED`: `disconnect()` was called.
 * - `UNAUTHORIZED`: the server wants a token, another one, or the user to sign in.
 * - `TIMEOUT`: no answer within `timeoutMs`.
 * - `ABORTED`: the caller's signal aborted.
 * - `CONNECTION_FAILED`: no connection; `cause` says why.
 * - `REQUEST_FAILED`: connected, but the request failed; `cause` is the protocol's or the transport's error.
 * - `RESPONSE_TOO_LARGE`: an answer, or a list over all its pages, is larger than `maxResponseBytes`.
 * - `MALFORMED`: the server sends what the protocol does not allow; it is left out, and only reported.
 * - `UNSUPPORTED`: the server, or this platform, cannot do that.
 * - `TOOL_FAILED`: the tool answered with `isError`; `result` is its answer.
 * - `LISTENER_FAILED`: a listener of yours threw `cause`, or rejected with it.
 * - `NAME_COLLISION`: a server has two tools of one name; the first is kept. Only reported.
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
  | 'LISTENER_FAILED'
  | 'NAME_COLLISION'

export interface MCPClientErrorDetails {
  /** The name the server has in `servers`. */
  readonly server?: string
  /** What was asked of it, such as `tools/list`. */
  readonly operation?: string
  readonly cause?: unknown
  readonly result?: unknown
}

/** Match `code`; texts may change. They are of one line and without control characters, but for that of `TOOL_FAILED`. */
export class MCPClientError extends Error {
  override readonly name = 'MCPClientError'
  readonly code: MCPClientErrorCode
  readonly server: string | undefined
  readonly operation: string | undefined
  /** The complete result of the tool, where `code` is `TOOL_FAILED`. */
  readonly result: unknown

  constructor(code: MCPClientErrorCode, message: string, details: MCPClientErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.server = details.server
    this.operation = details.operation
    this.result = details.result
  }
}

/** A sign-in that the server wants otherwise than is safe. A TypeError, for the official client goes on after other errors. */
export class SignInRefused extends TypeError {
  override readonly name = 'SignInRefused'
}

/** Whatever was thrown while talking to `server`, as ours. */
export function toClientError(
  code: 'CONNECTION_FAILED' | 'REQUEST_FAILED',
  error: unknown,
  details: { readonly server: string; readonly operation: string },
): MCPClientError {
  const known = findKnown(error)
  if (known instanceof MCPClientError) return known
  const { server, operation } = details
  const text = printable(textOf(known ?? error))
  const settled = { ...details, cause: error }
  const of = `MCP server "${server}"`
  if (known instanceof ResponseTooLarge) {
    return new MCPClientError('RESPONSE_TOO_LARGE', `${of} failed at ${operation}: ${text}`, settled)
  }
  if (known instanceof SignInRefused) {
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

type Known = MCPClientError | ResponseTooLarge | SignInRefused

/** What was thrown here, wherever the official client put it. No server can send one: they are no JSON. */
function findKnown(error: unknown, depth = 0): Known | undefined {
  if (error instanceof MCPClientError || error instanceof ResponseTooLarge || error instanceof SignInRefused)
    return error
  if (!(error instanceof Error) || depth > 4) return undefined
  const { cause, data, errors } = error as { cause?: unknown; data?: unknown; errors?: unknown }
  for (const inner of [cause, data, ...(Array.isArray(errors) ? errors : [])]) {
    const known = findKnown(inner, depth + 1)
    if (known !== undefined) return known
  }
  return undefined
}

function isUnauthorized(error: unknown): boolean {
  return error instanceof UnauthorizedError || (error instanceof SdkHttpError && error.data.status === 401)
}

/** Whose listener it is, and who hears that it failed. */
export interface ListenerHost {
  readonly server: string
  report(error: MCPClientError): void
}

/** Calls a user's listener. What it throws or rejects with is reported, and other listeners are still called. */
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
