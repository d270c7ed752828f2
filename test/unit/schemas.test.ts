import { createRequire } from 'node:module'
import { Validator, type Schema as ValidatorSchema } from '@cfworker/json-schema'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { createTool, jsonSchema, type Schema } from '../../src/index.ts'
import { type Answer, callTool, createServer, itemsIn, legacy, modern, textOf } from './_client.ts'

/** A server with one tool that answers what it received. */
function echoServer(inputSchema: Schema | undefined) {
  const execute = vi.fn((input: unknown) => JSON.stringify(input))
  const echo = createTool({ id: 'echo', ...(inputSchema && { inputSchema }), execute })
  const server = createServer({ tools: { echo } })
  return {
    server,
    execute,
    call: (args?: unknown): Promise<Answer> => callTool(server, 'echo', args),
    advertised: async () => itemsIn(await modern(server, 'tools/list'))[0]?.inputSchema,
  }
}

/** A tool whose schema cannot be served fails the first request that compiles it. */
function compile(fields: { inputSchema?: unknown; outputSchema?: unknown }): () => unknown {
  const server = createServer({ tools: { broken: { ...fields, execute: () => '' } } })
  return () => server.getToolListInfo()
}

describe('zod', () => {
  it('advertises its JSON Schema, and what is optional as optional [schemas.zod]', async () => {
    const { advertised } = echoServer(
      z.object({
        city: z.string().min(2).describe('Where'),
        days: z.number().int().max(7).default(3),
        unit: z.enum(['C', 'F']).optional(),
      }),
    )
    expect(await advertised()).toMatchObject({
      type: 'object',
      properties: {
        city: { type: 'string', minLength: 2, description: 'Where' },
        days: { type: 'integer', maximum: 7, default: 3 },
        unit: { type: 'string', enum: ['C', 'F'] },
      },
      required: ['city'],
    })
  })

  it('a transform → its input is advertised, its output reaches execute [schemas.zod]', async () => {
    const { call, advertised } = echoServer(
      z.object({ tags: z.string().transform((text) => text.split(',')) }),
    )
    expect(await advertised()).toMatchObject({ properties: { tags: { type: 'string' } } })
    expect(textOf(await call({ tags: 'a,b' }))).toBe('{"tags":["a","b"]}')
  })

  it('an asynchronous refinement is awaited [schemas.zod]', async () => {
    const { call } = echoServer(z.object({ id: z.string().refine(async (id) => id === 'free', 'taken') }))
    expect(textOf(await call({ id: 'free' }))).toBe('{"id":"free"}')
    const refused = await call({ id: 'used' })
    expect(refused.result).toMatchObject({ isError: true })
    expect(textOf(refused)).toContain('id: taken')
  })

  it('a recursive schema → references within it [schemas.zod]', async () => {
    const tree = z.object({
      name: z.string(),
      get children() {
        return z.array(tree).optional()
      },
    })
    const { call, advertised } = echoServer(tree)
    expect(JSON.stringify(await advertised())).toContain('"$ref":"#')
    expect((await call({ name: 'a', children: [{ name: 5 }] })).result).toMatchObject({ isError: true })
  })

  it('a union of objects → advertised as an object, as MCP asks [schemas.input-object]', async () => {
    const { advertised } = echoServer(z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]))
    expect(await advertised()).toMatchObject({
      type: 'object',
      anyOf: [{ type: 'object' }, { type: 'object' }],
    })
  })
})

/** No value matches it, but nothing says so. */
const endless = z.object({
  get next() {
    return endless
  },
  when: z.date(),
})

const standard = (vendor: string) => ({
  '~standard': { version: 1, vendor, validate: (value: unknown) => ({ value }) },
})

