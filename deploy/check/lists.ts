/** What the server offers: every list that it advertises, in every era that it supports, page by page. */

import { isA } from '../../src/definition/error-text.ts'
import { isObject } from '../../src/definition/is-object.ts'
import { compileParamHeaders } from '../../src/definition/param-header.ts'
import type { Endpoint } from './endpoint.ts'
import { schemaFault } from './json-schema.ts'
import type { Era, JsonObject } from './messages.ts'
import { degrades, type Outcome, Stop, skipped, works, worst, wrong } from './outcome.ts'
import { LISTS, type List, readPages, TOOLS } from './pages.ts'
import type { Probe, Topic } from './probe.ts'
import { brief, describe } from './reply.ts'
import { cite, quote } from './safe-text.ts'
import { SPEC } from './spec.ts'

const TOOL_NAME = /^[\w.-]{1,128}$/
const STRANGE_CURSOR = 'mayfly-check-never-gave-this-out'
/** How many names a detail contains; the rest is only counted. */
const MAX_NAMED = 3

const listProbes: readonly Probe[] = LISTS.map((list) => ({
  id: `lists.${list.key}`,
  title: list.method,
  spec: list.spec,
  run: async (endpoint) =>
    (list === TOOLS ? await unadvertisedTools(endpoint) : undefined) ??
    perEra(endpoint, list, (era) => judgeList(endpoint, era, list)),
}))

/** Tools of a server that does not advertise tools: clients do not list them. */
async function unadvertisedTools(endpoint: Endpoint): Promise<Outcome | undefined> {
  if (endpoint.eras.some((era) => isAdvertised(endpoint, era, TOOLS.capability))) return undefined
  for (const era of endpoint.eras) {
    const { result } = await endpoint.ask(era, { method: TOOLS.method })
    const tools = result?.tools
    if (Array.isArray(tools) && tools.length > 0)
      return wrong(
        `${era}: there are tools (${tools.length}), but the capabilities do not list them, so clients ignore them`,
        'put "tools": {} into the capabilities',
      )
  }
  return undefined
}

const schemas: Probe = {
  id: 'lists.schemas',
  title: 'the schemas of tools are JSON Schema',
  spec: `${SPEC.tools}#tool`,
  run: (endpoint) =>
    perEra(endpoint, TOOLS, async (era) => {
      const items = await readTools(endpoint, era)
      const faults = items.flatMap((tool) => toolSchemaFaults(tool, era))
      if (faults.length === 0) return works(`of ${items.length}`)
      return wrong(
        `${era}: ${faults[0]}${faults.length > 1 ? `; and ${faults.length - 1} more` : ''}`,
        'make it valid JSON Schema: clients compile it, and model APIs refuse calls with an invalid one',
      )
    }),
}

const descriptions: Probe = {
  id: 'lists.descriptions',
  title: 'tools have descriptions',
  spec: `${SPEC.tools}#tool`,
  run: (endpoint) =>
    perEra(endpoint, TOOLS, async (era) => {
      const items = await readTools(endpoint, era)
      const silent = items.filter(({ description }) => isBlank(description))
      if (silent.length === 0) return works(`all ${items.length}`)
      const names = silent.slice(0, MAX_NAMED).map(({ name }) => quote(name))
      const more = silent.length > MAX_NAMED ? ` and ${silent.length - MAX_NAMED} more` : ''
      return degrades(
        `${era}: no description for ${names.join(', ')}${more}`,
        'describe what each tool does and when to use it: models choose by that',
      )
    }),
}

const cursor: Probe = {
  id: 'lists.cursor',
  title: 'an unknown cursor is refused',
  spec: `${SPEC.pagination}#error-handling`,
  async run(endpoint) {
    const list = LISTS.find(({ capability }) => isAdvertised(endpoint, endpoint.era, capability))
    if (list === undefined) return skipped('no list is advertised')
    const asked = await endpoint.ask(endpoint.era, {
      method: list.method,
      params: { cursor: STRANGE_CURSOR },
    })
    const fix = 'answer -32602 for an unknown cursor: a client with an expired one starts again'
    if (asked.error?.code === -32602) return works(brief(asked))
    if (asked.result !== undefined) return degrades('answered as if there were no cursor', fix)
    return asked.answer.status >= 500 ? wrong(describe(asked), fix) : degrades(describe(asked), fix)
  },
}

