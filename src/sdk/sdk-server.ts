/** A server of an official SDK, and the argument of its factory. */
import type { AuthInfo, Era } from '../definition/context.ts'

/** An `McpServer` or `Server` of `@modelcontextprotocol/sdk` 1.x or `@modelcontextprotocol/server` 2.x. */
export interface SdkServer {
  connect(transport: never): Promise<void>
  close(): Promise<void>
}

/** The argument of a factory; the first three members as in SDK v2. */
export interface SdkContext {
  readonly era: Era
  readonly authInfo?: AuthInfo
  /** The HTTP request; its body has been read. */
  readonly requestInfo?: Request
  /** The platform's bindings or environment variables. */
  readonly env: unknown
  /** Keeps the invocation alive until `promise` settles. */
  readonly waitUntil: (promise: Promise<unknown>) => void
}