describe('other libraries', () => {
  it.each<[string, Schema]>([
    ['valibot', toStandardJsonSchema(v.object({ text: v.pipe(v.string(), v.maxLength(3)) }))],
    ['arktype', type({ text: 'string <= 3' })],
  ])('%s is advertised and validates', async (_library, schema) => {
    const { call, advertised, execute } = echoServer(schema)
    expect(await advertised()).toMatchObject({
      type: 'object',
      properties: { text: { type: 'string', maxLength: 3 } },
      required: ['text'],
    })
    expect(textOf(await call({ text: 'abc' }))).toBe('{"text":"abc"}')
    const refused = await call({ text: 'abcd' })
    expect(refused.result).toMatchObject({ isError: true })
    expect(textOf(refused)).toContain('text')
    expect(execute).toHaveBeenCalledOnce()
  })
})

describe('a Standard Schema that does not know JSON Schema (valibot)', () => {
  const seat = v.object({ seat: v.object({ row: v.pipe(v.string(), v.toUpperCase()) }) })

  it('that is told its JSON Schema validates, and is advertised so [schemas.standard]', async () => {
    const described = { type: 'object', properties: { seat: { type: 'object' } } }
    const jsonSchema = { input: () => described, output: () => described }
    const { call, advertised } = echoServer({
      ...seat,
      '~standard': { ...seat['~standard'], jsonSchema },
    } as typeof seat)
    expect(await advertised()).toEqual(described)
    expect(textOf(await call({ seat: { row: 'a' } }))).toBe('{"seat":{"row":"A"}}')
    const refused = await call({ seat: { row: 5 } })
    expect(refused.result).toMatchObject({ isError: true })
    expect(textOf(refused)).toContain('seat.row: ')
  })

  it.each<[string, unknown, string]>([
    [
      'valibot as it is',
      seat,
      '(valibot) cannot be converted to JSON Schema: wrap it in toStandardJsonSchema()',
    ],
    ['one field of a shape', { a: v.string() }, 'a in inputSchema of tool "t" (valibot) cannot be converted'],
    [
      'what no JSON Schema says',
      z.object({ n: z.number(), d: z.date() }),
      'd in inputSchema of tool "t" cannot be converted to JSON Schema: Date cannot be represented in JSON Schema. Write what JSON has, such as z.iso.datetime() for z.date().',
    ],
    [
      'a field of a field',
      z.object({ n: z.number(), span: z.object({ n: z.number(), from: z.date().optional() }) }),
      'from in span in inputSchema of tool "t" cannot be converted to JSON Schema: Date',
    ],
    ['itself', endless, 'next in inputSchema of tool "t" cannot be converted to JSON Schema'],
    ['a list', z.array(z.string()), 'must describe an object, not "array": write z.object({ … }) around it.'],
    ['zod 3.23', { safeParse: () => {}, _def: {} }, 'is a zod 3 schema: use zod 4.2 or newer'],
    ['a shape of zod 3.23', { a: { safeParse: () => {}, _def: {} } }, 'is a zod 3 schema'],
    ['zod 4.0', standard('zod'), '(zod) cannot be converted to JSON Schema: use zod 4.2 or newer'],
    ['another library', standard('other'), '(other) cannot be converted to JSON Schema: use a library with'],
  ])(
    '%s as inputSchema → an error that names the tool and what to write [schemas.standard]',
    (_what, schema, text) => {
      const t = createTool({ id: 't', inputSchema: schema as z.ZodType, execute: () => 'x' })
      const list = () => createServer({ tools: { t } }).getToolListInfo()
      expect(list).toThrow(TypeError)
      expect(list).toThrow('inputSchema of tool "t"')
      expect(list).toThrow(text)
    },
  )

  it('as outputSchema of a list → not advertised as an object [schemas.standard] [results.legacy-object]', async () => {
    const names = createTool({ id: 'names', outputSchema: v.array(v.string()), execute: () => ['ada'] })
    const server = createServer({ tools: { names } })
    expect(itemsIn(await modern(server, 'tools/list'))[0]?.outputSchema).toEqual({})
    expect((await callTool(server, 'names')).result?.structuredContent).toEqual(['ada'])
    expect(itemsIn(await legacy(server, 'tools/list'))[0]).not.toHaveProperty('outputSchema')
    expect((await legacy(server, 'tools/call', { name: 'names' })).result).not.toHaveProperty(
      'structuredContent',
    )
  })
})

