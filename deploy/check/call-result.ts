/** The result of a tool that the user names: whether clients hand its data to the model twice. */
import type { Endpoint } from './endpoint.ts'
import type { JsonObject } from './messages.ts'
import { hint, type Outcome, works, wrong } from './outcome.ts'
import { describe, isObject } from './reply.ts'
import { quote } from './shown.ts'

export interface ToolCall {
  readonly name: string
  readonly arguments: JsonObject
}

/** About 250 tokens: twice that is no matter. */
const SHORT_CHARACTERS = 1000
const CHARACTERS_A_TOKEN = 4

export async function judgeResult(endpoint: Endpoint, call: ToolCall): Promise<Outcome> {
  const params = { name: call.name, arguments: call.arguments }
  const asked = await endpoint.ask(endpoint.era, { method: 'tools/call', params })
  const { result } = asked
  const name = quote(call.name)
  if (result === undefined)
    return wrong(`${name}: ${describe(asked)}`, 'pass the name and the arguments of a tool of this server')
  const text = textIn(result)
  if (result.structuredContent === undefined) return works(`${name}: text alone`)
  const data = JSON.stringify(result.structuredContent)
  const isTwice = data.length > SHORT_CHARACTERS && isSame(text, data)
  return isTwice
    ? hint(
        `${name}: the text repeats structuredContent, about ${Math.round(data.length / CHARACTERS_A_TOKEN)} tokens, and some clients hand both to the model`,
        'return a short text for the model, and the data as structuredContent',
      )
    : works(`${name}: text of ${text.length} and structuredContent of ${data.length} characters`)
}

function textIn({ content }: JsonObject): string {
  if (!Array.isArray(content)) return ''
  const texts = content.filter(isObject).map(({ text }) => (typeof text === 'string' ? text : ''))
  return texts.join('')
}

/** The same JSON, however it is indented. */
function isSame(text: string, data: string): boolean {
  try {
    return JSON.stringify(JSON.parse(text)) === data
  } catch {
    return false
  }
}
