import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createMemoryVectorStore, type Filter, FilterError } from '../../../src/retrieval.ts'

/** One row per metadata; the ids of those that the filter finds. */
async function found(filter: unknown, rows: readonly Record<string, unknown>[]): Promise<number[]> {
  const store = createMemoryVectorStore()
  await store.createIndex({ indexName: 'i', dimension: 1 })
  await store.upsert({
    indexName: 'i',
    vectors: rows.map(() => [1]),
    metadata: rows,
    ids: rows.map((_, at) => `${at}`),
  })
  const results = await store.query({
    indexName: 'i',
    queryVector: [1],
    topK: 1000,
    filter: filter as Filter,
  })
  return results.map(({ id }) => Number(id)).sort((one, other) => one - other)
}

const ROWS = [
  { a: 1, b: 'x', tags: ['red', 'blue'], nested: { deep: true } },
  { a: 2, b: 'y', tags: [] },
  { a: '2', b: 'xyz' },
  { b: null },
]

describe('a filter', () => {
  it.each<[unknown, number[]]>([
    [undefined, [0, 1, 2, 3]],
    [{}, [0, 1, 2, 3]],
    ['', [0, 1, 2, 3]],
    ['{"a": 1}', [0]],
    [{ a: 1 }, [0]],
    [{ a: { $eq: 2 } }, [1]],
    [{ a: { $ne: 1 } }, [1, 2, 3]],
    [{ a: { $gt: 1 } }, [1]],
    [{ a: { $gte: 1, $lt: 2 } }, [0]],
    [{ a: { $lte: 2 } }, [0, 1]],
    [{ b: { $gt: 'x' } }, [1, 2]],
    [{ a: { $in: [1, '2'] } }, [0, 2]],
    [{ a: { $in: [] } }, []],
    [{ a: { $nin: [1] } }, [1, 2, 3]],
    [{ a: { $exists: false } }, [3]],
    [{ b: { $exists: true } }, [0, 1, 2]],
    [{ tags: { $contains: 'red' } }, [0]],
    [{ b: { $contains: 'y' } }, [1, 2]],
    [{ 'nested.deep': true }, [0]],
    [{ a: 1, b: 'y' }, []],
    [{ $and: [{ a: 1 }, { b: 'x' }] }, [0]],
    [{ $or: [{ a: 1 }, { b: 'y' }] }, [0, 1]],
    [{ $not: { a: 1 } }, [1, 2, 3]],
    [{ a: { $not: { $gt: 1 } } }, [0, 2, 3]],
    [{ constructor: { $exists: true } }, []],
    [{ __proto__: { a: 1 } }, [0, 1, 2, 3]],
    ['{"__proto__": 1}', []],
  ])('%j finds %j', async (filter, expected) => {
    expect(await found(filter, ROWS)).toEqual(expected)
  })

  it.each<[unknown, RegExp]>([
    [{ a: { $regex: 'x' } }, /Unknown filter operator "\$regex"/],
    [{ $where: 'x' }, /Unknown filter operator "\$where"/],
    [{ a: null }, /\$exists: false/],
    [{ a: [1] }, /must be an object/],
    [{ a: { $in: 1 } }, /\$in takes a list/],
    [{ a: { $gt: true } }, /\$gt takes a number or a string/],
    [{ a: { $exists: 1 } }, /\$exists takes true or false/],
    [{ a: {} }, /empty condition/],
    [{ $or: [] }, /\$or takes a list of one or more/],
    [{ $or: [{}] }, /empty condition in \$or/],
    [{ $not: {} }, /empty condition in \$not/],
    [{ a: Number.NaN }, /must be an object|takes a text/],
    [{ a: 'x\0' }, /NUL/],
    ['{', /not valid JSON/],
    [[], /must be an object/],
  ])('%j is refused', async (filter, message) => {
    const error = await found(filter, ROWS).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(FilterError)
    expect((error as FilterError).message).toMatch(message)
  })

  it.each([
    [
      '9 deep',
      Array.from({ length: 9 }).reduce((inner) => ({ $not: inner }), { a: 1 }),
      /nested more than 8/,
    ],
    ['of 101 conditions', { $and: Array.from({ length: 101 }, () => ({ a: 1 })) }, /over 100 conditions/],
    ['with a list of 1001 values', { a: { $in: Array.from({ length: 1001 }, () => 1) } }, /at most 1000/],
    [
      'with lists of 1001 values together',
      { $or: [500, 501].map((length) => ({ a: { $in: Array.from({ length }, () => 1) } })) },
      /over 1000 values/,
    ],
    [
      'with over 65 536 characters in its texts',
      { $or: Array.from({ length: 9 }, () => ({ b: 'x'.repeat(8192) })) },
      /65536 characters/,
    ],
    ['of a JSON text of over 262 144 characters', `{"a": 1${' '.repeat(262_144)}}`, /262144 characters/],
  ])('%s is refused', async (_, filter, message) => {
    await expect(found(filter, ROWS)).rejects.toThrow(message)
  })

  it('orders texts by code points, as databases do', async () => {
    const texts = ['', 'a', 'a\uD7FF', 'a\uE000', 'a\uFFFD', 'a\u{10000}', 'a\u{10000}b', 'a\u{1F600}', 'b']
    for (const [at, text] of texts.entries())
      expect(
        await found(
          { t: { $lt: text } },
          texts.map((t) => ({ t })),
        ),
      ).toEqual([...texts.keys()].slice(0, at))
  })

  it('of any JSON either filters or is refused with a FilterError', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (filter) => {
        const rows = await found(filter, ROWS).catch((error: unknown) => error)
        expect(Array.isArray(rows) || rows instanceof FilterError).toBe(true)
      }),
    )
  })
})
