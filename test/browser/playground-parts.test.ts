/** The parts of the playground's script that need no page: schemas, URI templates, events, headers. */
import { describe, expect, test } from 'vitest'
import { encodeHeader, paramHeaders } from '../../deploy/playground/browser/param-headers.ts'
import { type Field, toField } from '../../deploy/playground/browser/schema.ts'
import { expand, variablesOf } from '../../deploy/playground/browser/uri-template.ts'
import { createEventReader } from '../../src/protocol/event-stream.ts'

function fieldsOf(properties: object, more: object = {}): readonly Field[] {
  const field = toField({ type: 'object', properties, ...more })
  return field.kind === 'object' ? field.fields : []
}

describe('a schema becomes fields', () => {
  test.for([
    [{ type: 'string' }, 'text'],
    [{ type: ['string', 'null'] }, 'text'],
    [{ type: 'integer', minimum: 1 }, 'number'],
    [{ anyOf: [{ type: 'number' }, { type: 'null' }] }, 'number'],
    [{ type: 'boolean' }, 'boolean'],
    [{ enum: ['a', 1, null] }, 'choice'],
    [{ oneOf: [{ const: 'a', title: 'A' }, { const: 'b' }] }, 'choice'],
    [{ type: 'array', items: { enum: ['a', 'b'] } }, 'several'],
    [{ type: 'array', items: { type: 'string' } }, 'array'],
    [{ type: 'object', properties: { a: {} } }, 'object'],
    [{ $ref: '#/$defs/a~1b' }, 'number'],
    [{ allOf: [{ $ref: '#/$defs/a~1b' }] }, 'number'],
    [{ type: 'object' }, 'json'],
    [{ anyOf: [{ type: 'string' }, { type: 'number' }] }, 'json'],
    [{ $ref: 'https://evil.example/schema' }, 'json'],
    [{ $ref: '#/$defs/__proto__' }, 'json'],
    [true, 'json'],
    [null, 'json'],
  ] as const)('%j → %s', ([schema, kind]) => {
    expect(fieldsOf({ one: schema }, { $defs: { 'a/b': { type: 'number' } } })[0]?.kind).toBe(kind)
  })

  test('required, titles, defaults and rules are kept; a rule is shown and not run', () => {
    const [field] = fieldsOf(
      { a: { type: 'string', title: 'A', description: 'What', pattern: '^(a+)+$', default: 'x' } },
      { required: ['a'] },
    )
    expect(field).toMatchObject({
      title: 'A',
      isRequired: true,
      initial: 'x',
      hint: 'What',
      rules: 'matches ^(a+)+$, default x',
    })
  })

  test.for([
    [{ type: 'integer', minimum: -9007199254740991, maximum: 9007199254740991 }, 'whole number'],
    [{ type: 'integer', minimum: 1, maximum: 9007199254740991 }, 'whole number, at least 1'],
    [{ type: 'integer', minimum: 1, maximum: 60, default: 10 }, 'whole number, 1 to 60, default 10'],
    [{ type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 9007199254740991 }, 'more than 0'],
    [{ type: 'number', maximum: 1, multipleOf: 0.1 }, 'at most 1, a multiple of 0.1'],
    [{ type: 'string', minLength: 1 }, 'at least 1 character'],
    [{ type: 'string', minLength: 0, maxLength: 5 }, 'at most 5 characters'],
    [{ type: 'string', minLength: 4, maxLength: 4 }, 'exactly 4 characters'],
    [{ type: 'string', format: 'email', pattern: '^(?!\\.).*$', maxLength: 254 }, 'an email address'],
    [{ type: 'string', format: 'date-time', pattern: '^x$' }, 'a date and time: YYYY-MM-DDT09:30:00Z'],
    [{ type: 'string', format: 'colour', pattern: '^x$' }, 'format colour, matches ^x$'],
    [{ type: 'string', format: 'constructor' }, 'format constructor'],
    [{ type: 'string', pattern: 'x'.repeat(400) }, `matches ${'x'.repeat(292)}…`],
    [
      { type: 'array', items: { type: 'string' }, minItems: 1, uniqueItems: true },
      'at least 1 item, each once',
    ],
    [{ type: ['string', 'null'] }, 'may be null'],
    [{ type: 'boolean', default: false }, 'default false'],
    [{ type: 'string' }, undefined],
    [{ type: 'integer', minimum: 'x', maximum: {} }, 'whole number'],
  ] as const)('%j is said as %j', ([schema, rules]) => {
    expect(fieldsOf({ one: schema })[0]?.rules).toBe(rules)
  })

  test('a schema that refers to itself ends', () => {
    const count = ({ kind, ...rest }: Field): number =>
      1 +
      (kind === 'object' && 'fields' in rest ? rest.fields.reduce((sum, field) => sum + count(field), 0) : 0)
    const wide = { type: 'object', properties: { a: { $ref: '#' }, b: { $ref: '#' }, c: { $ref: '#' } } }

    expect(count(toField(wide))).toBeLessThan(1000)
    expect(toField({ $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } }).kind).toBe('json')
  })
})

