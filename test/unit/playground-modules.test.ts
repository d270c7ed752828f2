/** The page of the playground loads only modules that its process serves. */
import { describe, expect, test } from 'vitest'
import { exchange } from '../../deploy/playground/browser/exchange.ts'
import { clip, MAX_ITEMS, pretty, sourceAt } from '../../deploy/playground/browser/json.ts'
import { checkOutput } from '../../deploy/playground/browser/output-check.ts'
import { ASSETS, readAsset } from '../../deploy/playground/page.ts'

test('every module imports only others of them', () => {
  const scripts = ASSETS.filter((name) => name.endsWith('.ts'))
  const imports = scripts.flatMap((name) =>
    [...readAsset(name).body.matchAll(/from '([^']+)'/g)].map(([, from]) => `${name}: ${from}`),
  )
  expect(imports.length).toBeGreaterThan(20)
  expect(imports.filter((line) => !scripts.some((script) => line.endsWith(`: ./${script}`)))).toEqual([])
})

test('JSON is formatted by one function of limited work', () => {
  // Shared with the landing page, it formats the settings of clients.
  const scripts = ASSETS.filter((name) => name.endsWith('.ts') && name !== 'connect-snippets.ts')
  const formats = scripts.filter((name) =>
    /JSON\.stringify\([^\n]*, (?:null|undefined), /.test(readAsset(name).body),
  )
  expect(formats).toEqual([])
})

test('headers that are too large are not sent, and the record says why', async () => {
  const problems: (string | undefined)[] = []
  const sent = exchange({
    label: 'tools/call',
    url: 'http://127.0.0.1:9/mcp',
    headers: { 'mcp-param-text': 'x'.repeat(200_000) },
    hiddenHeaders: {},
    body: {},
    signal: new AbortController().signal,
    onChange: ({ problem }) => problems.push(problem),
    onMessage: () => {},
  })

  await expect(sent).rejects.toThrow('the headers have 200014 bytes')
  expect(problems.at(-1)).toContain('shorten the arguments')
})

describe('pretty', () => {
  test.each([
    [null],
    ['a "string"\n\ud800'],
    [0],
    [false],
    [[]],
    [{}],
    [[[], {}, [1, [2, { a: null }]]]],
    [{ a: [undefined, 1], b: undefined, 'c\n': { d: '' }, 2: 1, 1: 2 }],
    [JSON.parse('{ "__proto__": { "a": 1 } }')],
  ])('%j is written as JSON.stringify does', (value) => {
    expect(pretty(value)).toBe(JSON.stringify(value, null, 2))
  })

  test('what is not there is undefined', () => {
    expect(pretty(undefined)).toBe('undefined')
  })

  test('large and deep values are cut while they are written', () => {
    const deep = JSON.parse(`${'[{"a":'.repeat(50_000)}1${'}]'.repeat(50_000)}`) as unknown
    for (const value of [
      deep,
      'a'.repeat(1e6),
      Array.from({ length: 1e6 }, () => 1),
      { ['a'.repeat(1e6)]: 1 },
    ]) {
      const text = pretty(value)
      expect(text).toMatch(/\n… the rest is not shown$/)
      expect(clip(text)).toBe(text)
    }
    const list = Array.from({ length: MAX_ITEMS }, () => 'abc')
    expect(pretty(list)).toBe(JSON.stringify(list, null, 2))
  })
})

describe('sourceAt', () => {
  test.each([
    ['{"a":{"b":1.0}}', '1.0'],
    ['{ "a" : { "x":[{"b":1}], "b" : {"b": [1, 2]} , "y":3}, "b":4 }', '{"b": [1, 2]}'],
    ['{"a":{"b":"}\\","}}', '"}\\","'],
    ['{"a":{"\\u0062":true}}', 'true'],
    // As JSON.parse, which takes the last of equal names.
    ['{"a":{"b":{"b":1},"b":2}}', '2'],
    ['{"a":5,"a":{"b":null}}', 'null'],
    ['{"a":{"b":1},"a":{}}', undefined],
    ['{"x":{"a":{"b":1}},"a":{"c":1}}', undefined],
    ['{"a":[{"b":1}]}', undefined],
    ['{"a":1,"b":2}', undefined],
    ['[{"a":{"b":1}}]', undefined],
    ['{"a":{"x":[{"b":1},["b"]]}}', undefined],
    ['', undefined],
  ])('of %s is %s', (text, expected) => {
    const parsed = text === '' ? undefined : JSON.parse(text)?.a?.b
    expect(sourceAt(text, ['a', 'b'])).toBe(expected)
    expect(expected === undefined ? undefined : JSON.parse(expected)).toEqual(parsed)
  })
})

test('what the output check does not read is said, whatever the schema', () => {
  const schema = { type: 'object', properties: { at: { type: 'string' } } }
  const result = { structuredContent: { at: 'x' } }
  expect(checkOutput(schema, result)).toEqual({ word: 'matches outputSchema' })
  for (const keyword of [
    '$ref',
    'format',
    'pattern',
    'not',
    'if',
    'contains',
    'dependentSchemas',
    'minProperties',
  ])
    expect(checkOutput({ ...schema, [keyword]: {} }, result)?.word, keyword).toMatch(/as far as checked$/)
  const deep = JSON.parse(`${'{"items":'.repeat(50_000)}1${'}'.repeat(50_000)}`) as unknown
  expect(checkOutput(deep, result)?.word).toMatch(/outputSchema/)
})
