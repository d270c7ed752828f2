/**
 * What is remembered of a call from round to round.
 */

/** What a later round must know. Everything in it is JSON. */
export interface Journal {
  /** By question key. */
  readonly answers: { readonly [key: string]: unknown }
  /** By step name: `[value]`, or `[]` for undefined. */
  readonly steps: { readonly [name: string]: readonly unknown[] }
  /** By question key: how many answers did not fit, and why the last one did not. */
  readonly refusals: { readonly [key: string]: readonly [count: number, reason: string] }
  /** By question key: answers to questions that the tool did not come by again before it asked others. */
  readonly unread: { readonly [key: string]: unknown }
  /** What a tool that returns its questions wants back with the answers. */
  readonly state?: string | undefined
}

export const EMPTY_JOURNAL: Journal = Object.freeze({ answers: {}, steps: {}, refusals: {}, unread: {} })

/** Without a prototype: a step may be called `constructor`. */
export function copy<Value>(record: { readonly [name: string]: Value }): Record<string, Value> {
  return Object.assign(Object.create(null) as Record<string, Value>, record)
}

/** What is there under a name, inherited members left out. */
export function own<Value>(record: { readonly [name: string]: Value }, name: string): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined
}

/** A result as JSON makes it. @throws TypeError where it is not JSON. */
export function toJson(step: string, value: unknown): readonly unknown[] {
  try {
    return JSON.parse(JSON.stringify([value])) as unknown[]
  } catch (cause) {
    throw new TypeError(`The result of step "${step}" is not JSON: return plain values.`, { cause })
  }
}
