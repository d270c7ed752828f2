/**
 * Middleware around tool calls: functions that may refuse a call, change its arguments and its result, and measure it.
 */
import type { CallToolResult } from './content.ts'
import type { McpContext } from './context.ts'

/** The part of a context that also exists for `fromSdk` and `fromNode`, whose servers have a context of their own. */
export type CallContext = Pick<
  McpContext,
  'requestId' | 'era' | 'auth' | 'env' | 'request' | 'signal' | 'waitUntil'
>

/** A call of a tool, as middleware gets it. */
export interface ToolCall<Context = McpContext> {
  /** The name that clients see. */
  readonly toolName: string
  /**
   * The validated arguments, as the tool receives them. For `fromSdk` and `fromNode`: as the client sent them. A copy for this middleware,
   * like `arguments`: what it changes in one of them before `next()` is validated. A change of `input` reaches the tool exactly as it is, or
   * `next()` throws: where the schema changes what it gets, as a transform does, change `arguments`.
   */
  // biome-ignore lint/suspicious/noExplicitAny: each tool has arguments of its own.
  readonly input: any
  /** The arguments as the client sent them, or as the middleware before this one changed them. */
  readonly arguments: { [name: string]: unknown }
  readonly context: Context
  /** `context.auth`: the caller; undefined for an anonymous one. */
  readonly auth: CallContext['auth']
  /** `context.signal`: aborted when the client disconnects or the deadline is near. */
  readonly signal: AbortSignal
  /**
   * For a tool with `task`: `create` is the call that creates a task, and `next()` resolves before the tool has run; `run` is a run of that
   * task, without a request, and without the caller's token. Undefined for a call that answers with its result.
   */
  readonly task?: 'create' | 'run' | undefined
}

/**
 * Calls the next middleware, and finally the tool. At most once.
 *
 * @param changed Arguments in place of those of the client, as a client would send them. They are validated again. `call.input` and
 * `call.arguments` themselves: like a change in place.
 * @returns The result as the client would get it, as a copy for this middleware: what it changes in it is validated. Does not settle if the tool asks its user in another round.
 * @throws TypeError for invalid arguments, for a change of `call.input` that the schema changes again, and if both are changed. What the
 * tool throws.
 */
export type NextCall = (changed?: { readonly [name: string]: unknown }) => Promise<CallToolResult>

/**
 * Returns what the client gets: the result of `next()`, a changed one, or one of its own, in every form that a tool may return. What it
 * throws is treated like an error of a tool.
 */
export type ToolMiddleware<Context = McpContext> = (
  call: ToolCall<Context>,
  next: NextCall,
) => CallToolResult | object | string | Promise<CallToolResult | object | string>

/** @throws TypeError for anything but a list of functions. */
export function checkMiddleware(use: unknown): void {
  if (use === undefined) return
  if (!Array.isArray(use) || use.some((one) => typeof one !== 'function'))
    throw new TypeError('"use" must be a list of functions: [(call, next) => next()].')
}

/** What is around the middleware: a tool, or a server that has it. */
export interface Around<Context> {
  readonly toolName: string
  readonly context: Context & CallContext
  readonly task?: ToolCall['task']
  /** The arguments as `input`. @throws TypeError for invalid ones. */
  parse(changed: ToolCall['arguments']): unknown
  run(input: unknown, sent: ToolCall['arguments']): CallToolResult | Promise<CallToolResult>
  /** A result as JSON. @throws TypeError for one that cannot be sent. */
  toJson(result: CallToolResult): string
  /** A result from what a middleware returned, validated. */
  toResult(output: unknown): CallToolResult | Promise<CallToolResult>
}
