/** Reads a list page by page, once per era for all probes. */
import { isObject } from '../../src/definition/is-object.ts'
import type { Asked, Endpoint } from './endpoint.ts'
import { isTtl } from './eras.ts'
import type { Era, JsonObject } from './messages.ts'
import { degrades, type Outcome, wrong } from './outcome.ts'
import { describe, faultsOf } from './reply.ts'
import { quote } from './safe-text.ts'
import type { Shape } from './shape.ts'
import { PROMPT, RESOURCE, RESOURCE_TEMPLATE, TOOL } from './shapes.ts'
import { SPEC } from './spec.ts'

export interface List {
  readonly method: string
  /** The name of the capability that advertises the list. */
  readonly capability: 'tools' | 'prompts' | 'resources'
  /** The name of the array in the result. */
  readonly key: string
  /** The member that identifies an item. */
  readonly name: string
  readonly item: { readonly [era in Era]: Shape }
  readonly spec: string
}

export interface Pages {
  /** The items of all valid pages, whatever the items contain. */
  readonly items: readonly JsonObject[]
  readonly count: number
  /** Why reading stopped, or the error in the pages. */
  readonly fault?: Outcome
}

const inBoth = (shape: Shape): List['item'] => ({ modern: shape, legacy: shape })

export const TOOLS: List = {
  method: 'tools/list',
  capability: 'tools',
  key: 'tools',
  name: 'name',
  item: TOOL,
  spec: `${SPEC.tools}#listing-tools`,
}

export const LISTS: readonly List[] = [
  TOOLS,
  {
    method: 'prompts/list',
    capability: 'prompts',
    key: 'prompts',
    name: 'name',
    item: inBoth(PROMPT),
    spec: `${SPEC.prompts}#listing-prompts`,
  },
  {
    method: 'resources/list',
    capability: 'resources',
    key: 'resources',
    name: 'uri',
    item: inBoth(RESOURCE),
    spec: `${SPEC.resources}#listing-resources`,
  },
  {
    method: 'resources/templates/list',
    capability: 'resources',
    key: 'resourceTemplates',
    name: 'uriTemplate',
    item: inBoth(RESOURCE_TEMPLATE),
    spec: `${SPEC.resources}#resource-templates`,
  },
]

/** The official client gives up after this many pages, with an error and without a list. */
const MAX_PAGES = 64
/** Bytes of one list. */
const MAX_BYTES = 8 * 1_048_576

const reading = new WeakMap<Endpoint, Map<string, Promise<Pages>>>()

/** Throws `Stop` like `Endpoint.ask`. */
export function readPages(endpoint: Endpoint, era: Era, list: List): Promise<Pages> {
  const known = reading.get(endpoint) ?? new Map<string, Promise<Pages>>()
  reading.set(endpoint, known)
  const key = `${era} ${list.method}`
  const pages = known.get(key) ?? read(endpoint, era, list)
  known.set(key, pages)
  return pages
}

async function read(endpoint: Endpoint, era: Era, list: List): Promise<Pages> {
  const items: JsonObject[] = []
  const seen = { names: new Set<unknown>(), cursors: new Set<unknown>(), scopes: new Set<unknown>() }
  let cursor: unknown
  let bytes = 0
  for (let count = 1; count <= MAX_PAGES; count++) {
    const params = cursor !== undefined && { params: { cursor } }
    const asked = await endpoint.ask(era, { method: list.method, ...params })
    const page = asked.result?.[list.key]
    // Not in one call: a page may have more items than a function accepts arguments.
    if (Array.isArray(page)) for (const item of page) if (isObject(item)) items.push(item)
    const fault = pageFault(asked, era, list)
    if (fault !== undefined) return { items, count, fault }

    const { cacheScope, nextCursor } = asked.result ?? {}
    seen.scopes.add(cacheScope)
    if (seen.scopes.size > 1)
      return { items, count, fault: wrong(`${era}: the pages have different cacheScopes`, SAME_SCOPE) }
    if (nextCursor === undefined) return { items, count }
    bytes += asked.answer.bytes
    const endless = endlessness(page as JsonObject[], nextCursor, list, seen, bytes)
    if (endless !== undefined) return { items, count, fault: wrong(`${era}: ${endless}`, END) }
    cursor = nextCursor
  }
  const said = `${items.length} on ${MAX_PAGES} pages, and more: official clients give up here`
  return { items, count: MAX_PAGES, fault: wrong(`${era}: ${said}`, END) }
}

const SAME_SCOPE = 'give every page of a list the same cacheScope'
const END =
  'omit nextCursor on the last page, use each cursor once, and make pages large enough to need few of them'

/** Why the pages would never end. */
function endlessness(
  page: readonly JsonObject[],
  cursor: unknown,
  { name }: List,
  seen: { readonly names: Set<unknown>; readonly cursors: Set<unknown> },
  bytes: number,
): string | undefined {
  if (seen.cursors.has(cursor))
    return `the cursor ${quote(cursor)} is repeated, so a client never reaches the end`
  seen.cursors.add(cursor)
  const known = seen.names.size
  for (const item of page) seen.names.add(item[name])
  if (page.length > 0 && seen.names.size === known)
    return 'a page repeats earlier items and has a next cursor, so a client never reaches the end'
  return bytes > MAX_BYTES ? `over ${MAX_BYTES / 1_048_576} MiB: the rest was not read` : undefined
}

function pageFault(
  asked: Asked,
  era: Era,
  { method, key, capability, item, name }: List,
): Outcome | undefined {
  const { result, error, answer } = asked
  if (error?.code === -32601 && key === 'resourceTemplates')
    return degrades(
      `${era}: ${describe(asked)}`,
      'answer resources/templates/list, at least with an empty list: clients request it',
    )
  if (answer.ended === 'too long')
    return degrades(
      `${era}: over 1 MiB; the rest was not read`,
      'use pages: clients may refuse a list of this length',
    )
  if (result === undefined)
    return wrong(`${era}: ${describe(asked)}`, `answer ${method}, or do not advertise ${capability}`)
  const faults = [
    ...faultsOf(asked, asked.id),
    ...itemFaults(result[key], key, name, item[era]),
    ...(result.nextCursor === undefined || typeof result.nextCursor === 'string'
      ? []
      : [`nextCursor is ${quote(result.nextCursor)}, not a string`]),
    ...(era === 'modern' ? modernFaults(result) : []),
  ]
  return faults.length > 0
    ? wrong(
        `${era}: ${faults.join('; ')}`,
        `answer ${method} as the schema of the version requires: official clients refuse the whole list`,
      )
    : undefined
}

/** The error of the first invalid item. */
function itemFaults(items: unknown, key: string, name: string, shape: Shape): string[] {
  if (!Array.isArray(items)) return [`"${key}" is not an array`]
  for (const [index, item] of items.entries()) {
    const fault = shape(item, '')
    if (fault === undefined) continue
    const label = isObject(item) && typeof item[name] === 'string' ? quote(item[name]) : `number ${index + 1}`
    return [`in ${label}, ${fault}`]
  }
  return []
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
