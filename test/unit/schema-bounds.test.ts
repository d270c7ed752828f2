/** What a caller sends is checked in a time that follows its size, and what is wrong with it is said in few words. */
import { describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { createTool, jsonSchema } from '../../src/index.ts'
import { callTool, createServer, textOf } from './_client.ts'

/** Each level is looked at twice for each time that the one above is. */
const BRANCHING = {
  $ref: '#/properties/a/$defs/node',
  $defs: {
    node: {
      anyOf: [1, 2].map((k) => ({
        type: 'object',
        properties: { c: { $ref: '#/properties/a/$defs/node' }, k: { const: k } },
        required: ['k'],
      })),
    },
  },
}

function nestedIn(key: string, levels: number, innermost: object = {}): object {
  return levels === 0 ? innermost : { [key]: nestedIn(key, levels - 1, innermost) }
}

describe('a caller cannot keep the validator busy', () => {
  const call = async (schema: Parameters<typeof jsonSchema>[0], value: unknown) => {
    const onError = vi.fn()
    const inputSchema = jsonSchema({ type: 'object', properties: { a: schema } })
    const tool = createTool({ id: 'tool', inputSchema, execute: () => 'valid' })
    const answer = await callTool(createServer({ tools: { tool }, onError }), 'tool', { a: value })
    expect(onError).not.toHaveBeenCalled()
    return textOf(answer)!
  }
  const numbered = (count: number) => Array.from({ length: count }, (_, index) => ({ index }))
  const unique = { type: 'array', uniqueItems: true }

  it('uniqueItems: many items of which none repeats are valid', async () => {
    // Compared one by one they would take minutes.
    expect(
      await call(
        unique,
        Array.from({ length: 90_000 }, (_, index) => index),
      ),
    ).toBe('valid')
    expect(await call(unique, numbered(40_000))).toBe('valid')
  })

  it('uniqueItems: many items of which one repeats are refused', async () => {
    expect(await call(unique, [...numbered(40_000), { index: 1 }])).toContain('a: ')
  })

  it.each<[string, unknown[]]>([
    ['numbers', [1, 2, 1]],
    [
      'objects, whatever the order of their members',
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
    ],
    ['arrays', [[1], [2], [1]]],
  ])('uniqueItems: %s that repeat are named', async (_what, items) => {
    expect(await call(unique, items)).toContain('a: Duplicate items at indexes 0 and')
  })

  it.each<[string, unknown[]]>([
    ['of different types', [1, '1', true, null]],
    ['arrays that hold the same in all', [[1, 2], [12], ['1,2']]],
  ])('uniqueItems: %s are different', async (_what, items) => {
    expect(await call(unique, items)).toBe('valid')
  })

  it('uniqueItems holds where it stands: beside it things may repeat', async () => {
    const schema = {
      type: 'object',
      properties: { tags: unique, scores: { type: 'array' }, uniqueItems: { const: { uniqueItems: true } } },
    }
    const value = { tags: ['a', 'b'], scores: [1, 1], uniqueItems: { uniqueItems: true } }
    expect(await call(schema, value)).toBe('valid')
    expect(await call(schema, { ...value, tags: ['a', 'a'] })).toContain('a.tags: Duplicate items')
    expect(await call({ not: unique }, [1, 1])).toBe('valid')
    expect(await call({ not: unique }, [1, 2])).not.toBe('valid')
  })

  it.each([
    ['http://example.com', true],
    ['HTTPS://example.com:8443/a?b#c', true],
    ['ftp://me@example.com/a', true],
    ['http://münchen.de/', true],
    ['http://localhost', false],
    ['http://10.0.0.1/', false],
    ['http://me:you@127.0.0.1/', false],
    ['javascript:alert(1)//a.b', false],
    ['http://exa mple.com', false],
    ['example.com', false],
  ])('format url: %j → %j', async (url, isUrl) => {
    const text = await call({ type: 'string', format: 'url' }, url)
    expect(text).toBe(isUrl ? 'valid' : 'Invalid arguments for tool tool: a: String does not match pattern.')
  })

  it.each([
    `http://${'a'.repeat(60)}!`,
    `http://${'a:'.repeat(100_000)}\\`,
    `http://${'a.'.repeat(100_000)} `,
    `http://${'a@'.repeat(100_000)} `,
  ])('format url: %.20s… is refused at once', async (url) => {
    expect(await call({ type: 'string', format: 'url' }, url)).toContain('does not match')
  })

  const recursive = (keyword: string) => ({
    $ref: '#/properties/a/$defs/node',
    $defs: {
      node: {
        type: 'object',
        [keyword]: [1, 2].map((k) => ({
          properties: { c: { $ref: '#/properties/a/$defs/node' }, k: { const: k }, s: { maxLength: 10 } },
        })),
      },
    },
  })
  it.each(
    ['anyOf', 'oneOf', 'allOf'].flatMap((keyword) => [
      [keyword, 'many levels', nestedIn('c', 18)] as const,
      [
        keyword,
        'a wide object below a few',
        nestedIn('c', 8, Object.fromEntries(numbered(5000).entries())),
      ] as const,
      [keyword, 'a long string below a few', nestedIn('c', 8, { s: 'x'.repeat(1_000_000) })] as const,
    ]),
  )(
    'a schema that refers to itself from two branches of %s: %s → refused in words',
    async (keyword, _what, value) => {
      const text = await call(recursive(keyword), value)
      expect(text).toContain('Too complex to validate')
    },
  )

  it('a schema that refers to itself from one place takes any number of levels', async () => {
    const tree = {
      $ref: '#/properties/a/$defs/node',
      $defs: {
        node: {
          type: 'object',
          properties: {
            c: { anyOf: [{ type: 'string' }, { $ref: '#/properties/a/$defs/node' }] },
            list: { type: 'array', items: { $ref: '#/properties/a/$defs/node' } },
          },
          additionalProperties: false,
        },
      },
    }
    expect(await call(tree, nestedIn('c', 50))).toBe('valid')
    expect(await call(tree, { list: Array(20_000).fill({ list: [{ c: 'leaf' }] }) })).toBe('valid')
    expect(await call(tree, nestedIn('c', 5, { d: 1 }))).toContain('a.c.c.c.c.c.d: ')
  })

  const wrong = { type: 'object', required: ['x', 'y'], additionalProperties: false }
  it.each<[string, Parameters<typeof jsonSchema>[0], unknown]>([
    ['of many items', { type: 'array', items: wrong }, Array(40_000).fill({ q: 1 })],
    ['with a long name', wrong, { ['x'.repeat(1_000_000)]: 1 }],
    ['of branches in branches', BRANCHING, nestedIn('c', 40)],
  ])('the faults %s make a short answer', async (_what, schema, value) => {
    const text = await call(schema, value)
    expect(text).toMatch(/^Invalid arguments for tool tool: /)
    expect(text.length).toBeLessThan(9000)
  })

  it('twenty fields are named, the others counted, whatever the schema', async () => {
    const items = Array(50).fill(1)
    const tool = createTool({
      id: 'tool',
      inputSchema: z.object({ a: z.array(z.string()) }),
      execute: () => '',
    })
    const byZod = textOf(await callTool(createServer({ tools: { tool } }), 'tool', { a: items }))
    for (const text of [byZod, await call({ type: 'array', items: { type: 'string' } }, items)]) {
      expect(text).toContain('a.19: ')
      expect(text).not.toContain('a.20')
      expect(text).toMatch(/; and 30 more$/)
    }
  })
})
