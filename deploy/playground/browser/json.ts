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

/** JSON with indentation, or a note if the value is nested too deeply. */
export function pretty(value: unknown): string {
  try {
    return clip(JSON.stringify(value, null, 2) ?? 'undefined')
  } catch {
    return '(nested too deeply to be shown)'
  }
}

/** A short text for people from whatever was thrown. */
export function reasonOf(error: unknown): string {
  return clip(textOf(error), 2000)
}
