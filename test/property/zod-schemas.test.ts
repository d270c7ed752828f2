/**
 * A zod schema of plain fields is written as JSON Schema for a list alone. Nobody notices: calls and lists are answered as those of the
 * same schema that hides that it is zod's.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { createTool, MCPServer, type Schema } from '../../src/index.ts'
import { answerOf, modernRequest } from './_client.ts'
import { check } from './_seeded.ts'

const annotation = fc.option(
  fc.constantFrom(
    { 'x-mcp-header': 'Region' },
    { 'x-mcp-header': 'not a token' },
    { description: 'What it is' },
  ),
  { freq: 3, nil: undefined },
)

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
    tie('schema').map((inner) => inner.optional()),
    tie('schema').map((inner) => inner.nullable()),
    tie('schema').map((inner) => inner.default('given')),
    tie('schema').map((inner) => z.array(inner)),
    tie('schema').map((inner) => z.object({ inner })),
    tie('schema').map((inner) => z.looseObject({ inner })),
    tie('schema').map((inner) => z.object({}).catchall(inner)),
  ),
  schema: fc
    .tuple(tie('inner'), annotation)
    .map(([schema, meta]) => (meta === undefined ? schema : schema.meta(meta))),
}))

const object = fc
  .tuple(fc.dictionary(fc.constantFrom('region', 'other'), field), fc.constantFrom(z.object, z.strictObject))
  .map(([shape, create]) => create(shape))

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
        () => modernRequest('tools/call', { params, headers: sent }),
      ])
        expect(await ask(known, request())).toEqual(await ask(unknown, request()))
    }),
    1000,
  )
})
