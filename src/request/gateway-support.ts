/** The interface between a server and the servers behind it, which are in a separate entry point (`mayfly-mcp/gateway`). */

import type { Definition } from '../definition/compile.ts'
import type { AuthInfo, Env, Era } from '../definition/context.ts'
import type { ChangeEvent } from '../events/bus.ts'
import type { Key } from '../events/coalesced-changes.ts'
import type { Feed } from '../events/feed.ts'
import type { Seal } from '../interaction/seal.ts'
import type { ExtensionMethod } from './extension-method.ts'

/** The caller of a request, for the credentials of the servers behind. */
export interface GatewayCaller {
  /** Absent for an anonymous caller. */
  readonly auth: AuthInfo | undefined
  readonly env: Env
  /** The HTTP request, whose body was already read. */
  readonly request: Request | undefined
}

/** A message that needs the definition of its caller. */
export interface GatewayMessage {
  readonly method: string
  readonly params: { readonly [name: string]: unknown }
  readonly caller: GatewayCaller
  readonly waitUntil: (promise: Promise<unknown>) => void
  /** When the platform ends the call, in milliseconds since the epoch. */
  readonly deadline: number | undefined
}

/** What the server behind which the others are provides. */
export interface GatewayHost {
  readonly reportError: (error: unknown, facts: { readonly [name: string]: unknown }) => void
  readonly publish: (event: ChangeEvent) => Promise<void>
  /** The seal for the handles of tasks; undefined without a secret. */
  readonly asking: { readonly sealFor: (env: unknown) => Seal | undefined }
  /** The server's own extensions. */
  readonly extensions: { method(name: string, era: Era): unknown } | undefined
  /** The server's middleware, which would not get the result of a task behind. */
  readonly use?: object | undefined
}

/** Created by `gateway`. */
export interface GatewaySupport {
  /** Whether anything of the servers behind may need a scope. */
  readonly hasScopes: boolean
  /** The definition for one message: the server's own items and those of the servers behind it. Never rejects. */
  definitionFor(own: Definition, message: GatewayMessage, host: GatewayHost): Promise<Definition>
  /**
   * Also joins the changes behind that the caller of a message may know, with the credentials of that caller. `wanted`: URIs, and lists by
   * their index in `FLAGS`. Waits for the servers, but not for long.
   */
  join(
    feed: Feed['join'],
    wanted: Iterable<Key>,
    definition: Definition,
    message: GatewayMessage,
    host: GatewayHost,
  ): Feed['join']
  /** The extensions that it passes on, with their settings; undefined: none. */
  extensions(era: Era, env: unknown, host: GatewayHost): object | undefined
  /** A method of an extension of a server behind; undefined for another method, and for one that is not for a server behind. */
  method(
    method: string,
    params: { readonly [name: string]: unknown },
    host: GatewayHost,
  ): ExtensionMethod | undefined
  /** Called when the server closes. */
  close(): Promise<void>
}
