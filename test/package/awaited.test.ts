/** Every wait for code behind a type is in a list, with what ends it. */
import { describe, expect, it } from 'vitest'
import { findAwaited } from '../architecture/_awaited.ts'
import { BOUNDS } from '../architecture/_bounds.ts'

describe('what requests wait for', { timeout: 120_000 }, () => {
  it('is listed with what ends the wait: test/architecture/_bounds.ts [waits.bounded]', () => {
    const listed = BOUNDS.flatMap(({ waits }) =>
      Object.entries(waits).flatMap(([file, names]) => names.split(' ').map((name) => `${file} ${name}`)),
    )
    expect(listed.toSorted()).toEqual(findAwaited())
    expect(new Set(listed).size).toBe(listed.length)
  })
})