describe('a shape of schemas', () => {
  const shape = {
    city: z.string().describe('Where'),
    days: z.number().default(3),
    unit: z.string().optional(),
  }

  it('→ an object schema; what accepts undefined is not required [schemas.shape]', async () => {
    expect(await echoServer(shape).advertised()).toEqual({
      type: 'object',
      properties: {
        city: { type: 'string', description: 'Where' },
        days: { type: 'number', default: 3 },
        unit: { type: 'string' },
      },
      required: ['city'],
    })
  })

  it('validates each property and applies defaults [schemas.shape]', async () => {
    const { call } = echoServer(shape)
    expect(textOf(await call({ city: 'Bern', stray: 1 }))).toBe('{"city":"Bern","days":3}')
    const refused = textOf(await call({ city: 4, unit: 5 }))
    expect(refused).toContain('city: ')
    expect(refused).toContain('unit: ')
  })

  it('takes no value from a prototype [schemas.shape]', async () => {
    const { call } = echoServer({ constructor: z.unknown().optional(), toString: z.string().optional() })
    expect(textOf(await call({}))).toBe('{}')
  })

  it('with an asynchronous member is awaited [schemas.shape]', async () => {
    const { call } = echoServer({
      id: z.string().refine(async (id) => id === 'free', 'taken'),
      n: z.number(),
    })
    expect(textOf(await call({ id: 'free', n: 1 }))).toBe('{"id":"free","n":1}')
    expect(textOf(await call({ id: 'used', n: 1 }))).toContain('id: taken')
  })
})

describe('jsonSchema()', () => {
  const schema = {
    type: 'object',
    properties: {
      city: { type: 'string', minLength: 2 },
      days: { type: 'array', items: { $ref: '#/$defs/day' } },
    },
    required: ['city'],
    additionalProperties: false,
    $defs: { day: { type: 'integer', maximum: 31 } },
    'x-vendor': { kept: true },
  } as const

  it('is advertised unchanged [schemas.json-schema]', async () => {
    expect(await echoServer(jsonSchema(schema)).advertised()).toEqual(schema)
  })

  it.each([
    [{ city: 'X' }, 'city: '],
    [{ city: 'Bern', days: [1, 32] }, 'days.1: '],
    [{}, 'city'],
    [{ city: 'Bern', stray: 1 }, 'stray'],
  ])('refuses %j, naming what is wrong [schemas.json-schema]', async (args, named) => {
    const refused = await echoServer(jsonSchema(schema)).call(args)
    expect(refused.result).toMatchObject({ isError: true })
    expect(textOf(refused)).toContain(named)
  })

  it('validates without building code at run time [schemas.json-schema]', async () => {
    const compiled = vi.spyOn(globalThis, 'Function')
    const evaluated = vi.spyOn(globalThis, 'eval')
    const { call } = echoServer(jsonSchema(schema))
    expect(textOf(await call({ city: 'Bern', days: [1] }))).toBe('{"city":"Bern","days":[1]}')
    expect([compiled.mock.calls, evaluated.mock.calls]).toEqual([[], []])
    compiled.mockRestore()
    evaluated.mockRestore()
  })

  it.each([
    ['http://json-schema.org/draft-04/schema#', { minimum: 0, exclusiveMinimum: true }],
    ['http://json-schema.org/draft-07/schema#', { exclusiveMinimum: 0 }],
    ['https://json-schema.org/draft/2019-09/schema', { exclusiveMinimum: 0 }],
    ['https://json-schema.org/draft/2020-12/schema', { exclusiveMinimum: 0 }],
  ])('in the dialect %s → validated by its rules [schemas.json-schema]', async ($schema, bounds) => {
    const { call } = echoServer(
      jsonSchema({ $schema, type: 'object', properties: { n: { type: 'number', ...bounds } } }),
    )
    expect((await call({ n: 0 })).result).toMatchObject({ isError: true })
    expect(textOf(await call({ n: 1 }))).toBe('{"n":1}')
  })

  it.each(['http://json-schema.org/draft-03/schema#', 'https://example.com/own', 7])(
    'in the unknown dialect %j → TypeError [schemas.dialect]',
    ($schema) => {
      expect(() => jsonSchema({ $schema, type: 'object' })).toThrow(TypeError)
    },
  )

  it.each(['https://evil.example/schema.json', 'file:///etc/passwd', 'urn:uuid:1'])(
    'a $ref to %s → TypeError, nothing fetched [schemas.no-remote-ref]',
    ($ref) => {
      const fetched = vi.spyOn(globalThis, 'fetch')
      expect(() => jsonSchema({ type: 'object', properties: { deep: { items: [{ $ref }] } } })).toThrow(
        TypeError,
      )
      expect(fetched).not.toHaveBeenCalled()
      fetched.mockRestore()
    },
  )
})

