/** Lists of tools with something wrong in them, and results that do not match. */
import { type Era, HELLO, type HostileServer, startHostile } from './server.ts'

const INPUT = { type: 'object' }

/** Tools that are none, by what is wrong with them. */
export const MALFORMED: { readonly [what: string]: unknown } = {
  null: null,
  text: 'hello',
  'no name': { inputSchema: INPUT },
  'a name that is a number': { name: 1, inputSchema: INPUT },
  'an empty name': { name: '', inputSchema: INPUT },
  'a name of control characters': { name: 'a\u001b[2Jb\nc', inputSchema: INPUT },
  'a name without end': { name: 'n'.repeat(10_000), inputSchema: INPUT },
  __proto__: { name: '__proto__', inputSchema: INPUT },
  'no schema': { name: 'bad' },
  'a schema that is text': { name: 'bad', inputSchema: 'object' },
  'a schema of a list': { name: 'bad', inputSchema: { type: 'array' } },
  'an output schema that is text': { name: 'bad', inputSchema: INPUT, outputSchema: 'text' },
  'a description that is null': { name: 'bad', inputSchema: INPUT, description: null },
  'annotations that are text': { name: 'bad', inputSchema: INPUT, annotations: 'readOnly' },
  'icons that are text': { name: 'bad', inputSchema: INPUT, icons: 'icon.png' },
  'a schema too deep to walk': { name: 'bad', inputSchema: { ...INPUT, properties: nested(1000) } },
  'control characters in a header’s name': {
    name: 'bad',
    inputSchema: {
      ...INPUT,
      properties: { 'a\u001b[2J': { type: 'number', 'x-mcp-header': 'x\u001b[2J' } },
    },
  },
  'a header whose name is a number': withHeaders({ a: { type: 'string', 'x-mcp-header': 5 } }),
  'a header whose name has no text': withHeaders({
    a: { type: 'string', 'x-mcp-header': { toString: 1, valueOf: 1 } },
  }),
  'a header whose name is empty': withHeaders({ a: { type: 'string', 'x-mcp-header': '' } }),
  'a header that breaks its line': withHeaders({ a: { type: 'string', 'x-mcp-header': 'X\r\nEvil: 1' } }),
  'a header that is used twice': withHeaders({
    a: { type: 'string', 'x-mcp-header': 'X' },
    b: { type: 'object', properties: { c: { type: 'boolean', 'x-mcp-header': 'x' } } },
  }),
  'a header for an object': withHeaders({ a: { type: 'object', 'x-mcp-header': 'X' } }),
  'a header for any number': withHeaders({ a: { type: 'number', 'x-mcp-header': 'X' } }),
  'a header for a parameter of no type': withHeaders({ a: { 'x-mcp-header': 'X' } }),
  'a header for items': withHeaders({
    a: { type: 'array', items: { type: 'string', 'x-mcp-header': 'X' } },
  }),
  'a header for all arguments': { name: 'bad', inputSchema: { ...INPUT, 'x-mcp-header': 'X' } },
}

/** Output schemas that servers of 2025 must not have, since their results are objects; modern ones may have all but the last two. */
export const OUTPUTS_OF_NO_OBJECT: { readonly [what: string]: object } = {
  'of anything': {},
  'of a list': { type: 'array', items: { type: 'string' } },
  'of one of several': { oneOf: [{ type: 'object' }] },
  'of several types': { type: ['object', 'null'] },
  'with required that is no list': { type: 'object', required: 5 },
  'with properties that are a list': { type: 'object', properties: [] },
}

/** Parameters that are no schemas; the protocol allows any JSON. */
export const ODD_PARAMETERS: { readonly [what: string]: unknown } = {
  null: null,
  text: 'string',
  'a type that has no text': { type: [{ toString: 1, valueOf: 1 }] },
  'a description that has no text': { description: { toString: 1, valueOf: 1 } },
}

function withHeaders(properties: object): object {
  return { name: 'bad', inputSchema: { ...INPUT, properties } }
}

function nested(levels: number): object {
  let value: object = {}
  for (let level = 0; level < levels; level++) value = { properties: { a: value } }
  return value
}

/** One good tool among those that are malformed. */
export const malformed = (era: Era = 'legacy', tools = Object.values(MALFORMED)): Promise<HostileServer> =>
  startHostile(() => false, { era, tools: [...tools, HELLO] })

/** Two tools of one name that say different things. */
export const duplicates = (era: Era = 'legacy'): Promise<HostileServer> =>
  startHostile(() => false, {
    era,
    tools: [
      { ...HELLO, description: 'the first' },
      { ...HELLO, description: 'the second' },
    ],
  })

/** Output schemas that a validator would never be done with, each with what it is never done with. */
export const TEDIOUS_SCHEMAS: { readonly [what: string]: readonly [schema: object, value: object] } = {
  pattern: [object({ type: 'string', pattern: '^(a+)+$' }), { v: `${'a'.repeat(40)}!` }],
  patternProperties: [
    { type: 'object', patternProperties: { '^(a+)+$': { type: 'string' } } },
    { [`${'a'.repeat(40)}!`]: 'x' },
  ],
  propertyNames: [{ type: 'object', propertyNames: { pattern: '^(a+)+$' } }, { [`${'a'.repeat(40)}!`]: 'x' }],
  'a pattern in a definition': [
    { ...object({ $ref: '#/$defs/p' }), $defs: { p: { type: 'string', pattern: '^(a+)+$' } } },
    { v: `${'a'.repeat(40)}!` },
  ],
  'references that double': [{ ...object({ $ref: '#/$defs/d0' }), $defs: doublings(40) }, { v: 'anything' }],
  'a reference to itself': [{ ...object({ $ref: '#/properties/v' }) }, { v: 'anything' }],
  uniqueItems: [
    object({ type: 'array', uniqueItems: true }),
    { v: Array.from({ length: 60_000 }, (_, index) => ({ index })) },
  ],
  'very many types': [
    object({
      type: 'array',
      items: { type: Array.from({ length: 150_000 }, () => 'text').concat('string') },
    }),
    { v: Array.from({ length: 20_000 }, () => 'a') },
  ],
  'very many branches': [
    object({
      type: 'array',
      items: { anyOf: Array.from({ length: 3000 }, (_, index) => ({ const: `${index}` })) },
    }),
    { v: Array.from({ length: 20_000 }, () => '2999') },
  ],
}

function object(v: object): object {
  return { type: 'object', properties: { v } }
}

function doublings(levels: number): object {
  return Object.fromEntries(
    Array.from({ length: levels }, (_, level) => {
      const next = { $ref: `#/$defs/d${level + 1}` }
      return [`d${level}`, { allOf: [next, next] }]
    }).concat([[`d${levels}`, { allOf: [] }]]),
  )
}

/** A tool whose results match its `outputSchema` as far as anybody can tell. */
export const withOutput = (
  outputSchema: object,
  structuredContent: unknown,
  era: Era = 'legacy',
): Promise<HostileServer> =>
  startHostile(
    ({ message, result }) => {
      if (message?.method !== 'tools/call') return false
      result({
        ...(era === 'modern' && { resultType: 'complete' }),
        content: [{ type: 'text', text: '{}' }],
        structuredContent,
      })
      return true
    },
    { era, tools: [{ ...HELLO, outputSchema }] },
  )
