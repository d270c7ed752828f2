/** The store in memory has its keys in the order of all stores, and finds one among many in the time of one among few. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { KeyedStore } from '../../src/keyed/store.ts'
import { createMemoryEvents } from '../../src/mcp-events.ts'
import { check } from './_seeded.ts'

let commits = 0
const write = (store: KeyedStore, keys: readonly string[], value?: string): Promise<boolean> =>
  store.commit(
    `v${commits++}`,
    [...new Set(keys)].map((key) => (value === undefined ? { key } : { key, value })),
  )

/** As Postgres, SQLite and DynamoDB order them. */
const byBytes = (one: string, other: string): number => Buffer.compare(Buffer.from(one), Buffer.from(other))

const key = fc
  .array(fc.constantFrom('a', 'b', ':', 'ü', '\uE000', '\uFF5E', '😀', '𐀀'), { minLength: 1, maxLength: 4 })
  .map((parts) => parts.join(''))
const change = fc.tuple(fc.boolean(), fc.array(key, { minLength: 1, maxLength: 25 }))

it('pages are in the order of UTF-8, of what was written and not deleted', () =>
  check(
    fc.asyncProperty(
      fc.array(change, { maxLength: 20 }),
      fc.array(fc.tuple(key, fc.option(key), fc.integer({ min: 1, max: 9 })), { maxLength: 5 }),
      async (changes, lists) => {
        const store = createMemoryEvents()
        const expected = new Set<string>()
        for (const [isWrite, keys] of changes) {
          await write(store, keys, isWrite ? 'x' : undefined)
          for (const one of keys) isWrite ? expected.add(one) : expected.delete(one)
        }
        for (const [prefix, after, limit] of lists) {
          const given = { prefix, limit, ...(after !== null && { after }) }
          const page = await store.list(given)
          const all = [...expected]
            .filter((one) => one.startsWith(prefix) && (after === null || byBytes(one, after) > 0))
            .sort(byBytes)
          const keys = all.slice(0, limit)
          expect(page).toEqual({ keys, ...(keys.length < all.length && { next: keys.at(-1) }) })
        }
      },
    ),
    300,
  ))

it('pages of 20,000 keys in any order have all of them, also after most were deleted', async () => {
  const store = createMemoryEvents()
  const numbers = Array.from({ length: 20_000 }, (_none, at) => String((at * 7919) % 20_000).padStart(6, '0'))
  for (let at = 0; at < numbers.length; at += 20) await write(store, numbers.slice(at, at + 20), 'x')
  const walk = async (): Promise<string[]> => {
    const found: string[] = []
    let after: string | undefined
    do {
      const page = await store.list({ prefix: '0', limit: 1000, after })
      found.push(...page.keys)
      after = page.next
    } while (after !== undefined)
    return found
  }
  expect(await walk()).toEqual([...numbers].sort())
  const kept = numbers.filter((_number, at) => at % 50 === 0)
  const gone = numbers.filter((_number, at) => at % 50 !== 0)
  for (let at = 0; at < gone.length; at += 20) await write(store, gone.slice(at, at + 20))
  expect(await walk()).toEqual([...kept].sort())
})
