/**
 * Tools made by Mastra's `createTool`. They copy the context they are given, and a copy has only own members: so they get a
 * plain object, with what Mastra's own MCP servers put into it.
 */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { ElicitAnswer } from './ask.ts'
import { errorResult } from './content.ts'
import type { McpContext, RequestContext } from './context.ts'
import { MastraRequestContext } from './mastra-request-context.ts'
import { isStandardSchema, type Schema } from './schema.ts'
import type { AnyTool } from './tool.ts'

/** How Mastra itself tells its tools, across copies of its package. */
const marker = (): symbol => Symbol.for('mastra.core.tool.Tool')

interface MastraTool extends AnyTool {
  readonly resumeSchema?: Schema
}

interface MastraContext {
  readonly mcp: McpContext
  readonly requestContext: MastraRequestContext
  readonly abortSignal: AbortSignal
  readonly suspend: (payload: unknown) => Promise<void>
  readonly resumeData: unknown
  readonly suspendPayload: unknown
}

export function isMastraTool(tool: AnyTool): tool is MastraTool {
  return marker() in tool
}

/** The tool as one of ours. */
export function fromMastraTool(tool: MastraTool): AnyTool {
  const { [marker()]: _, ...rest } = tool as MastraTool & Record<symbol, unknown>
  return {
    ...rest,
    inputSchema: checkedOnly(tool.inputSchema),
    execute: (input: unknown, context: RequestContext) => run(tool, input, context),
  }
}

/**
 * A tool that suspends asks: its user gets the form that `resumeSchema` describes, and the tool runs again with the answer as
 * `resumeData`. In the request that brings the answer it runs once without and once with it.
 */
async function run(tool: MastraTool, input: unknown, context: RequestContext): Promise<unknown> {
  const requestContext = new MastraRequestContext(context)
  let resumeData: unknown
  let suspendPayload: unknown
  for (;;) {
    let suspension: { readonly payload: unknown } | undefined
    const given: MastraContext = {
      mcp: context.mcp,
      requestContext,
      abortSignal: context.signal,
      suspend: async (payload) => {
        suspension = { payload }
      },
      resumeData,
      suspendPayload,
    }
    // A tool that resumes does not validate its input again, so it wants what validation yields.
    const args = resumeData === undefined ? input : await validated(tool.inputSchema, input)
    const output: unknown = await tool.execute!(args, { ...context, ...given })
    if (isValidationError(output)) return errorResult(output.message)
    if (suspension === undefined) return output
    const answer = await ask(tool, suspension.payload, context)
    if (answer.action !== 'accept') {
      return errorResult(`The user ${answer.action === 'decline' ? 'declined' : 'cancelled'}.`)
    }
    resumeData = answer.content
    suspendPayload = suspension.payload
  }
}

function ask(
  { id, resumeSchema }: MastraTool,
  payload: unknown,
  context: RequestContext,
): Promise<ElicitAnswer<unknown>> {
  const { message: named } = (payload ?? {}) as { message?: unknown }
  const message = typeof named === 'string' ? named : `The tool "${id}" needs more input.`
  return resumeSchema === undefined
    ? context.elicit({ message, requestedSchema: { type: 'object', properties: {} } })
    : context.elicit(message, resumeSchema)
}

/** Mastra's tools validate their input themselves: what they are given is what the client sent, checked and not yet changed. */
function checkedOnly(schema: unknown): unknown {
  if (!isStandardSchema(schema)) return schema
  const standard = schema['~standard']
  const keep = (value: unknown, result: StandardSchemaV1.Result<unknown>) =>
    result.issues === undefined ? { value } : result
  return {
    '~standard': {
      ...standard,
      validate(value: unknown) {
        const result = standard.validate(value)
        return result instanceof Promise
          ? result.then((settled) => keep(value, settled))
          : keep(value, result)
      },
    },
  }
}

async function validated(schema: unknown, input: unknown): Promise<unknown> {
  if (!isStandardSchema(schema)) return input
  const result = await schema['~standard'].validate(input)
  return result.issues === undefined ? result.value : input
}

/** What a Mastra tool returns where its input or output does not fit its schema. */
function isValidationError(output: unknown): output is { readonly message: string } {
  const { error, message, validationErrors } = (output ?? {}) as Record<string, unknown>
  return error === true && typeof message === 'string' && validationErrors !== undefined
}
