/**
 * The interface between a server and its extensions (SEP-2133), which are in entry points of their own. The server knows none of them by
 * name.
 */
import type { CompiledTool } from '../definition/compiled-tool.ts'
import type { AuthInfo, Availability, ClientCapabilities, Era, Feature } from '../definition/context.ts'
import type { StoreOwner } from '../definition/store-owner.ts'
import type { AnyTool } from '../definition/tool.ts'
import type { Key } from '../events/coalesced-changes.ts'
import type { Conditions } from '../interaction/matrix.ts'
import type { Access } from './access.ts'
import type { Context } from './context.ts'
import type { ExtensionMethod } from './extension-method.ts'
import type { MethodResult } from './method-result.ts'
import type { ServerOptions } from './options.ts'
import type { Telemetry } from './telemetry.ts'

/** The options of `MCPServer` that extensions add: an entry point with one declares its own. */
// biome-ignore lint/suspicious/noEmptyInterface: extensions declare its members.
export interface ExtensionOptions {}

/** What extensions add to a server, as in `server.tasks`: an entry point with one declares its own. */
// biome-ignore lint/suspicious/noEmptyInterface: extensions declare its members.
export interface ExtensionApis {}

/** What extensions tell `mayfly doctor`: an entry point with one declares its own. */
export interface ExtensionFacts {
  /** What extensions say that an operator must set, each after the identifier of its extension. */
  readonly extensionFaults?: readonly string[]
}

/** An extension of one server: created by `extension` of `mayfly-mcp/extensions`, and by other entry points. */
export interface Extension {
  /** Its identifier: `com.example/skills`. */
  readonly id: string
  /** Its name on the server: that of the option that takes it, and of its API, as in `server.tasks`. Default: none. */
  readonly name?: string | undefined
  /** What the server has under that name. Default: the extension. */
  readonly api?: object | undefined
  readonly parts: ExtensionParts
  /** All extensions of a server as one: each of them has the same function. */
  readonly join: (all: readonly Extension[]) => Extensions
}

/** What an extension needs from the server that takes it. */
export interface ExtensionHost {
  /** The server and its stage, to which belongs what the extension stores. */
  readonly owner: StoreOwner
  readonly options: () => ServerOptions
  readonly telemetry?: Telemetry | undefined
  /** Whether the server writes no log: its option `log` is false. */
  readonly isSilent: boolean
  /** The server's own tools. A tool that an extension adds here belongs to it. */
  readonly tools: Map<string, AnyTool>
  /** The server, which gets the APIs of its extensions. */
  readonly server: object
  /** @throws TypeError if the server cannot know whether its callers have these scopes. */
  requireCallers(method: string, scopes: readonly string[]): void
}

/** What a server knows of a request when it says which extensions it has. */
export interface DeclaredFor {
  readonly era: Era
  readonly protocolVersion: string
  /** Whether the platform can stream a response, and the client accepts a stream. */
  readonly canStream: boolean
  /** Whether change notifications reach clients. */
  readonly hasBus: boolean
  readonly env: unknown
}

/** What an extension consists of. */
export interface ExtensionParts {
  /** Another name in the capabilities for the same settings, where clients of an earlier text look. */
  readonly alsoDeclaredAs?: string | undefined
  /** Its settings; undefined: this request is not informed of it. */
  settings(request: DeclaredFor): object | undefined
  readonly methods: ReadonlyMap<string, ExtensionMethod>
  attach?(host: ExtensionHost): void
  readonly call?: Extensions['call'] | undefined
  /** As of `Extensions`. A getter: known once it is attached. */
  readonly hidesTools?: boolean | undefined
  readonly hides?: Extensions['hides'] | undefined
  listen?(filter: object, listener: Listener): Promise<ListenedTo | undefined>
  readonly translate?: Extensions['translate'] | undefined
  readonly available?: Extensions['available']
  readonly facts?: ((env: unknown) => object) | undefined
  readonly serve?: Extensions['serve']
  readonly close?: (() => void) | undefined
}

/** The extensions of one server, as one. */
export interface Extensions {
  /** Whether anything of them needs a scope. */
  readonly hasScopes: boolean
  /** Called once by the server. */
  attach(host: ExtensionHost): void
  /** Whether a feature of one of them works, for `ctx.can`. */
  available(feature: Feature, conditions: Conditions): Availability | undefined
  /** What `initialize` and `server/discover` declare for them. */
  capabilities(conditions: Omit<DeclaredFor, 'env'>, env: unknown): { readonly extensions?: object }
  /** A method of one of them. */
  method(name: string, era: Era): ExtensionMethod | undefined
  /** Answers `tools/call` of a tool in another way; undefined for most tools. */
  call(tool: CompiledTool, input: unknown, context: Context): MethodResult | Promise<MethodResult> | undefined
  /** Whether the list of tools depends on the client. */
  readonly hidesTools: boolean
  /** Whether `tools/list` omits a tool for this client. */
  hides(tool: CompiledTool, client: Pick<Listener, 'era' | 'clientCapabilities'>): boolean
  /** The part of a `subscriptions/listen` that is theirs. @throws ProtocolError for what is wrong with it. */
  listen(filter: object, listener: Listener): Promise<readonly ListenedTo[]>
  /** The notification for a changed URI; undefined for one of nobody. It may resolve with undefined, if there is nothing to tell now. */
  translate(changed: Key): Promise<Notification | undefined> | undefined
  /** What an operator must set in `env`, and other facts, for `mayfly doctor`. */
  facts(env: unknown): object
  /** Answers a request for a path beside the endpoint, as `serve` of an `Auth`. Undefined: no extension has a path. */
  readonly serve?: ((request: Request, context: RouteContext) => AnswerRoute | undefined) | undefined
  /** Called when the server closes. */
  close(): void
}

export type AnswerRoute = (request: Request) => Promise<Response>

/** The prefix of the URIs of extensions, which are only used on the bus. */
export const EXTENSION_URI = 'mayfly-extension:'

/** The sender of a `subscriptions/listen`. */
export interface Listener {
  readonly era: Era
  readonly clientCapabilities: ClientCapabilities
  readonly auth: AuthInfo | undefined
  readonly access: Access | undefined
  readonly hasBus: boolean
}

export interface Notification {
  readonly method: string
  readonly params: object
}

export interface ListenedTo {
  /** What is acknowledged. */
  readonly filter: object
  /** Each begins with `EXTENSION_URI`. */
  readonly uris: readonly string[]
  /** Those that are reported at once, with what changed just before. */
  readonly now?: readonly string[]
}

/** The server's configuration, as every request uses it. */
export interface RequestOptions extends ServerOptions {
  /** Undefined: it has none. */
  readonly extensions: Extensions | undefined
}

/** What an extension gets with a request for one of its paths beside the endpoint. */
export interface RouteContext {
  readonly env: unknown
  /** The caller's address, if the platform reports it. */
  readonly address?: string
  /** Writes an error to the server's log. */
  report(error: unknown): void
  /** Keeps the invocation alive for work after the answer. Default: nothing does. */
  waitUntil?(work: Promise<unknown>): void
}