test('a form keeps defaults up to a size, and lists of scalars alone as choices', () => {
  const [small, large, odd] = fieldsOf({
    small: { type: 'string', default: 'x' },
    large: { type: 'string', default: 'x'.repeat(200_000) },
    odd: { enum: [{}, 1] },
  })
  expect([small?.initial, large?.initial, odd?.kind]).toEqual(['x', undefined, 'json'])
})

// RFC 6570 §3.2, as far as resource templates use it.
test.for([
  ['{var}', 'a%20b%2Fc'],
  ['{+var}', 'a%20b/c'],
  ['{#var}', '#a%20b/c'],
  ['x{/var,x}', 'x/a%20b%2Fc/1'],
  ['x{.x}', 'x.1'],
  ['{?x,none,y}', '?x=1&y=2'],
  ['?a=1{&x*}', '?a=1&x=1'],
  ['{;x,y}', ';x=1;y=2'],
  ['{none}{', '{'],
] as const)('%s expands to %s', ([template, expected]) => {
  const values = new Map([
    ['var', 'a b/c'],
    ['x', '1'],
    ['y', '2'],
  ])
  expect(expand(template, values)).toBe(expected)
})

test('the variables of a template are each named once', () => {
  expect(variablesOf('a://{x}/{+y}{?x,z*,w:3}')).toEqual(['x', 'y', 'z', 'w'])
})

test.for([1, 2, 3, 7, 1000])('events are the same in pieces of %i characters', (size) => {
  const text =
    ': hello\r\nevent: message\r\ndata: {"a":1}\r\n\r\ndata: one\ndata:two\n\nid: 7\n\ndata: unfinished'
  const found: string[] = []
  const read = createEventReader(({ data }) => found.push(data))
  for (let at = 0; at < text.length; at += size) read(text.slice(at, at + size))
  expect(found).toEqual(['{"a":1}', 'one\ntwo'])
})

test('a header carries any value; names of the server are tokens', () => {
  expect(encodeHeader('plain text')).toBe('plain text')
  expect(encodeHeader('☃')).toBe('=?base64?4piD?=')
  expect(encodeHeader(' padded')).toBe('=?base64?IHBhZGRlZA==?=')
  expect(encodeHeader('=?base64?x?=')).toBe('=?base64?PT9iYXNlNjQ/eD89?=')
  const schema = {
    properties: {
      region: { 'x-mcp-header': 'Region' },
      evil: { 'x-mcp-header': 'a\r\nb: c' },
      nested: { properties: { deep: { 'x-mcp-header': 'Deep' } } },
    },
  }
  const args = { region: 'eu', evil: 'x', nested: { deep: 5 }, other: 'y' }
  expect(paramHeaders(schema, args)).toEqual({ 'mcp-param-Region': 'eu', 'mcp-param-Deep': '5' })
})
