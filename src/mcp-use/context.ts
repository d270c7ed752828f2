/** The context of tools that were written for mcp-use: that of any tool, with what mcp-use has besides. */
import {
  type Elicit,
  type ElicitAnswer,
  type ElicitOptions,
  type ElicitParams,
  elicitOptionsIn,
} from '../definition/ask.ts'
import type {
  ClientCapabilities,
  Implementation,
  LogLevel,
  McpContext,
  Progress,
} from '../definition/context.ts'
import { present } from '../definition/present.ts'
import type { InferOutput, Schema } from '../definition/schema.ts'
import { MAX_TIMER_MS, withTimeout } from '../definition/timeout.ts'
import { Context } from '../request/context.ts'
import { addMembers, type Members } from '../request/members.ts'

/** The user's answer to a form. `data` is the same as `content`. */
export type McpUseAnswer<Content> =
  | (Extract<ElicitAnswer<Content>, { action: 'accept' }> & { readonly data: Content })
  | Extract<ElicitAnswer<Content>, { action: 'decline' | 'cancel' }>

/** Options of `ctx.elicit`. */
export interface McpUseElicitOptions extends ElicitOptions {
  /**
   * Milliseconds to wait for the answer, above 0; then `ctx.elicit` throws. Where the call ends with its question, nothing waits, and
   * `stateTtlMs` of the server limits the time to answer. Default: `askTimeoutMs` of the server.
   */
  readonly timeout?: number
}

/** The signatures of `ctx.elicit`, as those of `mayfly-mcp`. */
export interface McpUseElicit {
  <S extends Schema>(
    message: string,
    schema: S,
    options?: McpUseElicitOptions,
  ): Promise<McpUseAnswer<InferOutput<S>>>
  (
    message: string,
    url: string | URL,
    options?: McpUseElicitOptions,
  ): Promise<{ action: 'accept' | 'decline' | 'cancel' }>
  (params: ElicitParams, options?: McpUseElicitOptions): Promise<McpUseAnswer<Record<string, unknown>>>
}

/** What a client has declared about itself, unverified: hints, not an identity. */
export interface McpUseClient {
  /** Whether it has a capability, such as `elicitation`. */
  can(capability: string): boolean
  capabilities(): ClientCapabilities
  info(): Partial<Implementation>
  /** The settings of an extension. */
  extension(id: string): Record<string, unknown> | undefined
  /** Whether it shows the HTML of MCP Apps. */
  supportsViews(): boolean
  /** The same as `supportsViews`. */
  supportsApps(): boolean
}

/** Signatures of `reportProgress`: that of mcp-use, and that of `mayfly-mcp`. */
export interface McpUseReportProgress {
  (progress: number, total?: number, message?: string): void
  (progress: Progress): void
}

/** What tools written for mcp-use receive, and the members of `McpContext`. */
export interface McpUseContext extends Omit<McpContext, 'elicit' | 'reportProgress'> {
  readonly elicit: McpUseElicit & Elicit
  readonly reportProgress: McpUseReportProgress
  readonly client: McpUseClient
  /** The same as `log`. */
  sendLog(level: LogLevel, data: unknown, logger?: string): void
  /** Whether the server keeps no state between this client's requests: true except in a session and on stdio. */
  readonly stateless: boolean
}

const MEMBERS: Members = {
  elicit() {
    return async (...[first, ...rest]: Parameters<Elicit>) => {
      const given = rest.at(typeof first === 'string' ? 1 : 0) as McpUseElicitOptions | undefined
      if (typeof rest[0] === 'string' && given !== undefined && '~standard' in given)
        throw new TypeError('ctx.elicit takes no key: write ctx.elicit(message, schema).')
      const timeout = timeoutOf(given)
      const options = elicitOptionsIn(given)
      const args = (
        typeof first === 'string' ? [first, rest[0], options] : [first, options]
      ) as Parameters<Elicit>
      const answer = Context.prototype.elicit.apply(this, args)
      return withData(await (timeout === undefined ? answer : withTimeout(answer, timeout, 'user')))
    }
  },
  reportProgress() {
    return (progress: number | Progress, total?: number, message?: string) =>
      Context.prototype.reportProgress.call(
        this,
        typeof progress === 'object' ? progress : present<Progress>({ progress, total, message }),
      )
  },
  client() {
    return clientOf(this)
  },
  sendLog() {
    return (...entry: Parameters<Context['log']>) => this.log(...entry)
  },
  stateless() {
    return !this.can('sessions').available
  },
}

/** Adds the members that mcp-use's tools read, except those that the context has already. */
export function extendForMcpUse(context: Context): void {
  addMembers(context, MEMBERS)
}

/** @throws TypeError for anything but a number of milliseconds; undefined and Infinity: no limit of its own. */
function timeoutOf(options: McpUseElicitOptions | undefined): number | undefined {
  const { timeout = Infinity } = options ?? {}
  if (typeof timeout !== 'number' || !(timeout > 0))
    throw new TypeError('"timeout" of ctx.elicit must be a number of milliseconds above 0.')
  return timeout <= MAX_TIMER_MS ? timeout : undefined
}

const UI = 'io.modelcontextprotocol/ui'

function clientOf({ clientCapabilities, clientInfo }: Context): McpUseClient {
  const extension = (id: string) =>
    (clientCapabilities as { extensions?: Record<string, Record<string, unknown>> }).extensions?.[id]
  const supportsViews = (): boolean => {
    const { mimeTypes } = extension(UI) ?? {}
    return Array.isArray(mimeTypes) && mimeTypes.includes('text/html;profile=mcp-app')
  }
  return {
    can: (capability) => Object.hasOwn(clientCapabilities, capability),
    capabilities: () => clientCapabilities,
    info: () => clientInfo ?? {},
    extension,
    supportsViews,
    supportsApps: supportsViews,
  }
}

/** `data` is not enumerable, so JSON does not include it. */
function withData(answer: object): object {
  return 'content' in answer ? Object.defineProperty(answer, 'data', { value: answer.content }) : answer
}
