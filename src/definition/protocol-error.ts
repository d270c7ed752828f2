/**
 * The JSON-RPC and MCP error codes that Mayfly sends, and the error class that carries a code to the client.
 */

export const ErrorCode = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  /** Legacy era only: 2025-11-25 `resources/read`. */
  resourceNotFound: -32002,
  headerMismatch: -32020,
  missingClientCapability: -32021,
  unsupportedProtocolVersion: -32022,
} as const

/**
 * An error that the client sees. Thrown by user code or by Mayfly, it becomes a JSON-RPC error with this code, message and
 * data. Any other error reaches the client as `-32603 Internal error`, without its text.
 *
 * ```ts
 * throw new ProtocolError(-32602, 'Unknown order: 42', { orderId: '42' })
 * ```
 */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError'
  readonly code: number
  readonly data: unknown
  /** The HTTP status, if the error answers the whole request. Default 200, for an error inside a served request. */
  readonly status: number
  /** Additional headers of that response. */
  readonly headers: { readonly [name: string]: string } | undefined

  constructor(
    code: number,
    message: string,
    data?: unknown,
    options: { status?: number; headers?: { readonly [name: string]: string }; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.data = data
    this.status = options.status ?? 200
    this.headers = options.headers
  }
}

export function invalidParams(message: string, data?: unknown): ProtocolError {
  return new ProtocolError(ErrorCode.invalidParams, message, data)
}
