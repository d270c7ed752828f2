/** What the server offers: every list that it advertises, in every era that it speaks, page by page. */
import type { Asked, Endpoint } from './endpoint.ts'
import { isTtl } from './eras.ts'
import type { Era, JsonObject } from './messages.ts'
import { degrades, type Outcome, skipped, works, worst, wrong } from './outcome.ts'
import type { Probe, Topic } from './probe.ts'
import { brief, describe, faultsOf, isObject } from './reply.ts'
import { quote } from './shown.ts'
import { SPEC } from './spec.ts'

interface List {
  readonly method: string
  /** Of the capability that promises it. */
  readonly capability: 'tools' | 'prompts' | 'resources'
  /** Of the array in the result. */
  readonly key: string
  /** What tells one item from another. */
  readonly name: string
  /** Strings that every item has. */
  readonly required: readonly string[]
  readonly spec: string
}

const LISTS: readonly List[] = [
  {
    method: 'tools/list',
    capability: 'tools',
    key: 'tools',
    name: 'name',
    required: ['name'],
    spec: `${SPEC.tools}#listing-tools`,
  },
  {
    method: 'prompts/list',
    capability: 'prompts',
    key: 'prompts',
    name: 'name',
    required: ['name'],
    spec: `${SPEC.prompts}#listing-prompts`,
  },
  {
    method: 'resources/list',
    capability: 'resources',
    key: 'resources',
    name: 'uri',
    required: ['uri', 'name'],
    spec: `${SPEC.resources}#listing-resources`,
  },
  {
    method: 'resources/templates/list',
    capability: 'resources',
    key: 'resourceTemplates',
    name: 'uriTemplate',
    required: ['uriTemplate', 'name'],
    spec: `${SPEC.resources}#resource-templates`,
  },
]

const MAX_PAGES = 20
const TOOL_NAME = /^[\w.-]{1,128}$/
const STRANGE_CURSOR = 'mayfly-check-never-gave-this-out'

const listProbes: readonly Probe[] = LISTS.map((list) => ({
  id: `lists.${list.key}`,
  title: list.method,
  spec: list.spec,
  run: (endpoint) => perEra(endpoint, list, (era) => readList(endpoint, era, list)),
}))

const cursor: Probe = {
  id: 'lists.cursor',
  title: 'a cursor that the server never gave out is refused',
  spec: `${SPEC.pagination}#error-handling`,
  async run(endpoint) {
    const list = LISTS.find(({ capability }) => isAdvertised(endpoint, endpoint.era, capability))
    if (list === undefined) return skipped('no list is advertised')
    const asked = await endpoint.ask(endpoint.era, {
      method: list.method,
      params: { cursor: STRANGE_CURSOR },
    })
    const fix = 'answer -32602 for a cursor that is not yours: a client with an old one starts again'
    if (asked.error?.code === -32602) return works(brief(asked))
    if (asked.result !== undefined) return degrades('answered as if there were none', fix)
    return asked.answer.status >= 500 ? wrong(describe(asked), fix) : degrades(describe(asked), fix)
  },
}

/** The worst of the eras; where all are well, what each says. */
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

function isAdvertised({ contact }: Endpoint, era: Era, capability: string): boolean {
  const { capabilities } = era === 'modern' ? contact.discovery : contact.initialization
  return isObject(capabilities) && isObject(capabilities[capability])
}

async function readList(endpoint: Endpoint, era: Era, list: List): Promise<Outcome> {
  const items: JsonObject[] = []
  const scopes = new Set<unknown>()
  const cursors = new Set<unknown>()
  let next: unknown
  for (let pages = 1; pages <= MAX_PAGES; pages++) {
    const asked = await endpoint.ask(era, {
      method: list.method,
      ...(next !== undefined && { params: { cursor: next } }),
    })
    const fault = pageFault(asked, era, list)
    if (fault !== undefined) return fault
    const { [list.key]: page, cacheScope, nextCursor } = asked.result ?? {}
    for (const item of page as JsonObject[]) items.push(item)
    scopes.add(cacheScope)
    next = nextCursor ?? undefined
    if (next === undefined) return judge(items, pages, scopes, era, list)
    if (cursors.has(next))
      return wrong(
        `${era}: the cursor ${quote(next)} comes twice, so a client never reaches the end`,
        'give out each cursor once, and none on the last page',
      )
    cursors.add(next)
  }
  return works(`${items.length} on ${MAX_PAGES} pages, and more`)
}

function pageFault(asked: Asked, era: Era, { method, key, required, capability }: List): Outcome | undefined {
  const { result, error, answer } = asked
  if (error?.code === -32601 && key === 'resourceTemplates')
    return degrades(
      `${era}: ${describe(asked)}`,
      'answer resources/templates/list, if with an empty list: clients ask for it',
    )
  if (answer.ended === 'too long')
    return degrades(
      `${era}: over 1 MiB, and not read any further`,
      'answer in pages: clients may refuse so long a list',
    )
  if (result === undefined)
    return wrong(`${era}: ${describe(asked)}`, `answer ${method}, or do not advertise ${capability}`)
  const items = result[key]
  const faults = faultsOf(asked, asked.id)
  if (!Array.isArray(items) || !items.every(isObject)) {
    faults.push(`"${key}" is no array of objects`)
  } else {
    const bad = items.find((item) => required.some((member) => typeof item[member] !== 'string'))
    if (bad) faults.push(`an item has no string ${required.join(' or ')}: ${quote(bad)}`)
    const schemaless = key === 'tools' && items.find(({ inputSchema }) => !isObjectSchema(inputSchema))
    if (schemaless) faults.push(`the inputSchema of ${quote(schemaless.name)} does not say "type": "object"`)
  }
  if (era === 'modern') faults.push(...modernFaults(result))
  if (faults.length > 0)
    return wrong(`${era}: ${faults.join('; ')}`, `answer ${method} as the schema of the version asks`)
  return undefined
}

function modernFaults({ resultType, ttlMs, cacheScope }: JsonObject): string[] {
  return [
    ...(resultType === 'complete' ? [] : ['resultType is not "complete"']),
    ...(isTtl(ttlMs) ? [] : ['ttlMs is not a number from 0']),
    ...(cacheScope === 'public' || cacheScope === 'private'
      ? []
      : ['cacheScope is not "public" or "private"']),
  ]
}

function judge(
  items: readonly JsonObject[],
  pages: number,
  scopes: ReadonlySet<unknown>,
  era: Era,
  { name, key }: List,
): Outcome {
  if (scopes.size > 1)
    return wrong(
      `${era}: the pages have different cacheScopes`,
      'give every page of a list the same cacheScope',
    )
  const names = items.map((item) => String(item[name]))
  const seen = new Set<string>()
  const twice = names.find((value) => seen.size === seen.add(value).size)
  if (twice !== undefined)
    return degrades(
      `${era}: ${quote(twice)} comes twice`,
      `give each a ${name} of its own: clients keep one of them`,
    )
  const odd = key === 'tools' ? names.find((value) => !TOOL_NAME.test(value)) : undefined
  if (odd !== undefined)
    return degrades(
      `${era}: ${quote(odd)} is a name that some models cannot call`,
      'name tools with letters, digits, "_", "-" and ".", 128 at most',
    )
  return works(`${items.length}${pages > 1 ? ` on ${pages} pages` : ''}`)
}

function isObjectSchema(schema: unknown): boolean {
  return isObject(schema) && schema.type === 'object'
}

export const lists: Topic = { title: 'Lists', runs: 'together', probes: [...listProbes, cursor] }
