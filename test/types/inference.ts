/** Checked by the compiler alone: what `createTool` and its siblings infer, and which mistakes they refuse. */
import * as v from 'valibot'
import * as z from 'zod'
import { staticTokens } from '../../src/auth.ts'
import {
  type AnyTool,
  createPrompt,
  createResource,
  createTool,
  jsonSchema,
  MCPServer,
  type McpContext,
} from '../../src/index.ts'

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

/** Fails to compile unless the value's type is exactly `Expected`. */
function expectType<Expected>(): <Actual>(
  value: Actual,
  ...same: Equal<Actual, Expected> extends true ? [] : [never]
) => void {
  return () => undefined
}

export const zodTool = createTool({
  id: 'zod',
  inputSchema: z.object({
    city: z.string(),
    days: z.number().default(3),
    unit: z.enum(['C', 'F']).optional(),
  }),
  outputSchema: z.object({ degrees: z.number() }),
  execute: (input, ctx) => {
    expectType<{ city: string; days: number; unit?: 'C' | 'F' | undefined }>()(input)
    expectType<McpContext>()(ctx)
    return { degrees: input.days }
  },
})

export const transformed = createTool({
  id: 'transformed',
  inputSchema: z.object({ tags: z.string().transform((text) => text.split(',')) }),
  execute: ({ tags }) => expectType<string[]>()(tags),
})

export const shaped = createTool({
  id: 'shaped',
  inputSchema: { city: z.string(), days: v.optional(v.number()) },
  outputSchema: { ok: z.boolean() },
  execute: ({ city, days }) => {
    expectType<string>()(city)
    expectType<number | undefined>()(days)
    return { ok: true }
  },
})

export const standard = createTool({
  id: 'standard',
  inputSchema: v.object({ row: v.pipe(v.string(), v.toNumber()) }),
  execute: ({ row }) => expectType<number>()(row),
})

export const plain = createTool({
  id: 'plain',
  inputSchema: jsonSchema<{ name: string }>({ type: 'object' }),
  outputSchema: jsonSchema<{ length: number }>({ type: 'object' }),
  execute: ({ name }) => {
    expectType<string>()(name)
    return { length: name.length }
  },
})

export const untyped = createTool({
  id: 'untyped',
  inputSchema: jsonSchema({ type: 'object' }),
  execute: (input) => expectType<Record<string, unknown>>()(input),
})

export const bare = createTool({
  id: 'bare',
  execute: (input) => expectType<Record<string, unknown>>()(input),
})

export const wholeResult = createTool({
  id: 'whole',
  outputSchema: z.object({ degrees: z.number() }),
  execute: async () => ({ content: [{ type: 'text', text: 'hot' }], structuredContent: { degrees: 40 } }),
})

export const wrongOutput = createTool({
  id: 'wrong',
  outputSchema: z.object({ degrees: z.number() }),
  // @ts-expect-error degrees is a number
  execute: () => ({ degrees: 'hot' }),
})

export const wrongAsyncOutput = createTool({
  id: 'wrong-async',
  outputSchema: jsonSchema<{ length: number }>({ type: 'object' }),
  // @ts-expect-error length is missing
  execute: async () => ({ size: 3 }),
})

export const wrongBlock = createTool({
  id: 'wrong-block',
  outputSchema: { ok: z.boolean() },
  // @ts-expect-error there is no such content block
  execute: () => ({ content: [{ type: 'video', data: '' }] }),
})

export const unknownMember = createTool({
  id: 'unknown',
  inputSchema: z.object({ city: z.string() }),
  // @ts-expect-error the input has no such member
  execute: ({ town }) => town,
})

// @ts-expect-error plain JSON Schema needs jsonSchema()
export const unwrapped = createTool({ id: 'unwrapped', inputSchema: { type: 'object' }, execute: () => '' })

// @ts-expect-error a tool has an id
export const nameless = createTool({ execute: () => '' })

export const prompt = createPrompt({
  argsSchema: { code: z.string(), language: z.string().optional() },
  get: ({ code, language }) => {
    expectType<string>()(code)
    expectType<string | undefined>()(language)
    return code
  },
})

export const barePrompt = createPrompt({
  get: (args) => {
    expectType<Record<string, string>>()(args)
    return ''
  },
})

export const resource = createResource({
  uriTemplate: 'users://{id}',
  read: ({ uri, variables }) => {
    expectType<string>()(uri)
    expectType<Record<string, string>>()(variables)
    return uri
  },
})

// @ts-expect-error a resource has a uri or a uriTemplate
export const nowhere = createResource({ read: () => '' })

/** A tool of another framework: the same shape, with a context of its own. */
const foreign = {
  id: 'foreign',
  description: 'From elsewhere',
  inputSchema: z.object({ a: z.string() }),
  execute: async (input: { a: string }, context?: { mcp?: { extra?: { requestId: unknown } } }) =>
    `${input.a} ${String(context?.mcp?.extra?.requestId)}`,
}

export const server = new MCPServer({
  id: 'types',
  name: 'Types',
  version: '1.0.0',
  tools: { zodTool, shaped, standard, plain, bare, foreign },
  prompts: { prompt, barePrompt },
  resources: { resource },
  setup: (request) => request.tool('bare').update({ description: 'Barer', inputSchema: { a: z.string() } }),
})
export const asAny: AnyTool = zodTool

server.registerTool(
  'registered',
  { inputSchema: { n: z.number() }, outputSchema: { n: z.number() } },
  ({ n }, ctx) => {
    expectType<number>()(n)
    expectType<McpContext>()(ctx)
    return { n }
  },
)
server.registerTool('contextual', {}, (ctx) => expectType<McpContext>()(ctx))
// @ts-expect-error without an inputSchema there is no second parameter
server.registerTool('two', {}, (_input, ctx) => String(ctx))
// @ts-expect-error the output must match
server.registerTool('bad', { outputSchema: { n: z.number() } }, () => ({ n: 'one' }))

// Tokens from the environment: `env` is `Env`, unless it says what it is.
export const declared = staticTokens((env: { CI_TOKEN: string }) => [{ token: env.CI_TOKEN }])
export const checked = staticTokens((env) => [{ token: String(env.CI_TOKEN) }])
// @ts-expect-error: nothing says that this is text.
export const unknownToken = staticTokens((env) => [{ token: env.CI_TOKEN }])
