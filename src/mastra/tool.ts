/**
 * Tools of Mastra's `createTool`. They copy their context, which keeps only own members, so they receive a plain object with the members
 * that Mastra's own MCP servers add.
 */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { errorResult } from '../definition/content.ts'
import type { InputRequired } from '../definition/input-required.ts'
import { compileSchema, isStandardSchema, type JsonSchema } from '../definition/schema.ts'
import type { SdkElicitResult } from '../sdk/sdk-context.ts'
import type { MastraContext } from './context.ts'

/** How Mastra itself recognizes its tools, also across copies of its package. */
const marker = (): symbol => Symbol.for('mastra.core.tool.Tool')

/** The used members of a tool. */
interface MastraTool {
  readonly inputSchema?: unknown
  readonly resumeSchema: unknown
  readonly execute?: ((input: unknown, context: object) => unknown) | undefined
}

/** The members that are replaced; the others are copied unchanged. */
interface ConvertedTool {
  readonly inputSchema: unknown
  readonly execute: (input: unknown, context: MastraContext) => Promise<unknown>
}

interface SuspendableContext extends Pick<MastraContext, 'mcp' | 'requestContext' | 'abortSignal'> {
  readonly suspend: (payload: unknown) => Promise<void>
  readonly resumeData: unknown
  readonly suspendPayload: unknown
}

/**
 * The input of a tool of Mastra 0.x is a member of its first argument: `execute({ context }, options)`. So an input also has itself as
 * `context`, unless it has a member of that name. Not enumerable: copies and JSON are those of the input.
 */
export function withOwnContext(input: unknown): unknown {
  if (typeof input === 'object' && input !== null && !('context' in input) && Object.isExtensible(input))
    Object.defineProperty(input, 'context', { value: input, configurable: true, writable: true })
  return input
}

/** An input as tools of Mastra 0.x read it. */
export type WithOwnContext<Input> = 'context' extends keyof Input
  ? Input
  : Input & {
      /** @deprecated The input itself, as Mastra 0.x passed it. */
      readonly context: Input
    }

export function isMastraTool<Tool extends object>(tool: Tool): tool is Tool & MastraTool {
  return marker() in tool
}

/**
 * Converts a Mastra tool to a Mayfly tool.
 *
 * @throws TypeError for an invalid `resumeSchema`.
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
    execute: (input: unknown, context: MastraContext) => run(name, tool, form, input, context),
  }
  // Without the marker, so that it is not converted again.
  Reflect.deleteProperty(converted, marker())
  return converted
}

/** The key of a suspended tool's only question. */
const QUESTION = 'input'

/**
 * Returns a question if the tool suspends: the user gets the form of `resumeSchema`, and the tool runs again with the answer as
 * `resumeData`. As in Mastra, the tool then skips the part before the suspension.
 */
async function run(
  name: string,
  tool: MastraTool,
  requestedSchema: JsonSchema,
  input: unknown,
  context: MastraContext,
): Promise<unknown> {
  const { mcp, signal, requestContext } = context
  const { mcpReq } = mcp.extra
  const state = mcpReq.requestState()
  // Ignores an answer without the sealed state: its client skipped the part before the question.
  const answered = state === undefined ? undefined : mcpReq.inputResponses?.[QUESTION]
  const { action, content } = (answered ?? {}) as Partial<SdkElicitResult>
  if (action === 'decline' || action === 'cancel') {
    return errorResult(`The user ${action === 'decline' ? 'declined' : 'cancelled'}.`)
  }
  const isResuming = action === 'accept'
  let suspension: { readonly payload: unknown } | undefined
  const given: SuspendableContext = {
    mcp,
    requestContext,
    abortSignal: signal,
    suspend: async (payload) => {
      suspension = { payload }
    },
    resumeData: isResuming ? (content ?? {}) : undefined,
    suspendPayload: isResuming ? readPayload(state) : undefined,
  }
  // A resumed tool does not validate its input again, so it needs the validated value.
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

/** Mastra tools validate their input themselves, so they receive the client's input: checked, but without defaults and transforms. */
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

/** What a Mastra tool returns if its input or output does not match its schema. */
function isValidationError(output: unknown): output is { readonly message: string } {
  const { error, message, validationErrors } = (output ?? {}) as Record<string, unknown>
  return error === true && typeof message === 'string' && validationErrors !== undefined
}
