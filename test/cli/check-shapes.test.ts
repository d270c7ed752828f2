/** `mayfly check` and the official clients agree on which tools, prompts, resources and greetings can be used. */
import * as v1 from '@modelcontextprotocol/sdk/types.js'
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv'
import { type SpecTypeName, specTypeSchemas } from '@modelcontextprotocol/server'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { schemaFault } from '../../deploy/check/json-schema.ts'
import type { Shape } from '../../deploy/check/shape.ts'
import {
  DISCOVER_RESULT,
  INITIALIZE_RESULT,
  PROMPT,
  RESOURCE,
  RESOURCE_TEMPLATE,
  TOOL,
} from '../../deploy/check/shapes.ts'

type JsonObject = { readonly [name: string]: unknown }
/** Whether the schema of an official client takes it. */
type Takes = (value: unknown) => boolean

const byV1 =
  (schema: { safeParse(value: unknown): { success: boolean } }): Takes =>
  (value) =>
    schema.safeParse(value).success
const byV2 =
  (name: SpecTypeName): Takes =>
  (value) =>
    (specTypeSchemas[name]['~standard'].validate(value) as { issues?: unknown }).issues === undefined

const ICONS = [{ src: 'https://shop.example/a.png', mimeType: 'image/png', sizes: ['48x48'], theme: 'light' }]
const NAMED = { name: 'a', title: 'A', description: 'An A', icons: ICONS, _meta: { a: 1 } }
const ANNOTATIONS = { audience: ['user'], priority: 0.5, lastModified: '2026-07-28T10:00:00Z' }
const SCHEMA = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], $schema: 'x' }
const HINTS = {
  title: 'A',
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: true,
}
const CAPABILITIES = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  logging: {},
  completions: {},
  experimental: { a: {} },
  extensions: { 'a/b': {} },
}
const TOOL_ITEM = { ...NAMED, inputSchema: SCHEMA, outputSchema: SCHEMA, annotations: HINTS }

const CASES: readonly (readonly [name: string, value: JsonObject, shape: Shape, takes: Takes])[] = [
  ['legacy tool', { ...TOOL_ITEM, execution: { taskSupport: 'optional' } }, TOOL.legacy, byV1(v1.ToolSchema)],
  ['modern tool', TOOL_ITEM, TOOL.modern, byV2('Tool')],
  [
    'prompt',
    { ...NAMED, arguments: [{ name: 'a', description: 'An A', required: true }] },
    PROMPT,
    byV1(v1.PromptSchema),
  ],
  [
    'resource',
    { ...NAMED, uri: 'a://b', mimeType: 'text/plain', size: 1, annotations: ANNOTATIONS },
    RESOURCE,
    byV1(v1.ResourceSchema),
  ],
  [
    'resource template',
    { ...NAMED, uriTemplate: 'a://{b}', mimeType: 'text/plain', annotations: ANNOTATIONS },
    RESOURCE_TEMPLATE,
    byV1(v1.ResourceTemplateSchema),
  ],
  [
    'InitializeResult',
    {
      protocolVersion: '2025-11-25',
      capabilities: CAPABILITIES,
      serverInfo: { ...NAMED, version: '1', websiteUrl: 'https://shop.example' },
      instructions: 'Do',
    },
    INITIALIZE_RESULT,
    byV1(v1.InitializeResultSchema),
  ],
  [
    'DiscoverResult',
    {
      supportedVersions: ['2026-07-28'],
      capabilities: CAPABILITIES,
      instructions: 'Do',
      ttlMs: 0,
      cacheScope: 'public',
      resultType: 'complete',
    },
    DISCOVER_RESULT,
    byV2('DiscoverResult'),
  ],
]

/** What a server may write in place of anything. */
const anything = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    0,
    0.5,
    2,
    '',
    'object',
    'user',
    [],
    {},
    [null],
    { a: null },
    ['a'],
    [{}],
  ),
  fc.jsonValue({ maxDepth: 2 }),
)

/** Every place in a value, from the root on. */
function placesIn(value: unknown): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [[]]
  const inner = Object.entries(value).flatMap(([name, each]) =>
    placesIn(each).map((place) => [name, ...place] as const),
  )
  return [[], ...inner]
}

function replaced(
  value: unknown,
  [name, ...rest]: readonly string[],
  change: (old: unknown) => unknown,
): unknown {
  if (name === undefined) return change(value)
  const copy: Record<string, unknown> | unknown[] = Array.isArray(value)
    ? [...value]
    : { ...(value as object) }
  const members = copy as Record<string, unknown>
  members[name] = replaced(members[name], rest, change)
  return JSON.parse(JSON.stringify(copy))
}

test.for(CASES)('%s: as it should be', ([, value, shape, takes]) => {
  expect({ fault: shape(value, ''), taken: takes(value) }).toEqual({ fault: undefined, taken: true })
})

test.for(CASES)('%s: with anything in any place, or nothing', ([, value, shape, takes]) => {
  const place = fc.constantFrom(...placesIn(value).filter(({ length }) => length > 0))
  const change = fc.oneof(anything, fc.constant(undefined))
  fc.assert(
    fc.property(place, change, (at, other) => {
      const changed = replaced(value, at, () => other)

      const isTaken = shape(changed, '') === undefined
      // An array passes for an object with some clients, and $schema for anything: with the specification neither does.
      const isLenient = JSON.stringify(other ?? null).includes('[') || at.at(-1) === '$schema'
      if (isTaken || !isLenient)
        expect({ at, changed, isTaken }).toEqual({ at, changed, isTaken: takes(changed) })
    }),
    { numRuns: 3000 },
  )
})

const JSON_SCHEMA = {
  type: 'object',
  title: 'A',
  required: ['a'],
  properties: {
    a: {
      type: ['string', 'null'],
      minLength: 1,
      maxLength: 9,
      pattern: '^a',
      format: 'email',
      enum: ['a'],
      default: 'a',
    },
    b: {
      type: 'array',
      items: { type: 'integer', minimum: 1, exclusiveMaximum: 9, multipleOf: 2 },
      uniqueItems: true,
    },
    c: { anyOf: [{ const: 1 }, { $ref: '#/definitions/d' }], description: 'A', examples: [1] },
  },
  patternProperties: { '^x': { type: 'boolean' } },
  additionalProperties: false,
  definitions: { d: { not: { minProperties: 1 }, if: true, else: { maxItems: 3 }, readOnly: true } },
}

test('a JSON Schema with anything in any place is refused where the clients’ validator cannot compile it', () => {
  const place = fc.constantFrom(...placesIn(JSON_SCHEMA).filter(({ length }) => length > 0))
  const changes = fc.tuple(place, anything)
  let refused = 0
  fc.assert(
    fc.property(changes, ([at, other]) => {
      const changed = replaced(JSON_SCHEMA, at, () => other)
      if (compiles(changed)) return
      refused += 1

      expect({ changed, fault: schemaFault(changed) }).toEqual({ changed, fault: expect.any(String) })
    }),
    { numRuns: 3000 },
  )
  expect(schemaFault(JSON_SCHEMA)).toBeUndefined()
  expect(refused).toBeGreaterThan(50)
})

function compiles(schema: unknown): boolean {
  try {
    new AjvJsonSchemaValidator().getValidator(schema as object)
    return true
  } catch {
    return false
  }
}
