/** Reads what a server sends, without assumptions about it and with limits on what is shown. */
import { textOf } from '../../../src/definition/error-text.ts'

export type Json = { readonly [name: string]: unknown }

/** Characters of one string on the page; longer ones are truncated. */
const MAX_SHOWN = 50_000

/** Characters of JSON that is copied with indentation. */
const MAX_COPIED = 1_000_000
const NOT_SHOWN = '\n… the rest is not shown'

/** Items that the page uses from one list of a server. */
export const MAX_ITEMS = 1000

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function asObject(value: unknown): Json {
  return isObject(value) ? value : {}
}

export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value.slice(0, MAX_ITEMS) : []
}

/** Undefined for anything but a non-empty string. */
export function asText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

export function clip(text: string, most: number = MAX_SHOWN): string {
  return text.length <= most ? text : `${text.slice(0, most)}\n… ${text.length - most} more characters`
}

/** Undefined for text that is not JSON, or is nested deeper than this browser reads. */
export function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** JSON with indentation. Reads no more of a value than it shows: the indentation of deep JSON grows with the square of its depth. */
export function pretty(value: unknown, most: number = MAX_SHOWN): string {
  const parts: string[] = []
  // With what says that the rest is missing, it is not longer than what is shown.
  let left = most - 50
  const put = (text: string): void => {
    parts.push(text.slice(0, Math.max(0, left)))
    left -= text.length
  }
  const putString = (text: string): void => put(JSON.stringify(text.slice(0, Math.max(0, left) + 1)))
  // Each level takes some of what is left, which bounds the recursion, too.
  const print = (node: unknown, indent: string): void => {
    if (left < 0) return
    if (typeof node === 'string') putString(node)
    else if (typeof node === 'object' && node !== null) printMembers(node, indent)
    else put(JSON.stringify(node) ?? 'null')
  }
  const printMembers = (node: object, indent: string): void => {
    const [start, end] = Array.isArray(node) ? '[]' : '{}'
    const inner = `${indent}  `
    let isEmpty = true
    put(start!)
    for (const name in node) {
      const member = (node as Json)[name]
      if (!Object.hasOwn(node, name) || (member === undefined && start === '{')) continue
      if (left < 0) return
      put(`${isEmpty ? '' : ','}\n${inner}`)
      if (start === '{') {
        putString(name)
        put(': ')
      }
      print(member, inner)
      isEmpty = false
    }
    put(isEmpty ? end! : `\n${indent}${end}`)
  }
  if (value === undefined) return 'undefined'
  print(value, '')
  return left < 0 ? parts.join('') + NOT_SHOWN : parts.join('')
}

/** A string, a mark, or a word of JSON. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/g
/** Characters of a text that is read as JSON only to be shown. */
const MAX_INDENTED = 200_000

/**
 * The text of a JSON object or list with indentation. Otherwise as it was sent: numbers keep all their digits. Undefined for other text,
 * and for more than 200 000 characters.
 */
export function indented(text: string): string | undefined {
  if (text.length > MAX_INDENTED || !/^\s*[[{]/.test(text) || parse(text) === undefined) return undefined
  const parts: string[] = []
  let left = MAX_SHOWN - 50
  let depth = 0
  let before = ''
  const put = (part: string): void => {
    parts.push(part)
    left -= part.length
  }
  for (const [token] of text.matchAll(TOKEN)) {
    const opens = token === '{' || token === '['
    const closes = token === '}' || token === ']'
    if (closes) depth--
    const isFirst = before === '{' || before === '['
    if (closes ? !isFirst : isFirst || before === ',') put(`\n${'  '.repeat(depth)}`)
    put(token === ':' ? ': ' : token)
    if (opens) depth++
    before = token
    if (left < 0) return parts.join('').slice(0, MAX_SHOWN - 50) + NOT_SHOWN
  }
  return parts.join('')
}

/**
 * The text of one member of a JSON object, as it was sent: `sourceAt('{"a":{"b":1.0}}', ['a', 'b'])` is `1.0`. Undefined if there is none,
 * for text that is not JSON, and for more than 1 000 000 characters.
 */
export function sourceAt(text: string, path: readonly string[]): string | undefined {
  // In other text, an end of a string would be searched for at each quote.
  if (text.length > MAX_COPIED || parse(text) === undefined) return undefined
  let found: string | undefined
  let [depth, inside, start, before] = [0, 0, -1, '']
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    const closes = token === '}' || token === ']'
    const isWanted = depth === inside + 1
    if (start >= 0 && isWanted && (closes || token === ',')) {
      if (inside === path.length - 1) found = text.slice(start, index).trim()
      start = -1
    }
    if (token === '{' && before === ':' && start >= 0 && inside < path.length - 1) {
      inside++
      start = -1
    }
    if (token === ':' && isWanted && parse(before) === path[inside]) {
      // Of equal names the last one counts, as for JSON.parse.
      found = undefined
      start = index + 1
    }
    if (token === '{' || token === '[') depth++
    if (closes && --depth <= inside && inside > 0) inside--
    before = token
  }
  return found
}

/** JSON in full, to be copied: with indentation if that is not too long. Undefined if it is deeper than this browser writes. */
export function wholeJson(value: unknown): string | undefined {
  const text = pretty(value, MAX_COPIED)
  return text.endsWith(NOT_SHOWN) ? textOfJson(value) : text
}

/** To compare what a server sent. Undefined for what is nested deeper than this browser writes. */
export function textOfJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}

/** A short text for people from whatever was thrown. */
export function reasonOf(error: unknown): string {
  return clip(textOf(error), 2000)
}
