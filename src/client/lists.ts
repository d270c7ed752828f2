/** Lists of a server: what is malformed in one is left out, so that the rest can be used; over all its pages it has a limit. */
import { isSpecType, type ProtocolEra, type Tool } from '@modelcontextprotocol/client'
import { findParamHeaders } from '../definition/param-header.ts'
import { ResponseTooLarge } from './body-limit.ts'
import { printable } from './printable.ts'

interface Kind {
  /** The member of the result that is the list. */
  readonly member: string
  readonly isWellFormed: (item: unknown) => boolean
  /** Why one that is well formed cannot be used, in words. */
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
}

const MAX_NAME_LENGTH = 256
export const MAX_URI_LENGTH = 8192
/** The official client, and others, walk them by recursion. */
const MAX_DEPTH = 128
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]/u
/** What a report names of what it is about. */
const MAX_REPORTED = 5
const MAX_REASON = 100
/** Walks that are not continued are forgotten. */
const MAX_WALKS = 100

const isUri = (uri: string): boolean => uri.length <= MAX_URI_LENGTH && !CONTROL.test(uri)
const isName = (name: string): boolean =>
  name !== '' && name !== '__proto__' && name.length <= MAX_NAME_LENGTH && !CONTROL.test(name)

/** MCP 2025-11-25, `Tool`: of an object, as arguments are. The official client fails the whole list for one that is not. */
function findOutputFault(tool: Tool, era: ProtocolEra): string | undefined {
  if (era === 'modern' || tool.outputSchema === undefined) return undefined
  const isOfObject = isSpecType.Tool({ ...tool, inputSchema: tool.outputSchema })
  return isOfObject ? undefined : 'its outputSchema does not describe an object'
}

/**
 * MCP 2026-07-28, "Custom Headers from Tool Parameters". In both eras: an `MCPServer` that such a tool is given to serves none. The
 * official client leaves them out for modern servers alone, and says so on the console.
 */
function findHeaderFault({ inputSchema }: Tool): string | undefined {
  const found = findParamHeaders(inputSchema)
  return found.ok ? undefined : found.reason
}

/** Not too deep, and without names that a console would obey. */
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

export interface Kept<R> {
  readonly result: R
  /** In words, where something was left out. */
  readonly leftOut: string | undefined
}

interface Left {
  readonly item: unknown
  readonly reason: string | undefined
}

/** The result without what is malformed in its list. */
export function keepWellFormed<R extends object>(method: string, result: R, era: ProtocolEra): Kept<R> {
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
  return `lists ${member} that are malformed, and they are left out: ${names.join(', ')}${more}`
}

/** The size of lists over their pages, each known by the cursor that leads on. */
export class Walks {
  readonly #maxBytes: number
  readonly #bytes = new Map<string, number>()

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** The bytes of the pages before the one that this cursor asks for. */
  before(cursor: unknown): number {
    if (typeof cursor !== 'string') return 0
    const bytes = this.#bytes.get(cursor) ?? 0
    this.#bytes.delete(cursor)
    return bytes
  }

  /** @throws ResponseTooLarge */
  add(before: number, page: object): void {
    const cursor: unknown = Reflect.get(page, 'nextCursor')
    // One page alone was measured on the wire.
    if (before === 0 && typeof cursor !== 'string') return
    const bytes = before + JSON.stringify(page).length
    if (bytes > this.#maxBytes) throw new ResponseTooLarge(this.#maxBytes)
    if (typeof cursor !== 'string') return
    this.#bytes.set(cursor, bytes)
    const [oldest] = this.#bytes.keys()
    if (this.#bytes.size > MAX_WALKS && oldest !== undefined) this.#bytes.delete(oldest)
  }
}
