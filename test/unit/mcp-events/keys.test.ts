/** What one kind of entries lists or deletes by its prefix is not an entry of another kind. */
import { expect, it } from 'vitest'
import * as keys from '../../../src/mcp-events/keys.ts'

it('each kind of key begins with a letter of its own', () => {
  const creators = Object.entries(keys).flatMap(([name, value]) =>
    /(?<!^read\w*)Key$/.test(name) && typeof value === 'function'
      ? [value as (...parts: readonly unknown[]) => string]
      : [],
  )
  const letters = creators.map((create) => create('a', 'b', 'c', 'd').slice(0, 2))
  expect(letters.length).toBeGreaterThan(12)
  expect(
    letters.filter((letter, index) => !/^\w:$/.test(letter) || letters.indexOf(letter) !== index),
  ).toEqual([])
})
