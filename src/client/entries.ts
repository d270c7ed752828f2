/**
 * Checks what a server sends before the official client does, which creates many objects for each malformed entry and prints all of them
 * into one error: 1 MB blocked the process for a minute.
 */
import { isSpecType } from '@modelcontextprotocol/client'
import { isObject } from '../definition/is-object.ts'

interface Entries {
  readonly member: string
  readonly isWellFormed: (entry: unknown) => boolean
}

const CONTENT: Entries = { member: 'content', isWellFormed: (entry) => isSpecType.ContentBlock(entry) }

/** They are read by this client. */
const EVENTS: Entries = { member: 'events', isWellFormed: isObject }

/** Lists that may be long, by the request. */
const ENTRIES: { readonly [method: string]: Entries } = {
  'tools/call': CONTENT,
  'tasks/result': CONTENT,
  'resources/read': {
    member: 'contents',
    isWellFormed: (entry) => isSpecType.ReadResourceResult({ contents: [entry] }),
  },
  'events/poll': EVENTS,
  'prompts/get': { member: 'messages', isWellFormed: (entry) => isSpecType.PromptMessage(entry) },
}

/** Members with any JSON, which is not looked at. */
const FREE = new Set(['_meta', 'structuredContent', 'arguments', 'input', 'data', 'metadata'])

/** Maximum members of everything else: a form with 1000 choices has fewer. */
const MAX_MEMBERS = 4000

/** @throws Error for the first malformed entry, and for a result with too many members. */
export function checkEntries(method: string, result: object): void {
  const entries = Object.hasOwn(ENTRIES, method) ? ENTRIES[method] : undefined
  if (entries === undefined) {
    requireFew(result, 'the result')
    // A finished task has the result of its call.
    const inner: unknown = Reflect.get(result, 'result')
    if (isObject(inner)) checkEntries('tools/call', inner)
    return
  }
  const { member, isWellFormed } = entries
  const list: unknown = Reflect.get(result, member)
  const isLong = Array.isArray(list)
  requireFew(isLong ? { ...result, [member]: undefined } : result, 'the result')
  for (const [index, entry] of isLong ? list.entries() : []) {
    requireFew(entry, `${member}[${index}]`)
    if (!isWellFormed(entry)) throw new Error(`${member}[${index}] is malformed`)
  }
}

/** Whether a message can be checked by the official client in a short time. */
export function hasFewMembers(value: unknown): boolean {
  let count = 0
  const open: unknown[] = [value]
  while (open.length > 0) {
    const next = open.pop()
    if (next === null || typeof next !== 'object') continue
    for (const [name, child] of Object.entries(next)) {
      if (++count > MAX_MEMBERS) return false
      if (Array.isArray(next) || !FREE.has(name)) open.push(child)
    }
  }
  return true
}

function requireFew(value: unknown, name: string): void {
  if (!hasFewMembers(value)) throw new Error(`${name} has more than ${MAX_MEMBERS} members`)
}
