/** `tools/call`. */

import type { CompiledTool } from '../definition/compiled-tool.ts'
import { type CallToolResult, errorResult } from '../definition/content.ts'
import type { Era } from '../definition/context.ts'
import { isA, textOf } from '../definition/error-text.ts'
import { isThenable } from '../definition/hook.ts'
import { isInputRequired } from '../definition/input-required.ts'
import { PartError, withPart } from '../definition/part.ts'
import { reportThrown } from '../definition/print-error.ts'
import { ProtocolError } from '../definition/protocol-error.ts'
import { describeIssues, type Validation } from '../definition/schema.ts'
import { forEra } from '../definition/tool-result.ts'
import type { Context } from './context.ts'
import { development } from './development.ts'
import type { RequestOptions } from './extension.ts'
import type { HeaderCheck } from './header-check.ts'
import { loadAroundTool } from './load-around-tool.ts'
import { type MethodResult, StartedTask, toMethodResult } from './method-result.ts'
import type { ReportError, ServerOptions } from './options.ts'
import { optionalObjectParam, type Params, stringParam } from './params.ts'
import type { RequestScope } from './request-server.ts'
import { notSendable, reportMismatch, sendable } from './sendable.ts'
import { tellHooks } from './tell-hooks.ts'

/** What a run of a tool needs from the server. */
export type ToolRunOptions = Pick<ServerOptions, 'reportError' | 'use'>

/** @throws ProtocolError `-32602` for an unknown tool. Every error of the tool itself is an `isError` result. */
export function callTool(
  scope: RequestScope,
  params: Params,
  options: RequestOptions,
  headers?: HeaderCheck,
): MethodResult | Promise<MethodResult> {
  const tool = scope.requireTool(stringParam(params, 'name'))
  if (headers !== undefined && tool.paramHeaders.length > 0) headers.checkHeaders(tool)
  const input = optionalObjectParam(params, 'arguments')
  return options.extensions?.call(tool, input, scope.context) ?? runTool(tool, input, scope.context, options)
}

/**
 * Validates the arguments, executes the tool within the middleware, and converts its result. A synchronous tool is answered synchronously,
 * so that only async code costs a promise. Throws only `ProtocolError`, which is for the client: even a result that is not JSON becomes an
 * `isError` result.
 *
 * @param task Set for a run of a task.
 */
export function runTool(
  tool: CompiledTool,
  input: unknown,
  context: Context,
  options: ToolRunOptions,
  task?: 'run',
): MethodResult | Promise<MethodResult> {
  const fail = (error: unknown): MethodResult => failedResult(error, tool, context, options.reportError)
  // Compiles the tool, outside of `try`: an invalid schema is a server error, not one that the model could correct.
  const { input: schema } = tool
  try {
    const validation = schema.validate(input)
    if (validation instanceof Promise)
      return validation
        .then((settled) => execute(tool, input, settled, context, options, task, fail))
        .catch(fail)
    // Nearly every call.
    return validation.ok && options.use === undefined
      ? runValidated(tool, validation.value, context, options.reportError, context.era, toMethodResult, fail)
      : execute(tool, input, validation, context, options, task, fail)
  } catch (error) {
    return fail(error)
  }
}

/** The result of a tool that threw. @throws ProtocolError if that is what it threw. */
export function failedResult(
  error: unknown,
  tool: CompiledTool,
  context: Context,
  reportError: ReportError,
): MethodResult {
  if (isA(error, ProtocolError) || isA(error, PartError)) throw error
  // An error caused by the abort is not reported.
  if (!context.isStoppedBy(error))
    reportThrown(error, { tool: tool.name, requestId: context.requestId }, reportError)
  return toMethodResult(errorResult(textOf(error)))
}

/** A rejection of what it runs becomes the result of `fail`, without a promise more. What it throws is the caller's. */
function execute(
  tool: CompiledTool,
  sent: unknown,
  validation: Validation,
  context: Context,
  { reportError, use }: ToolRunOptions,
  task: 'run' | undefined,
  fail: (error: unknown) => MethodResult,
): MethodResult | Promise<MethodResult> {
  if (!validation.ok)
    return toMethodResult(
      errorResult(`Invalid arguments for tool ${tool.name}: ${describeIssues(validation.issues)}`),
    )
  if (use === undefined)
    return runValidated(tool, validation.value, context, reportError, context.era, toMethodResult, fail)
  const run = (input: unknown) =>
    // `mayfly-mcp/gateway` starts no task for a server with middleware.
    runValidated(tool, input, context, reportError, 'modern', (outcome) => outcome as CallToolResult, rethrow)
  const running = withPart(loadAroundTool, ({ aroundTool }) =>
    aroundTool(use, tool, context, reportError, run, validation.value, sent, task),
  )
  // A promise already, which is returned as it is.
  return Promise.resolve(running)
    .then((result) => sendable(tool, () => toMethodResult(forEra(result, context.era))))
    .catch(fail)
}

function rethrow(error: unknown): never {
  throw error
}

/**
 * Executes a tool with valid arguments, and tells its hooks. `write` gets the validated result, and `fail` what an asynchronous tool
 * rejects with, and why a result cannot be sent.
 */
function runValidated<Written>(
  tool: CompiledTool,
  input: unknown,
  context: Context,
  reportError: ReportError,
  era: Era,
  write: (outcome: CallToolResult | StartedTask) => Written,
  fail: (error: unknown) => Written,
): Written | Promise<Written> {
  const { source } = tool
  if (source.onInputAvailable !== undefined) tellHooks(tool, { input }, context, reportError)
  const finish = (output: unknown): Written | Promise<Written> => {
    const isObject = typeof output === 'object'
    if (isObject && isInputRequired(output)) {
      const again = (): unknown => source.execute!(input, context)
      return context.askReturned(output).then(again).then(finish).catch(fail)
    }
    // As `sendable` does, without a function more around each call.
    try {
      if (isObject && output instanceof StartedTask) return write(output)
      const result = tool.toResult(output, era)
      if (result instanceof Promise)
        return result
          .then((settled) => complete(tool, output, settled, context, reportError, write))
          .catch((cause: unknown) => fail(notSendable(tool, cause)))
      return result.isError === true || source.onOutput !== undefined
        ? complete(tool, output, result, context, reportError, write)
        : write(result)
    } catch (cause) {
      return fail(notSendable(tool, cause))
    }
  }
  const watcher = development()
  const output: unknown =
    watcher === undefined
      ? source.execute!(input, context)
      : watcher.runTool(tool.name, source.execute, context, () => source.execute!(input, context))
  return output instanceof Promise || isThenable(output)
    ? Promise.resolve(output).then(finish, fail)
    : finish(output)
}

/** Reports a mismatch, tells the hook of the output, and writes the result. */
function complete<Written>(
  tool: CompiledTool,
  output: unknown,
  result: CallToolResult,
  context: Context,
  reportError: ReportError,
  write: (outcome: CallToolResult) => Written,
): Written {
  if (result.isError === true) reportMismatch(result, tool, context, reportError)
  else if (tool.source.onOutput !== undefined) tellHooks(tool, { output }, context, reportError)
  return write(result)
}