/** Schemas that are none, and the place that a refusal names. */
const NO_SCHEMAS: readonly (readonly [schema: object, place: string])[] = [
  [{ type: 'strnig' }, '#/type'],
  [{ type: ['string', 'nul'] }, '#/type'],
  [{ type: [] }, '#/type'],
  [{ type: null }, '#/type'],
  [{ properties: { city: { type: 'strnig' } } }, '#/properties/city/type'],
  [{ properties: { 'a/b~c': { minLength: '2' } } }, '#/properties/a~1b~0c/minLength'],
  [{ properties: { city: 'string' } }, '#/properties/city'],
  [{ properties: { city: null } }, '#/properties/city'],
  [{ properties: { city: [{ type: 'string' }] } }, '#/properties/city'],
  [{ properties: [] }, '#/properties'],
  [{ patternProperties: { '(': {} } }, '#/patternProperties/('],
  [{ $defs: { a: 1 } }, '#/$defs/a'],
  [{ definitions: 'x' }, '#/definitions'],
  [{ dependentSchemas: { a: { type: 1 } } }, '#/dependentSchemas/a/type'],
  [{ dependentRequired: { a: ['b', 1] } }, '#/dependentRequired/a'],
  [{ dependencies: { a: [1] } }, '#/dependencies/a'],
  [{ dependencies: { a: 'b' } }, '#/dependencies/a'],
  [{ items: [{ type: 'string' }] }, '#/items'],
  [{ items: 'string' }, '#/items'],
  [{ $schema: 'http://json-schema.org/draft-07/schema#', items: [{ type: 'x' }] }, '#/items/0/type'],
  [{ prefixItems: {} }, '#/prefixItems'],
  [{ allOf: [] }, '#/allOf'],
  [{ anyOf: [{ oneOf: [true, { not: 5 }] }] }, '#/anyOf/0/oneOf/1/not'],
  [{ additionalProperties: 'no' }, '#/additionalProperties'],
  [{ if: { contains: { type: 'x' } } }, '#/if/contains/type'],
  [{ required: 'city' }, '#/required'],
  [{ required: true }, '#/required'],
  [{ required: ['a', 1] }, '#/required'],
  [{ enum: 'red' }, '#/enum'],
  [{ minimum: '5' }, '#/minimum'],
  [{ maximum: Number.NaN }, '#/maximum'],
  [{ exclusiveMinimum: true }, '#/exclusiveMinimum'],
  [{ multipleOf: 0 }, '#/multipleOf'],
  [{ minLength: -1 }, '#/minLength'],
  [{ maxItems: 1.5 }, '#/maxItems'],
  [{ uniqueItems: 'yes' }, '#/uniqueItems'],
  [{ pattern: '(' }, '#/pattern'],
  [{ pattern: /a/ }, '#/pattern'],
  [{ format: 5 }, '#/format'],
  [{ description: { en: 'Where' } }, '#/description'],
  [{ $ref: 5 }, '#/$ref'],
  [{ $ref: '#/$defs/nothing' }, '#/$ref'],
  [{ $ref: '#nothing' }, '#/$ref'],
  [{ $ref: 'other.json' }, '#/$ref'],
  [{ $defs: { a: { $ref: '#/$defs/b' } } }, '#/$defs/a/$ref'],
  [{ $defs: { a: {} }, items: { $ref: '#/$defs/a/type' } }, '#/items/$ref'],
]

