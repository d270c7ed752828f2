/** The one error of the client: which server, what was asked of it, and what went wrong, by code. */
import { SdkHttpError, UnauthorizedError } from '@modelcontextprotocol/client'

/**
 * - `DUPLICATE_CLIENT`: another live `MCPClient` has this configuration.
 * - `DISCONNECTED`: `disconnect()` was called.
 * - `UNAUTHORIZED`: the server wants a token, another one, or the user to sign in.
 * - `TIMEOUT`: no answer within `timeoutMs`.
 * - `ABORTED`: the caller's signal aborted.
 * - `CONNECTION_FAILED`: no connection; `cause` says why.
 * - `REQUEST_FAILED`: connected, but the request failed; `cause` is the protocol's or the transport's error.
 * - `UNSUPPORTED`: the server, or this platform, cannot do that.
 * - `TOOL_FAILED`: the tool answered with `isError`; `result` is its answer.
 * - `LISTENER_FAILED`: a listener of yours threw `cause`.
 * - `NAME_COLLISION`: two tools have the same name once the server's is put in front.
 */
export type MCPClientErrorCode =
  | 'DUPLICATE_CLIENT'
  | 'DISCONNECTED'
  | 'UNAUTHORIZED'
  | 'TIMEOUT'
  | 'ABORTED'
  | 'CONNECTION_FAILED'
  | 'REQUEST_FAILED'
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

/** Match `code`; texts may change. */
export class MCPClientError extends Error {
  override readonly name = 'MCPClientError'
  readonly code: MCPClientErrorCode
  readonly server: string | undefined
  readonly operation: string | undefined
  /** The whole answer of the tool, where `code` is `TOOL_FAILED`. */
  readonly result: unknown

  constructor(code: MCPClientErrorCode, message: string, details: MCPClientErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.server = details.server
    this.operation = details.operation
    this.result = details.result
  }
}

/** Whatever was thrown while talking to `server`, as ours. */
export function toClientError(
  code: 'CONNECTION_FAILED' | 'REQUEST_FAILED',
  error: unknown,
  details: { readonly server: string; readonly operation: string },
): MCPClientError {
  if (error instanceof MCPClientError) return error
  const text = error instanceof Error ? error.message : String(error)
  const { server, operation } = details
  if (isUnauthorized(error)) {
    return new MCPClientError(
      'UNAUTHORIZED',
      `MCP server "${server}" wants its user to sign in (${text}): give it a token, or an authProvider and then finishAuth().`,
      { ...details, cause: error },
    )
  }
  const what = code === 'CONNECTION_FAILED' ? 'cannot be reached' : `failed at ${operation}`
  return new MCPClientError(code, `MCP server "${server}" ${what}: ${text}`, { ...details, cause: error })
}

function isUnauthorized(error: unknown): boolean {
  return error instanceof UnauthorizedError || (error instanceof SdkHttpError && error.data.status === 401)
}

/** Whose listener it is, and who hears that it failed. */
export interface ListenerHost {
  readonly server: string
  report(error: MCPClientError): void
}

/** Calls a listener of the user's. What it throws is reported, and keeps nobody else from hearing. */
export function callListener<T>(listener: (value: T) => unknown, value: T, host: ListenerHost): void {
  try {
    listener(value)
  } catch (cause) {
    const { server } = host
    const text = `A listener for MCP server "${server}" threw: ${cause instanceof Error ? cause.message : cause}`
    host.report(new MCPClientError('LISTENER_FAILED', text, { server, operation: 'notification', cause }))
  }
}
