/** The server's configuration, shared by all requests. */

import type { Definition } from '../definition/compile.ts'
import type { ToolMiddleware } from '../definition/middleware.ts'
import type { Bus, ChangeEvent } from '../events/bus.ts'
import type { AskingOptions } from '../interaction/begin.ts'
import type { Context } from './context.ts'
import type { GatewaySupport } from './gateway-support.ts'
import type { CacheHints } from './method-result.ts'
import type { RequestServer } from './request-server.ts'

/** Reports a server error with its stack to the operator, never to a client. */
export type ReportError = (error: unknown, facts: { readonly [name: string]: unknown }) => void

/** What requests and tasks need from the server. */
export interface ServerOptions {
  readonly definition: Definition
  /** `false`: not even a long-lived process is its own bus. */
  readonly bus: Bus | false | undefined
  /** Publishes a change to the listeners on the bus, and to the sessions of this process. */
  readonly publish: (event: ChangeEvent) => Promise<void>
  /** Items per page of every list. */
  readonly pageSize: number
  readonly setup: ((server: RequestServer, request: Request) => unknown) | undefined
  /** Cache hints for lists and discovery. Without a scope, the scope is decided per result. */
  readonly cache: { readonly ttlMs: number; readonly scope: CacheHints['scope'] | undefined }
  readonly reportError: ReportError
  /** What runs around each tool call; undefined if there is nothing. */
  readonly use?: readonly ToolMiddleware[] | undefined
  readonly asking: AskingOptions
  /** Adds members to each context, for tools written for another framework. */
  readonly extendContext: ((context: Context) => void) | undefined
  /** The servers behind this one. */
  readonly gateway?: GatewaySupport | undefined
}