/** Throws `Stop` if the list itself is invalid, which `lists.tools` reports. */
async function readTools(endpoint: Endpoint, era: Era): Promise<readonly JsonObject[]> {
  const pages = await readPages(endpoint, era, TOOLS).catch((error: unknown) => {
    if (isA(error, Stop) && error.outcome.verdict === 'wrong') throw new Stop(skipped('no answer'))
    throw error
  })
  if (pages.fault?.verdict === 'wrong') throw new Stop(skipped('the list itself is invalid'))
  return pages.items
}

/** The worst outcome of the eras, or the details of all if they are good. */
async function perEra(
  endpoint: Endpoint,
  list: List,
  read: (era: Era) => Promise<Outcome>,
): Promise<Outcome> {
  const eras = endpoint.eras.filter((era) => isAdvertised(endpoint, era, list.capability))
  if (eras.length === 0) return skipped('not advertised')
  const outcomes: Outcome[] = []
  for (const era of eras) outcomes.push(await read(era))
  const [first, ...others] = outcomes
  return worst([first!, ...others])
}

/** Whether the server advertises the list. */
export function isAdvertised({ contact }: Endpoint, era: Era, capability: string): boolean {
  const { capabilities } = era === 'modern' ? contact.discovery : contact.initialization
  return isObject(capabilities) && isObject(capabilities[capability])
}

async function judgeList(endpoint: Endpoint, era: Era, list: List): Promise<Outcome> {
  const { items, count, fault } = await readPages(endpoint, era, list)
  if (fault !== undefined) return fault
  const names = items.map((item) => String(item[list.name]))
  const seen = new Set<string>()
  const twice = names.find((value) => seen.size === seen.add(value).size)
  if (twice !== undefined)
    return degrades(
      `${era}: ${quote(twice)} is listed twice`,
      `give each a different ${list.name}: clients keep one of them`,
    )
  const odd = list.key === 'tools' ? names.find((value) => !TOOL_NAME.test(value)) : undefined
  if (odd !== undefined)
    return degrades(
      `${era}: ${quote(odd)} is a name that some models cannot call`,
      'name tools with letters, digits, "_", "-" and ".", 128 at most',
    )
  return works(`${items.length}${count > 1 ? ` on ${count} pages` : ''}`)
}

function toolSchemaFaults(tool: JsonObject, era: Era): string[] {
  const { inputSchema, outputSchema } = tool
  const faults = [
    [
      'inputSchema',
      schemaFault(inputSchema ?? {}) ?? (era === 'modern' ? headerFault(inputSchema) : undefined),
    ],
    ['outputSchema', schemaFault(outputSchema ?? {})],
  ] as const
  return faults.flatMap(([name, fault]) =>
    fault === undefined ? [] : [`the ${name} of ${quote(tool.name)}: ${fault}`],
  )
}

/** Clients of 2026-07-28 ignore a tool whose `x-mcp-header` breaks the rules (Streamable HTTP, "Custom Headers"). */
function headerFault(inputSchema: unknown): string | undefined {
  if (!isObject(inputSchema)) return undefined
  try {
    compileParamHeaders(inputSchema, '')
    return undefined
  } catch (error) {
    return isA(error, TypeError)
      ? cite(error.message.replace(/^inputSchema of tool "": |\.$/g, ''))
      : 'it is nested too deeply to be checked'
  }
}

/** A description that is not text is reported with the shape of the item. */
function isBlank(description: unknown): boolean {
  return description === undefined || (typeof description === 'string' && description.trim() === '')
}

export const lists: Topic = {
  title: 'Lists',
  runs: 'together',
  probes: [...listProbes, schemas, descriptions, cursor],
}
