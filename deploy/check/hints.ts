/** What the specification allows, but some clients or models have problems with. Never an error of the server. */
import { isA } from '../../src/definition/error-text.ts'
import type { ToolCall } from './call-result.ts'
import { judgeResult } from './call-result.ts'
import type { Endpoint } from './endpoint.ts'
import { isAdvertised } from './lists.ts'
import type { JsonObject } from './messages.ts'
import { hint, type Outcome, Stop, skipped, works } from './outcome.ts'
import { readPages, TOOLS } from './pages.ts'
import type { Probe, Topic } from './probe.ts'
import { quote } from './safe-text.ts'
import { SPEC } from './spec.ts'
import { geminiRefuses, rootUnion } from './tool-schemas.ts'

/** Function names that OpenAI's and Anthropic's APIs accept. */
const PLAIN_NAME = /^[\w-]{1,64}$/
/** Cursor was observed to accept 40 and VS Code 128, for all servers together. */
const MANY_TOOLS = 40
/** About 10 000 tokens, which a model reads in each turn. */
const LONG_LIST_CHARACTERS = 40_000
const CHARACTERS_A_TOKEN = 4

const names: Probe = {
  id: 'hints.names',
  title: 'names that all models can call',
  spec: `${SPEC.tools}#tool-names`,
  run: (endpoint) =>
    withTools(endpoint, (tools) => {
      const odd = tools.filter(({ name }) => !PLAIN_NAME.test(String(name)))
      if (odd.length === 0) return works(`all ${tools.length}`)
      return hint(
        `${quote(odd[0]?.name)}${odd.length > 1 ? ` and ${odd.length - 1} more` : ''}: the APIs of OpenAI and Anthropic refuse a list with it`,
        'name tools with letters, digits, "_" and "-", 64 at most',
      )
    }),
}

const schemas: Probe = {
  id: 'hints.schemas',
  title: 'input schemas that all models accept',
  spec: `${SPEC.tools}#tool`,
  run: (endpoint) =>
    withTools(endpoint, (tools) => {
      const union = tools.find(({ inputSchema }) => rootUnion(inputSchema))
      if (union !== undefined)
        return hint(
          `${rootUnion(union.inputSchema)} at the root of ${quote(union.name)}: the APIs of OpenAI and Anthropic refuse it`,
          'describe an object at the root, and put the alternatives into its properties',
        )
      const foreign = tools.find(({ inputSchema }) => geminiRefuses(inputSchema))
      return foreign === undefined
        ? works(`all ${tools.length}`)
        : hint(
            `${geminiRefuses(foreign.inputSchema)} in ${quote(foreign.name)}: Gemini’s API refuses it, unless the client removes it`,
            'check this in the tool, and put it into a description',
          )
    }),
}

const size: Probe = {
  id: 'hints.size',
  title: 'a list that is not too long for clients and models',
  spec: `${SPEC.tools}#listing-tools`,
  run: (endpoint) =>
    withTools(endpoint, (tools) => {
      const characters = JSON.stringify(tools).length
      const said = `${tools.length} tools, about ${Math.round(characters / CHARACTERS_A_TOKEN)} tokens`
      return tools.length > MANY_TOOLS || characters > LONG_LIST_CHARACTERS
        ? hint(
            `${said}: models read this in each turn, and clients truncate lists (Cursor at 40, VS Code at 128)`,
            'combine tools, shorten descriptions, or serve groups of tools at different URLs',
          )
        : works(said)
    }),
}

/** Runs a tool only if the user named it. */
export function hintsTopic(call: ToolCall | undefined): Topic {
  const results: Probe = {
    id: 'hints.result',
    title: 'a result without duplicated data',
    spec: `${SPEC.tools}#structured-content`,
    run: (endpoint) =>
      call === undefined ? skipped('no tool is called: name one with --call') : judgeResult(endpoint, call),
  }
  return { title: 'Models and clients', runs: 'together', probes: [names, schemas, size, results] }
}

/** The tools of the era that clients prefer. Errors in the list itself are reported as `lists.tools`. */
async function withTools(
  endpoint: Endpoint,
  judge: (tools: readonly JsonObject[]) => Outcome,
): Promise<Outcome> {
  const { era } = endpoint
  if (!isAdvertised(endpoint, era, TOOLS.capability)) return skipped('not advertised')
  const { items, fault } = await readPages(endpoint, era, TOOLS).catch((error: unknown) => {
    if (isA(error, Stop) && error.outcome.verdict === 'wrong') throw new Stop(skipped('no answer'))
    throw error
  })
  return fault?.verdict === 'wrong' ? skipped('the list itself is wrong') : judge(items)
}
