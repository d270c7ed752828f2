/**
 * Tools made by Mastra's `createTool`. They copy the context they are given, and a copy has only own members: so they get a
 * plain object, with what Mastra's own MCP servers put into it.
 */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { errorResult } from './content.ts'
import type { McpContext, RequestContext } from './context.ts'
import { MastraRequestContext } from './mastra-request-context.ts'
import { compileSchema, isStandardSchema, type JsonSchema } from './schema.ts'
import type { InputRequired, SdkElicitResult } from './sdk-context.ts'

/** How Mastra itself tells its tools, across copies of its package. */
const marker = (): symbol => Symbol.for('mastra.core.tool.Tool')

/** What is used of a tool. */
interface MastraTool {
  readonly inputSchema?: unknown
  readonly resumeSchema: unknown
  readonly execute?: ((input: unknown, context: object) => unknown) | undefined
}

/** What replaces members of a tool. The others are copied as they are. */
interface ConvertedTool {
  readonly inputSchema: unknown
  readonly execute: (input: unknown, context: RequestContext) => Promise<unknown>
}

interface MastraContext {
  readonly mcp: McpContext
  readonly requestContext: MastraRequestContext
  readonly abortSignal: AbortSignal
  readonly suspend: (payload: unknown) => Promise<void>
  readonly resumeData: unknown
  readonly suspendPayload: unknown
}

export function isMastraTool<Tool extends object>(tool: Tool): tool is Tool & MastraTool {
  return marker() in tool
}

/**
 * The tool as one of ours.
 *
 * @throws TypeError for a `resumeSchema` that is no schema.
 */
export function fromMastraTool<Tool extends MastraTool>(name: string, tool: Tool): Tool & ConvertedTool {
  const { resumeSchema } = tool
  const form =
    resumeSchema === undefined
      ? { type: 'object', properties: {} }
      : compileSchema(resumeSchema, `resumeSchema of tool "${name}"`).jsonSchema
  const converted = {
    ...tool,
    inputSchema: checkedOnly(tool.inputSchema),
    execute: (input: unknown, context: RequestContext) => run(name, tool, form, input, context),
  }
  // It is one of ours now, and must not be converted again.
  Reflect.deleteProperty(converted, marker())
  return converted
}

/** The one question of a tool that suspended. */
const QUESTION = 'input'

/**
 * A tool that suspends returns a question: its user gets the form that `resumeSchema` describes, and the tool runs again with
 * the answer as `resumeData`. What ran before it suspended does not run again.
 */
async function run(
  name: string,
  tool: MastraTool,
  requestedSchema: JsonSchema,
  input: unknown,
  context: RequestContext,
): Promise<unknown> {
  const { mcpReq, mcp, signal } = context
  const state = mcpReq.requestState()
  // An answer without the state that was sealed when the tool asked is no answer: its client skipped what comes before.
  const answered = state === undefined ? undefined : mcpReq.inputResponses?.[QUESTION]
  const { action, content } = (answered ?? {}) as Partial<SdkElicitResult>
  if (action === 'decline' || action === 'cancel') {
    return errorResult(`The user ${action === 'decline' ? 'declined' : 'cancelled'}.`)
  }
  const isResuming = action === 'accept'
  let suspension: { readonly payload: unknown } | undefined
  const given: MastraContext = {
    mcp,
    requestContext: new MastraRequestContext(context),
    abortSignal: signal,
    suspend: async (payload) => {
      suspension = { payload }
    },
    resumeData: isResuming ? (content ?? {}) : undefined,
    suspendPayload: isResuming ? readPayload(state) : undefined,
  }
  // A tool that resumes does not validate its input again, so it wants what validation yields.
  const args = isResuming ? await validated(tool.inputSchema, input) : input
  const output: unknown = await tool.execute!(args, { ...context, ...given })
  if (isValidationError(output)) return errorResult(output.message)
  return suspension === undefined ? output : question(name, suspension.payload, requestedSchema)
}

function question(name: string, payload: unknown, requestedSchema: JsonSchema): InputRequired {
  const { message: named } = (payload ?? {}) as { message?: unknown }
  const message = typeof named === 'string' ? named : `The tool "${name}" needs more input.`
  const params = { message, requestedSchema }
  return {
    resultType: 'input_required',
    inputRequests: { [QUESTION]: { method: 'elicitation/create', params } },
    requestState: JSON.stringify({ payload }),
  }
}

function readPayload(state: unknown): unknown {
  return (JSON.parse(String(state)) as { payload?: unknown }).payload
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
