/** The context of tools that were written for the official SDK: that of any tool, with the members that the SDK has. */
import { type ElicitAnswer, type ElicitParams, elicitOptionsIn } from '../definition/ask.ts'
import type { AuthInfo, McpContext } from '../definition/context.ts'
import type { Context } from '../request/context.ts'
import { addMembers, type Members } from '../request/members.ts'
import { extraOf, type SdkExtra } from './extra.ts'
import type {
  SdkHttp,
  SdkMcpRequest,
  SdkRequestInfo,
  SdkRequestMeta,
  SdkSendNotification,
  SdkSendRequest,
} from './sdk-context.ts'

/** What `setup` and middleware receive: the members of `McpContext`, and those of the SDK. */
export interface SdkServerContext extends McpContext {
  /** SDK v1: the same as `auth`. */
  readonly authInfo?: AuthInfo
  readonly _meta?: SdkRequestMeta
  /** SDK v1: headers and URL of the HTTP request. */
  readonly requestInfo?: SdkRequestInfo
  /** SDK v1: sends a notification to the client. */
  readonly sendNotification: SdkSendNotification
  /** SDK v1: sends a request to the client. */
  readonly sendRequest: SdkSendRequest
  /** SDK v2: the MCP request. */
  readonly mcpReq: SdkMcpRequest
  /** SDK v2: the HTTP request. */
  readonly http?: SdkHttp
  /**
   * `elicit` with parameters in wire form. Of `options`, only those of `elicit` are used. Absent where this client cannot be asked, neither
   * with a form nor with a URL; `elicit` then says why.
   */
  elicitInput?(params: ElicitParams, options?: object): Promise<ElicitAnswer<Record<string, unknown>>>
  /** `extra`: the second argument of the SDK's callbacks, v1 and v2 combined: a plain object that can be spread. */
  readonly mcp: { readonly extra: SdkExtra }
}

/**
 * What callbacks of SDK v1 and of v2 receive, and the members of `McpContext`. A member that cannot work in this request is absent, so that
 * code which tests for it takes its fallback; `can` says why. `sendRequest` and `mcpReq`, which the SDK always has, fail with the reason.
 */
export interface SdkToolContext
  extends Omit<SdkServerContext, 'requestId' | 'createMessage' | 'listRoots' | 'reportProgress'> {
  /** The id of the JSON-RPC request, as in the SDK. The id in the log is the `x-request-id` of the response. */
  readonly requestId: string | number
  createMessage?: McpContext['createMessage']
  listRoots?: McpContext['listRoots']
  /** Absent if the client did not ask for progress. */
  reportProgress?: McpContext['reportProgress']
}

const MEMBERS: Members = {
  authInfo() {
    return this.auth
  },
  requestInfo() {
    return extraOf(this).requestInfo
  },
  sendNotification() {
    return extraOf(this).sendNotification
  },
  sendRequest() {
    return extraOf(this).sendRequest
  },
  mcpReq() {
    return extraOf(this).mcpReq
  },
  http() {
    return extraOf(this).http
  },
  elicitInput() {
    if (!this.can('elicitation.form').available && !this.can('elicitation.url').available) return undefined
    return (params: ElicitParams, options?: object) => this.elicit(params, elicitOptionsIn(options))
  },
  mcp() {
    return { extra: extraOf(this) }
  },
}

/** Adds the members that the SDK's callbacks read, except those that the context has already. */
export function extendForSdk(context: Context): void {
  context.canReturnQuestions = true
  addMembers(context, MEMBERS)
}
