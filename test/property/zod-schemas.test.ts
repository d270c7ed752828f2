/**
 * A zod schema of plain fields is written as JSON Schema for a list alone. Nobody notices: calls and lists are answered as those of the
 * same schema that hides that it is zod's.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { createTool, MCPServer, type Schema } from '../../src/index.ts'
import { answerOf, legacyRequest, modernRequest } from './_client.ts'
import { check } from './_seeded.ts'

const NAMED = { type: 'string', 'x-mcp-header': 'Region' }

const annotation = fc.option(
  fc.oneof(
    { weight: 3, arbitrary: fc.constant({ description: 'What it is', title: 'It' }) },
    fc.constantFrom<{ [key: string]: unknown }>(
      ...[{ 'x-mcp-header': 'Region' }, { 'x-mcp-header': 'not a token' }],
      ...[{ properties: { region: NAMED } }, { items: NAMED }, { allOf: [NAMED] }, { examples: [NAMED] }],
      ...[{ id: 'One' }, { id: 'Other' }, { type: undefined }, { type: 'array' }, { description: NAMED }],
      ...[{ big: 1n }],
    ),
  ),
  { freq: 4, nil: undefined },
)

type Metadata = { [key: string]: unknown } | undefined

const annotated = <Type extends z.ZodType>([schema, meta]: [Type, Metadata]): Type =>
  meta === undefined ? schema : schema.meta(meta)

/** zod adds to a schema what is asked of it for the first time: not to this one. */
const frozen = fc.constant(undefined).map(() => Object.freeze(z.string()))

const leaf: fc.Arbitrary<z.ZodType> = fc.constantFrom(
  ...[z.string(), z.email(), z.string().min(2), z.int(), z.number(), z.boolean(), z.enum(['a', 'b'])],
  ...[z.literal('a'), z.union([z.string(), z.int()]), z.unknown(), z.record(z.string(), z.string())],
  // Not all of them can be written as JSON Schema.
  ...[z.date(), z.bigint(), z.custom(() => true), z.string().transform(Number)],
)

const { schema: field } = fc.letrec<{ schema: z.ZodType; inner: z.ZodType }>((tie) => ({
  inner: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    { arbitrary: leaf, weight: 4 },
    tie('schema').map((inner) => z.optional(inner)),
    tie('schema').map((inner) => z.nullable(inner)),
    tie('schema').map((inner) => z._default(inner, 'given')),
    tie('schema').map((inner) => z.array(inner)),
    tie('schema').map((inner) => z.object({ inner })),
    tie('schema').map((inner) => z.looseObject({ inner })),
    tie('schema').map((inner) => z.object({}).catchall(inner)),
    annotation.map((meta) => z.object({}).catchall(z.never().meta(meta ?? {}))),
  ),
  schema: fc.oneof({ arbitrary: fc.tuple(tie('inner'), annotation).map(annotated), weight: 12 }, frozen),
}))

const object = fc
  .tuple(fc.dictionary(fc.constantFrom('region', 'other'), field), fc.constantFrom(z.object, z.strictObject))
  .chain(([shape, create]) => fc.tuple(fc.constant(create(shape)), annotation))
  .map(annotated)

const args = fc.dictionary(
  fc.constantFrom('region', 'other', 'third'),
  fc.oneof(
    fc.constantFrom('a', 'b', 'long', 'a@b.co', 1, 1.5, true, null),
    fc.constantFrom<unknown>(['a'], { inner: 'a' }, {}),
  ),
)

const headers = fc.constantFrom<{ [name: string]: string }>(
  {},
  { 'mcp-param-region': 'a' },
  { 'mcp-param-region': '1' },
)

/** The same schema, of which only what all libraries have is known. */
const hidden = (schema: z.ZodType): Schema => ({ '~standard': schema['~standard'] })

const serve = (inputSchema: Schema, outputSchema?: Schema) =>
  new MCPServer({
    ...{ id: 'zod', name: 'zod', version: '1.0.0', log: false, onError: () => {} },
    tools: {
      echo: createTool({
        ...{ id: 'echo', inputSchema, ...(outputSchema && { outputSchema }) },
        execute: (input: object) => ({ ...input }),
      }),
    },
  })

test('calls and lists, whatever the schema is', async () => {
  await check(
    fc.asyncProperty(object, fc.option(object, { nil: undefined }), args, headers, async (...given) => {
      const [input, output, values, sent] = given
      const known = serve(input, output)
      const unknown = serve(hidden(input), output && hidden(output))
      const params = { name: 'echo', arguments: values }
      const ask = async (server: MCPServer, request: Request) => answerOf(await server.fetch(request))
      for (const request of [
        () => modernRequest('tools/call', { params, headers: sent }),
        () => modernRequest('tools/list'),
        () => legacyRequest('tools/list'),
        () => legacyRequest('tools/call', { params, headers: sent }),
        () => modernRequest('tools/call', { params, headers: sent }),
      ])
        expect(await ask(known, request())).toEqual(await ask(unknown, request()))
    }),
    2000,
  )
})
