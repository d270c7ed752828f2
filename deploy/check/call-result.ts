/** Checks the result of a tool that the user names: whether clients pass its data to the model twice. */
import { isA } from '../../src/definition/error-text.ts'
import { isObject } from '../../src/definition/is-object.ts'
import { UsageError } from '../terminal/cli-error.ts'
import type { Endpoint } from './endpoint.ts'
import { isAdvertised } from './lists.ts'
import type { JsonObject } from './messages.ts'
import { hint, type Outcome, Stop, skipped, works, wrong } from './outcome.ts'
import { readPages, TOOLS } from './pages.ts'
import { describe, type Reply } from './reply.ts'
import { quote, toSafeText } from './safe-text.ts'
import { createHide, secretsIn } from './secrets.ts'

export interface ToolCall {
  readonly name: string
  readonly arguments: JsonObject
}

/** About 250 tokens, which may be repeated. */
const SHORT_CHARACTERS = 1000
const CHARACTERS_A_TOKEN = 4
/** How many tools an error names. */
const MAX_NAMED = 10

/** The error of a tool that needs a client capability: `check` declares none. */
const MISSING_CAPABILITY = -32021

/**
 * Throws `UsageError` for a tool that the server does not list: that is a mistake in the command, and no fault of the server. A server
 * whose list cannot be read is asked for the tool.
 */
export async function refuseUnlisted(endpoint: Endpoint, { name }: ToolCall): Promise<void> {
  const { isModern, isLegacy } = endpoint.contact
  if ((!isModern && !isLegacy) || !isAdvertised(endpoint, endpoint.era, TOOLS.capability)) return
  const pages = await readPages(endpoint, endpoint.era, TOOLS).catch((error: unknown) => {
    if (isA(error, Stop)) return undefined
    throw error
  })
  const names = pages?.items.map((tool) => String(tool.name)) ?? []
  if (pages === undefined || pages.fault !== undefined || names.includes(name)) return
  const show = (text: string): string => toSafeText(text, createHide(secretsIn(endpoint.wire.options)))
  const others = names.slice(0, MAX_NAMED).map(quote).join(', ')
  const more = names.length > MAX_NAMED ? ` or one of ${names.length - MAX_NAMED} more` : ''
  throw new UsageError(
    show(
      `this server lists no tool ${quote(name)}: pass --call with ${others || 'a tool that it lists'}${more}`,
    ),
  )
}

export async function judgeResult(endpoint: Endpoint, call: ToolCall): Promise<Outcome> {
  const params = { name: call.name, arguments: call.arguments }
  const asked = await endpoint.ask(endpoint.era, { method: 'tools/call', params })
  const { result } = asked
  const name = quote(call.name)
  const need = neededOf(asked)
  if (need !== undefined) return skipped(`${name}: ${need}`)
  if (result === undefined)
    return wrong(`${name}: ${describe(asked)}`, 'pass the name and the arguments of a tool of this server')
  const text = textIn(result)
  if (result.structuredContent === undefined) return works(`${name}: text alone`)
  const data = JSON.stringify(result.structuredContent)
  const isTwice = data.length > SHORT_CHARACTERS && isSame(text, data)
  return isTwice
    ? hint(
        `${name}: the text repeats structuredContent, about ${Math.round(data.length / CHARACTERS_A_TOKEN)} tokens, and some clients pass both to the model`,
        'return a short text for the model, and the data as structuredContent',
      )
    : works(`${name}: text of ${text.length} and structuredContent of ${data.length} characters`)
}

/** Why the result cannot be checked, for a tool that exists but needs something from its client. */
function neededOf({ result, error, questions }: Reply): string | undefined {
  const { requiredCapabilities } = isObject(error?.data) ? error.data : {}
  const isMissing = error?.code === MISSING_CAPABILITY
  const asks = [
    ...(isMissing && isObject(requiredCapabilities) ? Object.keys(requiredCapabilities) : []),
    ...questionsIn(result).map(({ method }) => String(method)),
    ...(result === undefined ? questions.map(({ method }) => String(method)) : []),
  ]
  if (asks.some((what) => what.startsWith('elicitation')))
    return 'the tool asks its user, which check cannot do'
  return isMissing || asks.length > 0 || result?.resultType === 'input_required'
    ? 'the tool needs a client capability that check does not have'
    : undefined
}

/** The questions of an `input_required` result. */
function questionsIn(result: JsonObject | undefined): JsonObject[] {
  if (result?.resultType !== 'input_required' || !isObject(result.inputRequests)) return []
  return Object.values(result.inputRequests).filter(isObject)
}

function textIn({ content }: JsonObject): string {
  if (!Array.isArray(content)) return ''
  const texts = content.filter(isObject).map(({ text }) => (typeof text === 'string' ? text : ''))
  return texts.join('')
}

/** Whether both are the same JSON, ignoring indentation. */
function isSame(text: string, data: string): boolean {
  try {
    return JSON.stringify(JSON.parse(text)) === data
  } catch {
    return false
  }
}
