/** Lists of a server: skips malformed items, so that the rest can be used, and limits the size over all pages. */
import { isSpecType, type ProtocolEra, type Tool } from '@modelcontextprotocol/client'
import { isObject } from '../definition/is-object.ts'
import { findParamHeaders } from '../definition/param-header.ts'
import { ResponseTooLarge } from './body-limit.ts'
import { printable } from './printable.ts'

interface Kind {
  /** The member of the result with the list. */
  readonly member: string
  readonly isWellFormed: (item: unknown) => boolean
  /** A description of why a valid item cannot be used. */
  readonly findFault?: (item: unknown, era: ProtocolEra) => string | undefined
}

const KINDS: { readonly [method: string]: Kind } = {
  'tools/list': {
    member: 'tools',
    isWellFormed: (item) => isSpecType.Tool(item) && isName(item.name),
    findFault: (item, era) => findOutputFault(item as Tool, era) ?? findHeaderFault(item as Tool),
  },
  'prompts/list': {
    member: 'prompts',
    isWellFormed: (item) => isSpecType.Prompt(item) && isName(item.name),
  },
  'resources/list': {
    member: 'resources',
    isWellFormed: (item) => isSpecType.Resource(item) && isName(item.name) && isUri(item.uri),
  },
  'resources/templates/list': {
    member: 'resourceTemplates',
    isWellFormed: (item) => isSpecType.ResourceTemplate(item) && isName(item.name) && isUri(item.uriTemplate),
  },
  'events/list': {
    member: 'events',
    isWellFormed: (item) =>
      isObject(item) && typeof item.name === 'string' && isName(item.name) && Array.isArray(item.delivery),
  },
}

const MAX_NAME_LENGTH = 256
export const MAX_URI_LENGTH = 8192
/** Nesting limit, since the official client and others process schemas recursively. */
const MAX_DEPTH = 128
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]/u
/** Maximum items that a report names. */
const MAX_REPORTED = 5
const MAX_REASON = 100
/** Maximum unfinished lists that are tracked; the oldest is forgotten first. */
const MAX_WALKS = 100

const isUri = (uri: string): boolean => uri.length <= MAX_URI_LENGTH && !CONTROL.test(uri)
const isName = (name: string): boolean =>
  name !== '' && name !== '__proto__' && name.length <= MAX_NAME_LENGTH && !CONTROL.test(name)

/** MCP 2025-11-25, `Tool`: `outputSchema` must describe an object. Otherwise the official client fails the whole list. */
function findOutputFault(tool: Tool, era: ProtocolEra): string | undefined {
  if (era === 'modern' || tool.outputSchema === undefined) return undefined
  const isOfObject = isSpecType.Tool({ ...tool, inputSchema: tool.outputSchema })
  return isOfObject ? undefined : 'its outputSchema does not describe an object'
}

/**
 * MCP 2026-07-28, "Custom Headers from Tool Parameters". Checked in both eras, since an `MCPServer` could not serve such a tool. The
 * official client only skips them for modern servers, with a message on the console.
 */
function findHeaderFault({ inputSchema }: Tool): string | undefined {
  const found = findParamHeaders(inputSchema)
  return found.ok ? undefined : found.reason
}

/** Whether an item is not nested too deeply, and has no member names with control characters. */
function isWalkable(item: unknown): boolean {
  const open: (readonly [unknown, number])[] = [[item, 0]]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [value, depth] = next
    if (value === null || typeof value !== 'object') continue
    if (depth > MAX_DEPTH) return false
    for (const [name, child] of Object.entries(value)) {
      if (CONTROL.test(name)) return false
      open.push([child, depth + 1])
    }
  }
  return true
}

export function isList(method: string): boolean {
  return Object.hasOwn(KINDS, method)
}

/** A list without its malformed items. */
export interface FilteredList<R> {
  readonly result: R
  /** A message about skipped items, if there are any. */
  readonly leftOut: string | undefined
}

interface Left {
  readonly item: unknown
  readonly reason: string | undefined
}

/** The result without malformed items in its list. */
export function keepWellFormed<R extends object>(
  method: string,
  result: R,
  era: ProtocolEra,
): FilteredList<R> {
  const { member, isWellFormed, findFault } = KINDS[method]!
  const items: unknown = Reflect.get(result, member)
  if (!Array.isArray(items)) return { result, leftOut: undefined }
  const left: Left[] = []
  const kept = items.filter((item) => {
    const isGood = isWalkable(item) && isWellFormed(item)
    const reason = isGood ? findFault?.(item, era) : undefined
    if (isGood && reason === undefined) return true
    left.push({ item, reason })
    return false
  })
  if (left.length === 0) return { result, leftOut: undefined }
  return { result: { ...result, [member]: kept }, leftOut: leftOutMessage(member, left) }
}

function leftOutMessage(member: string, left: readonly Left[]): string {
  const names = left.slice(0, MAX_REPORTED).map(({ item, reason }) => {
    const name: unknown = item !== null && typeof item === 'object' ? Reflect.get(item, 'name') : undefined
    const known = typeof name === 'string' ? JSON.stringify(printable(name, 60)) : 'one without a name'
    return reason === undefined ? known : `${known} (${printable(reason, MAX_REASON).slice(0, MAX_REASON)})`
  })
  const more = left.length > MAX_REPORTED ? `, and ${left.length - MAX_REPORTED} more` : ''
  return `lists ${member} that are malformed and were skipped: ${names.join(', ')}${more}`
}

/** About the characters of its JSON, for a value of any depth: `JSON.stringify` calls itself. */
function sizeOf(page: object): number {
  let size = 0
  const open: unknown[] = [page]
  while (open.length > 0) {
    const value = open.pop()
    if (value === null || typeof value !== 'object') {
      size += String(value).length + 2
      continue
    }
    const isArray = Array.isArray(value)
    for (const [name, child] of Object.entries(value)) {
      size += isArray ? 2 : name.length + 4
      open.push(child)
    }
  }
  return size
}

/** Tracks the size of lists over their pages, each identified by the cursor of its next page. */
export class Walks {
  readonly #maxBytes: number
  readonly #bytes = new Map<string, number>()

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** The bytes of the pages before the one with this cursor. */
  before(cursor: unknown): number {
    if (typeof cursor !== 'string') return 0
    const bytes = this.#bytes.get(cursor) ?? 0
    this.#bytes.delete(cursor)
    return bytes
  }

  /** @throws ResponseTooLarge */
  add(before: number, page: object): void {
    const cursor: unknown = Reflect.get(page, 'nextCursor')
    // The size of a single page is limited on the wire.
    if (before === 0 && typeof cursor !== 'string') return
    const bytes = before + sizeOf(page)
    if (bytes > this.#maxBytes) throw new ResponseTooLarge(this.#maxBytes)
    if (typeof cursor !== 'string') return
    this.#bytes.set(cursor, bytes)
    const [oldest] = this.#bytes.keys()
    if (this.#bytes.size > MAX_WALKS && oldest !== undefined) this.#bytes.delete(oldest)
  }
}
