/** The context of tools that were written for Mastra or the AI SDK: that of any tool, with the members that those have. */
import { type ElicitAnswer, type ElicitParams, elicitOptionsIn } from '../definition/ask.ts'
import type {
  AuthInfo,
  LogLevel,
  McpContext,
  Progress,
  RequestContextEntries,
  RequestContextValues,
} from '../definition/context.ts'
import { isPlain } from '../definition/is-object.ts'
import { ownData } from '../definition/own-data.ts'
import type { Context } from '../request/context.ts'
import { addMembers, type Members } from '../request/members.ts'
import { extraOf, type SdkExtra } from '../sdk/extra.ts'
import { MastraRequestContext } from './request-context.ts'

/** Mastra's `context.mcp`. */
export interface MastraMcp {
  /** The second argument of the official SDK's callbacks, v1 and v2 combined: a plain object that can be spread. */
  readonly extra: SdkExtra
  readonly elicitation: {
    /** Sends `elicitation/create`. Of `options`, only those of `ctx.elicit` are used. */
    sendRequest(params: ElicitParams, options?: object): Promise<ElicitAnswer<Record<string, unknown>>>
  }
  /** Sends a log message to the client as `ctx.log` does, with `message` and `data` in one object. */
  log(level: LogLevel, message: string, data?: Record<string, unknown>): Promise<void>
  /** The same as `ctx.reportProgress`. */
  progress(progress: Progress): Promise<void>
  /** Only for modern requests. */
  readonly protocolVersion?: '2026-07-28'
}

/** Mastra's `RequestContext`. */
export interface MastraRequestValues extends RequestContextValues {
  get(key: 'mcp.extra'): SdkExtra
  get<Key extends keyof RequestContextEntries>(key: Key): RequestContextEntries[Key] | undefined
  // biome-ignore lint/suspicious/noExplicitAny: as in Mastra, the caller states the type of the value.
  get(key: string): any
  /** The number of values. A method, as in Mastra. */
  size(): number
}

/** What a context has more. */
export interface MastraMembers {
  readonly mcp: MastraMcp
  /** The members of `mcp.extra` by name, the whole of it as `mcp.extra`, and `user` if the verifier attached one. */
  readonly requestContext: MastraRequestValues
  /** The same as `signal`. */
  readonly abortSignal: AbortSignal
  /** The same as those of `mcp`, for tools of Mastra 0.x: `execute({ context }, { elicitation, extra })`. */
  readonly elicitation: MastraMcp['elicitation']
  readonly extra: SdkExtra
  /** As in the AI SDK: the `requestId`, since MCP has no other unique id of a call. */
  readonly toolCallId: string
  /** As in the AI SDK. Always empty: MCP clients do not send their conversation. */
  readonly messages: readonly never[]
}

/** What tools written for Mastra receive, and the members of `McpContext`. */
export type MastraContext = McpContext & MastraMembers

const MEMBERS: Members = {
  mcp() {
    return mcpOf(this)
  },
  requestContext() {
    return valuesOf(this)
  },
  elicitation() {
    return mcpOf(this).elicitation
  },
  extra() {
    return mcpOf(this).extra
  },
  abortSignal() {
    return this.signal
  },
  toolCallId() {
    return this.requestId
  },
  messages() {
    return []
  },
}

/** Adds the members that Mastra's tools read, except those that the context has already. */
export function extendForMastra(context: Context): void {
  context.canReturnQuestions = true
  addMembers(context, MEMBERS)
}

/** The same on a server with `auth: 'host'`: `mcp.extra.authInfo` has all that the host's code has set as `req.auth`. */
export function extendForMastraBehindHost(context: Context): void {
  context.memo.set(extendForMastraBehindHost, true)
  extendForMastra(context)
}

interface Made {
  readonly from: SdkExtra
  readonly mcp: MastraMcp
}

function mcpOf(context: Context): MastraMcp {
  const from = extraOf(context)
  const made = context.memo.get(mcpOf) as Made | undefined
  if (made?.from === from) return made.mcp
  const mcp: MastraMcp = {
    extra: context.memo.has(extendForMastraBehindHost) ? withAllOfAuth(context, from) : from,
    elicitation: { sendRequest: (params, options) => context.elicit(params, elicitOptionsIn(options)) },
    log: async (level, message, data) => context.log(level, { message, ...data }),
    progress: async (progress) => context.reportProgress(progress),
    ...(context.era === 'modern' && { protocolVersion: '2026-07-28' as const }),
  }
  context.memo.set(mcpOf, { from, mcp } satisfies Made)
  return mcp
}

function withAllOfAuth(context: Context, extra: SdkExtra): SdkExtra {
  const said = context.parts.facts.access?.said
  if (said === undefined) return extra
  // As in Mastra, the tool states what its own middleware has set.
  const authInfo = allOf(said, context.auth) as AuthInfo
  return { ...extra, authInfo, ...(extra.http && { http: { ...extra.http, authInfo } }) }
}

/** `extra` has the members that the official SDK's `AuthInfo` does not have: Mastra's documentation reads them there, too. */
function allOf(said: unknown, auth: AuthInfo | undefined): unknown {
  if (typeof said !== 'object' || said === null || !isPlain(said)) return said
  const own = ownData(said) as Record<string, unknown>
  const { token: _token, clientId: _client, scopes: _scopes, expiresAt: _end, extra, ...rest } = own
  return { ...own, ...auth, extra: { ...rest, ...(extra as object | undefined), ...auth?.extra } }
}

function valuesOf(context: Context): MastraRequestContext {
  const made = context.memo.get(valuesOf) as MastraRequestContext | undefined
  if (made !== undefined) return made
  const { extra } = mcpOf(context)
  const values = new MastraRequestContext(extra, extra.authInfo)
  context.memo.set(valuesOf, values)
  return values
}