/** Schemas that only look odd. */
const SCHEMAS: readonly object[] = [
  {},
  { type: ['string', 'null'], enum: ['a', null], const: { type: 'strnig' }, default: { $ref: '#/none' } },
  { properties: { type: { type: 'string' }, $ref: { type: 'string' }, required: true, enum: false } },
  { examples: [{ $ref: 'https://example.com' }], enum: [{ $ref: 'https://example.com' }, { type: 'x' }] },
  { 'x-vendor': { type: 'strnig' }, minimum: -1.5, multipleOf: 0.1, minLength: 0, uniqueItems: false },
  {
    $defs: { a: { $anchor: 'here' } },
    allOf: [{ $ref: '#here' }, { $ref: '#/$defs/a' }],
    items: { $ref: '#' },
  },
  { $defs: { 'a/b': {} }, properties: { x: { $ref: '#/$defs/a~1b' } } },
  {
    $id: 'https://example.com/tree',
    items: { $ref: '#' },
    $defs: { a: { $ref: 'https://example.com/tree' } },
  },
  { components: { schemas: { City: { type: 'string' } } }, items: { $ref: '#/components/schemas/City' } },
  { dependencies: { a: ['b'], c: { required: ['d'] }, e: true }, dependentRequired: { a: [] } },
  { $schema: 'http://json-schema.org/draft-07/schema#', items: [{ type: 'string' }, true] },
  { $schema: 'http://json-schema.org/draft-04/schema#', minimum: 0, exclusiveMinimum: true, id: 'x' },
  { pattern: '^\\p{L}+$', format: 'made-up', title: '', $comment: 'note', deprecated: true, readOnly: false },
]

/** The draft's own, from a package that an official SDK brings along. */
const META_SCHEMA = createRequire(import.meta.resolve('@modelcontextprotocol/sdk/types.js'))(
  'ajv/dist/refs/json-schema-draft-07.json',
) as ValidatorSchema & { readonly properties: object }

const VALUES = [
  ...[
    null,
    true,
    0,
    1,
    -1,
    1.5,
    '',
    'string',
    'strnig',
    '(',
    [],
    {},
    [1],
    [null],
    [{}],
    [true],
    ['a'],
    ['string'],
  ],
  ...[
    ['string', 'null'],
    [{ type: 'x' }],
    { a: 1 },
    { a: {} },
    { a: true },
    { a: ['b'] },
    { a: [1] },
    { a: 'b' },
  ],
  ...[{ type: 'strnig' }, { a: { type: 'strnig' } }, { type: 'string' }, { '(': {} }, [[{}]], { a: null }],
]

function isTaken(schema: { readonly [keyword: string]: unknown }): boolean {
  try {
    return jsonSchema(schema) !== undefined
  } catch (error) {
    if (error instanceof TypeError) return false
    throw error
  }
}

