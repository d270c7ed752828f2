/** Runs a call of a tool through middleware. */
import type { CallToolResult } from './content.ts'
import { textOf } from './error-text.ts'
import type { Around, CallContext, ToolCall, ToolMiddleware } from './middleware.ts'
import { ownData } from './own-data.ts'
import { isSameData } from './same-data.ts'

/** Its getters are on the prototype, since one is created for each call. */
class AroundCall<Context> implements ToolCall<Context> {
  readonly toolName: string
  readonly input: unknown
  readonly arguments: ToolCall['arguments']
  readonly context: Context & CallContext
  readonly task: ToolCall['task']

  constructor(around: Around<Context>, input: unknown, sent: ToolCall['arguments']) {
    this.toolName = around.toolName
    this.input = input
    this.arguments = sent
    this.context = around.context
    this.task = around.task
  }

  get auth(): CallContext['auth'] {
    return this.context.auth
  }

  get signal(): AbortSignal {
    return this.context.signal
  }
}

/** What a middleware has changed: the parsed arguments, or those that a client would send. Undefined: nothing. */
type Change = { readonly input: ToolCall['arguments'] } | { readonly sent: ToolCall['arguments'] } | undefined

/** @throws TypeError if one change would be lost. */
function changeOf(
  call: Pick<ToolCall, 'toolName' | 'input' | 'arguments'>,
  passed: ToolCall['arguments'] | undefined,
  input: unknown,
  sent: ToolCall['arguments'],
): Change {
  const given = passed ?? call.arguments
  const isInPlace = given === call.input || given === call.arguments
  const isInput = !isSameData(call.input, input)
  const isSent = !isInPlace || !isSameData(call.arguments, sent)
  if (isInput && (isSent || passed === call.arguments))
    throw new TypeError(
      `A middleware changed both call.input and the arguments of tool "${call.toolName}": change one of them, so that no change is lost.`,
    )
  if (isInput) return { input: call.input }
  return isSent ? { sent: isInPlace ? call.arguments : given } : undefined
}

/**
 * The changed parsed arguments. They are parsed to validate them, and what the schema makes of them must be the same: otherwise a
 * transform would be applied twice.
 *
 * @throws TypeError if they are invalid, or not the same.
 */
async function validated<Context>(
  { parse, toolName }: Around<Context>,
  changed: ToolCall['arguments'],
): Promise<unknown> {
  const advice = 'Change call.arguments, or pass arguments as a client sends them to next().'
  let parsed: unknown
  try {
    // A copy, since some schemas change what they get.
    parsed = await parse(ownData(changed) as ToolCall['arguments'])
  } catch (cause) {
    throw new TypeError(
      `${textOf(cause)} It changed call.input. If the inputSchema has a transform: ${advice}`,
      { cause },
    )
  }
  if (isSameData(changed, parsed)) return parsed
  throw new TypeError(
    `A middleware changed call.input of tool "${toolName}", and the inputSchema would change it again, as a transform does. ${advice}`,
  )
}

/** Runs a call through the middleware, the first of which is outermost. */
export function throughMiddleware<Context>(
  use: readonly ToolMiddleware<Context>[],
  around: Around<Context>,
  input: unknown,
  sent: ToolCall['arguments'],
): Promise<CallToolResult> {
  const { toolName } = around
  const enter = async (
    index: number,
    input: unknown,
    sent: ToolCall['arguments'],
  ): Promise<CallToolResult> => {
    const middleware = use[index]
    if (middleware === undefined) return around.run(input, sent)
    let isPassed = false
    let result: CallToolResult | undefined
    let shown: CallToolResult | undefined
    let shownText: string | undefined
    const pass = async (passed: ToolCall['arguments'] | undefined): Promise<CallToolResult> => {
      if (isPassed) throw new TypeError(`A middleware called next() twice for tool "${toolName}".`)
      isPassed = true
      const change = changeOf(call, passed, input, sent)
      if (change === undefined) result = await enter(index + 1, input, sent)
      else {
        // A copy: what the middleware changes later is not validated.
        const own = ownData('input' in change ? change.input : change.sent) as ToolCall['arguments']
        const parsed = await ('input' in change ? validated(around, own) : around.parse(own))
        result = await enter(index + 1, parsed, own)
      }
      shownText = around.toJson(result)
      shown = JSON.parse(shownText) as CallToolResult
      return shown
    }
    const call = new AroundCall(around, ownData(input), ownData(sent) as ToolCall['arguments'])
    const output: unknown = await middleware(call, (changed) => {
      const passed = pass(changed)
      // A middleware that does not wait for it must not end the process.
      passed.catch(() => {})
      return passed
    })
    if (output === undefined)
      throw new TypeError(
        `A middleware returned nothing for tool "${toolName}": return next(), or a result of its own.`,
      )
    if (output === shown && around.toJson(shown as CallToolResult) === shownText) return result!
    return around.toResult(ownData(output))
  }
  return enter(0, input, sent)
}
