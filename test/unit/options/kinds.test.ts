/** A table of options says of each what it takes: by types, so that no table can leave out a kind. */
import { expect, it } from 'vitest'
import type { Names } from '../../../src/definition/unknown-option.ts'

interface Options {
  readonly isOn?: boolean
  readonly timeoutMs?: number
  readonly name?: string
  readonly mode?: 'auto' | 'required'
  readonly run?: () => void
}

it('a table that does not check a boolean, number, string, enumeration or function does not compile', () => {
  const known: Names<Options> = {
    isOn: 'boolean',
    timeoutMs: [0],
    name: 'string',
    mode: { auto: 1, required: 1 },
    run: 'function',
  }
  const unchecked: Names<Options> = {
    // @ts-expect-error
    isOn: 1,
    // @ts-expect-error
    timeoutMs: 1,
    // @ts-expect-error
    name: 1,
    // @ts-expect-error
    mode: 1,
    // @ts-expect-error
    run: 1,
  }
  // @ts-expect-error
  const partial: Names<Options>['mode'] = { auto: 1 }
  expect([Object.keys(known), partial]).toEqual([Object.keys(unchecked), { auto: 1 }])
})
