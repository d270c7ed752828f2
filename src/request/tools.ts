/**
 * `tools/list` and `tools/call`.
 */

import { type CallToolResult, errorResult } from '../definition/content.ts'
import { textOf } from '../definition/error-text.ts'
import { isThenable } from '../definition/hook.ts'
import type { JsonMembers } from '../definition/json-members.ts'
import { invalidParams, ProtocolError } from '../definition/protocol-error.ts'
import { describeIssues, type Validation } from '../definition/schema.ts'
import { isInputRequired } from '../definition/sdk-context.ts'
import type { CompiledTool } from '../definition/tool.ts'
import { CONTINUE } from '../interaction/legacy-policy.ts'
import type { Context } from './context.ts'
import type { ReportError, RequestOptions } from './options.ts'
import { pageMembers, pageStart } from './pagination.ts'
import { optionalObjectParam, type Params, stringParam } from './params.ts'
import type { RequestScope } from './request-server.ts'
import { type MethodResult, toMethodResult } from './result.ts'
import { tellHooks } from './tell-hooks.ts'

/** The whole, unpaged list of a definition, serialised once an era. */
const compiledLists = new WeakMap<object, { modern: JsonMembers; legacy: JsonMembers }>()

export function listTools(scope: RequestScope, params: Params, options: RequestOptions): MethodResult {
  const { era } = scope.context
  const { tools } = scope.definition
  const isWholeList =
    !scope.isCustomised &&
    !scope.isRestricted &&
    params.cursor === undefined &&
    tools.size <= options.pageSize
  if (isWholeList) return { members: wholeList(scope, options)[era] }
  const items = scope.visibleTools().map((tool) => listed(tool, era, options))
  const start = pageStart(params, items.length, options.pageSize)
  return { members: pageMembers('tools', items, start, options.pageSize) }
}

function wholeList(
  scope: RequestScope,
  options: RequestOptions,
): { modern: JsonMembers; legacy: JsonMembers } {
  let list = compiledLists.get(scope.definition)
  if (list === undefined) {
    const tools = scope.visibleTools()
    const members = (era: 'modern' | 'legacy') =>
      pageMembers(
        'tools',
        tools.map((tool) => listed(tool, era, options)),
        0,
        tools.length + 1,
      )
    list = { modern: members('modern'), legacy: members('legacy') }
    compiledLists.set(scope.definition, list)
  }
  return list
}

function listed({ tool, json }: CompiledTool, era: 'modern' | 'legacy', { asking }: RequestOptions): string {
  if (era === 'modern' || asking.legacyPolicy !== 'arguments') return json[era]
  const { properties, ...inputSchema } = tool.inputSchema
  return JSON.stringify({
    ...(JSON.parse(json.legacy) as object),
    inputSchema: {
      ...inputSchema,
      properties: { ...(properties as object | undefined), ...CONTINUE_SCHEMA },
    },
  })
}

/** The parameter by which a model continues a call under the legacy policy `arguments`. */
const CONTINUE_SCHEMA = {
  [CONTINUE]: {
    type: 'object',
    description: "Set only when a previous result told you to: the user's answers.",
    properties: { token: { type: 'string' }, answers: { type: 'object' } },
    required: ['token', 'answers'],
  },
}

/** @throws ProtocolError `-32602` for an unknown tool; everything the tool itself does wrong is an `isError` result. */
export function callTool(
  scope: RequestScope,
  params: Params,
  options: RequestOptions,
): MethodResult | Promise<MethodResult> {
  const name = stringParam(params, 'name')
  const tool = scope.findTool(name)
  if (tool === undefined) throw invalidParams(`Unknown tool: ${name}`)
  scope.requireAccess({ kind: 'tool', name, scopes: tool.source.scopes })
  return runTool(tool, optionalObjectParam(params, 'arguments'), scope.context, options.reportError)
}

/**
 * Validates, executes, converts. A tool that answers at once is answered at once: only what is asynchronous costs a
 * promise. Fails with nothing but a `ProtocolError`, which is meant for the client: even a result that is no JSON is the
 * tool's fault alone.
 */
function runTool(
  tool: CompiledTool,
  input: unknown,
  context: Context,
  reportError: ReportError,
): MethodResult | Promise<MethodResult> {
  const fail = (error: unknown): MethodResult => {
    if (error instanceof ProtocolError) throw error
    // A tool that stops because it was told to has no fault to report.
    if (!context.isStoppedBy(error)) reportError(error, { tool: tool.name, requestId: context.requestId })
    return toMethodResult(errorResult(textOf(error)))
  }
  // Compiles the tool: a schema that is unusable is no error of the tool's, and none that its caller could mend.
  const { input: schema } = tool
  try {
    const validation = schema.validate(input)
    const result =
      validation instanceof Promise
        ? validation.then((settled) => execute(tool, settled, context, reportError))
        : execute(tool, validation, context, reportError)
    return result instanceof Promise ? result.catch(fail) : result
  } catch (error) {
    return fail(error)
  }
}

function execute(
  tool: CompiledTool,
  validation: Validation,
  context: Context,
  reportError: ReportError,
): MethodResult | Promise<MethodResult> {
  const { name, source } = tool
  if (!validation.ok)
    return toMethodResult(
      errorResult(`Invalid arguments for tool ${name}: ${describeIssues(validation.issues)}`),
    )
  tellHooks(tool, { input: validation.value }, context, reportError)
  const finish = (output: unknown): MethodResult | Promise<MethodResult> => {
    if (isInputRequired(output)) {
      const again = () => source.execute!(validation.value, context)
      return context.askReturned(output).then(again).then(finish)
    }
    const write = (result: CallToolResult): MethodResult => {
      if (result.isError !== true) tellHooks(tool, { output }, context, reportError)
      return toMethodResult(result)
    }
    const refuse = (cause: unknown): never => {
      throw new TypeError(`Tool "${name}" returned a result that cannot be sent: ${textOf(cause)}`, { cause })
    }
    try {
      const result = tool.toResult(output, context.era)
      return result instanceof Promise ? result.then(write).catch(refuse) : write(result)
    } catch (error) {
      return refuse(error)
    }
  }
  const output = source.execute!(validation.value, context)
  return isThenable(output) ? Promise.resolve(output).then(finish) : finish(output)
}