describe('a JSON Schema that is none', () => {
  it.each(NO_SCHEMAS)('%j → TypeError that names %s [schemas.checked]', (schema, place) => {
    expect(() => jsonSchema({ ...schema })).toThrow(TypeError)
    expect(() => jsonSchema({ ...schema })).toThrow(`${place} `)
  })

  it.each([null, undefined, 'string', 5])('%j → TypeError [schemas.checked]', (schema) => {
    expect(() => jsonSchema(schema as never)).toThrow(TypeError)
  })

  it('one that contains itself → TypeError, not an endless search [schemas.checked]', () => {
    const schema: { [keyword: string]: unknown } = { type: 'object' }
    schema.not = schema
    expect(() => jsonSchema(schema)).toThrow(TypeError)
  })

  it.each(SCHEMAS)('%j only looks odd → taken, and validates [schemas.checked]', async (schema) => {
    const compiled = jsonSchema(schema as { [keyword: string]: unknown })
    await expect((async () => compiled['~standard'].validate({}))()).resolves.toBeDefined()
  })

  it('each keyword with each kind of value → refused as the meta-schema of draft-07 refuses it [schemas.checked]', () => {
    const $schema = 'http://json-schema.org/draft-07/schema#'
    const official = new Validator(META_SCHEMA, '7')
    // What is only for readers, and references: those are followed.
    const unchecked = new Set([
      '$schema',
      '$comment',
      'readOnly',
      'writeOnly',
      'examples',
      'contentMediaType',
    ])
    const keywords = Object.keys(META_SCHEMA.properties).filter((keyword) => !unchecked.has(keyword))
    const disagreements = keywords
      .filter((keyword) => keyword !== 'contentEncoding' && keyword !== '$ref')
      .flatMap((keyword) => VALUES.map((value) => ({ $schema, [keyword]: value })))
      .filter((schema) => official.validate(schema).valid !== isTaken(schema))
    expect(keywords).toContain('dependencies')
    expect(disagreements.map((schema) => JSON.stringify({ ...schema, $schema: undefined }))).toEqual([])
  })

  it('a frozen one is taken, and stays as it is [schemas.checked]', () => {
    const schema = Object.freeze({
      $defs: Object.freeze({ a: Object.freeze({ type: 'string' }) }),
      $ref: '#/$defs/a',
    })
    const { validate } = jsonSchema(schema)['~standard']
    expect([validate('x'), validate(5)]).toMatchObject([{ value: 'x' }, { issues: [{}] }])
    expect(Object.getOwnPropertyNames(schema.$defs.a)).toEqual(['type'])
  })
})

describe('what is no schema for a tool', () => {
  const plain = { type: 'object', properties: { city: { type: 'string' } } }

  it.each(['inputSchema', 'outputSchema'])(
    'plain JSON Schema as %s → TypeError that says what to write [schemas.plain-refused]',
    (field) => {
      expect(compile({ [field]: plain })).toThrow(TypeError)
      expect(compile({ [field]: plain })).toThrow(/jsonSchema\(/)
      expect(compile({ [field]: plain })).toThrow(/"broken"/)
    },
  )

  it.each([[[z.string()]], ['string'], [5], [() => z.string()]])(
    '%j → TypeError that names the tool',
    (schema) => {
      expect(compile({ inputSchema: schema })).toThrow(TypeError)
      expect(compile({ inputSchema: schema })).toThrow(/"broken"/)
    },
  )

  it.each([
    z.string(),
    z.array(z.string()),
    jsonSchema({ type: 'number' }),
    jsonSchema({ type: ['object', 'null'] }),
  ])('an inputSchema that describes no object → TypeError [schemas.input-object]', (schema) => {
    expect(compile({ inputSchema: schema })).toThrow(TypeError)
  })
})

describe('no inputSchema', () => {
  it.each([undefined, {}])(
    '%j → any object is taken and handed on [schemas.input-object]',
    async (schema) => {
      const { call, advertised } = echoServer(schema)
      expect(await advertised()).toMatchObject({ type: 'object' })
      expect(textOf(await call({ stray: 1 }))).toBe('{"stray":1}')
    },
  )

  it('a JSON Schema without a type → advertised as an object [schemas.input-object]', async () => {
    expect(await echoServer(jsonSchema({ required: ['a'] })).advertised()).toEqual({
      type: 'object',
      required: ['a'],
    })
  })
})
