/**
 * Replaces the parts of the validator's schema that would let a caller keep a process busy: the validator compares each array item with all
 * others, and its pattern for URLs takes exponential time.
 */
import { schemaMapKeyword } from '@cfworker/json-schema'

type Node = Record<string, unknown>

/** Maximum items that are compared with each other. */
const MAX_COMPARED = 250

/** Keywords that contain data, never schemas. */
const DATA = new Set(['const', 'enum', 'default', 'examples'])

/** The same URLs as the validator's pattern, in linear time: http, https or ftp, a dot in the host, no private network. */
const URL_PATTERN =
  '^(?:[Hh][Tt]{2}[Pp][Ss]?|[Ff][Tt][Pp])://(?!(?:[^/?#]*@)?(?:10|127|169\\.254|192\\.168|172\\.(?:1[6-9]|2\\d|3[01]))\\.)(?=[^\\s/?#]*\\.)[^\\s/?#]+(?:[/?#]\\S*)?$'

/**
 * Changes `schema` in place, and returns whether it has `uniqueItems`. `uniqueItems` is removed for values without duplicates, or, for
 * values with some (see `hasDuplicates`), limited to arrays of at most `MAX_COMPARED` items.
 */
export function boundSchema(schema: unknown, uniqueItems: 'leave out' | 'keep for few'): boolean {
  let hasUnique = false
  visit(schema, (node) => {
    if (node.format === 'url') {
      delete node.format
      node.allOf = [...((node.allOf as unknown[] | undefined) ?? []), { pattern: URL_PATTERN }]
    }
    if (node.uniqueItems !== true) return
    hasUnique = true
    if (uniqueItems === 'leave out') delete node.uniqueItems
    else node.maxItems = Math.min((node.maxItems as number | undefined) ?? MAX_COMPARED, MAX_COMPARED)
  })
  return hasUnique
}

/** Whether any array in a JSON value has two equal items, in linear time. If not, `uniqueItems` holds everywhere. */
export function hasDuplicates(value: unknown): boolean {
  let found = false
  const canonical = (node: unknown): string => {
    if (node === null || typeof node !== 'object') return JSON.stringify(node) ?? ''
    if (Array.isArray(node)) {
      const items = node.map(canonical)
      if (new Set(items).size < items.length) found = true
      return `[${items.join()}]`
    }
    const members = Object.entries(node).map(([key, child]) => `${JSON.stringify(key)}:${canonical(child)}`)
    return `{${members.sort().join()}}`
  }
  canonical(value)
  return found
}

function visit(node: unknown, change: (schema: Node) => void, isMap = false): void {
  if (node === null || typeof node !== 'object') return
  const isSchema = !isMap && !Array.isArray(node)
  if (isSchema) change(node as Node)
  for (const [key, child] of Object.entries(node)) {
    if (isSchema && DATA.has(key)) continue
    visit(child, change, isSchema && schemaMapKeyword[key] === true)
  }
}
