/** Reads what a server sends, without assumptions about it and with limits on what is shown. */
import { textOf } from '../../../src/definition/error-text.ts'

export type Json = { readonly [name: string]: unknown }

/** Characters of one string on the page; longer ones are truncated. */
const MAX_SHOWN = 50_000

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
export function pretty(value: unknown): string {
  const parts: string[] = []
  // With what says that the rest is missing, it is not longer than what is shown.
  let left = MAX_SHOWN - 50
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
  return left < 0 ? `${parts.join('')}\n… the rest is not shown` : parts.join('')
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
