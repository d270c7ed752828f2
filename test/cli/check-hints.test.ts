/** `mayfly check` on what the specification allows, and some clients or models take badly. */
import { expect, test } from 'vitest'
import * as z from 'zod'
import { type Report, runProbes } from '../../deploy/check/run.ts'
import { createTool, type jsonSchema, type MCPServerConfig } from '../../src/index.ts'
import { runCheck } from './_check-command.ts'
import { type Breakage, broken, mayfly } from './_check-servers.ts'
import { createEcho } from './_connecting-server.ts'

type Tools = NonNullable<MCPServerConfig['tools']>

function hintsIn({ results }: Report): Record<string, string> {
  const hints = results.filter(({ id }) => id.startsWith('hints.'))
  return Object.fromEntries(hints.map(({ id, verdict, detail }) => [id.slice(6), `${verdict}: ${detail}`]))
}

async function check(tools: Tools): Promise<Report> {
  await using running = await mayfly({ tools })
  return await runProbes({
    url: running.url,
    bearer: undefined,
    headers: {},
    timeoutMs: 5000,
    origin: undefined,
  })
}

const withSchema = (schema: Parameters<typeof jsonSchema>[0]): Tools => ({
  pick: createEcho('pick', { schema }),
})

test('a plain server: no hint, and no tool is called', async () => {
  expect(hintsIn(await check({ echo: createEcho() }))).toEqual({
    names: 'works: all 1',
    schemas: 'works: all 1',
    size: expect.stringMatching(/^works: 1 tools, about \d+ tokens$/),
    result: 'skipped: no tool is called: name one with --call',
  })
})

test.for([
  ['a name with a dot', { 'a.b': createEcho('a.b') }, 'names', /^hint: "a\.b"/],
  [
    'anyOf at the root',
    withSchema({ type: 'object', anyOf: [{ required: ['a'] }] }),
    'schemas',
    /^hint: anyOf at the root of "pick"/,
  ],
  [
    'a keyword that Gemini refuses, deep inside',
    withSchema({ type: 'object', properties: { a: { type: 'array', items: { patternProperties: {} } } } }),
    'schemas',
    /^hint: patternProperties in "pick"/,
  ],
  [
    'a property that only has the name of such a keyword',
    withSchema({ type: 'object', properties: { dependencies: { type: 'string', enum: ['multipleOf'] } } }),
    'schemas',
    /^works/,
  ],
  [
    'many tools',
    Object.fromEntries(Array.from({ length: 41 }, (_, index) => [`t${index}`, createEcho(`t${index}`)])),
    'size',
    /^hint: 41 tools/,
  ],
] as const)('%s', async ([, tools, id, said]) => {
  const report = await check(tools)

  expect(hintsIn(report)[id]).toMatch(said)
  expect(report.results.filter(({ verdict }) => verdict === 'wrong')).toEqual([])
})

const list = (isBrief: boolean): Tools => ({
  list: createTool({
    id: 'list',
    description: 'Lists much',
    execute: () => {
      const structuredContent = { rows: Array.from({ length: 100 }, (_, index) => `row number ${index}`) }
      const text = isBrief ? '100 rows' : JSON.stringify(structuredContent)
      return { content: [{ type: 'text', text }], structuredContent }
    },
  }),
})

test.for([
  [
    false,
    /\n {2}hint {6}a result without duplicated data +"list": the text repeats structuredContent, about \d+ tokens/,
  ],
  [true, /\n {2}works {5}a result without duplicated data/],
] as const)('--call: a brief text (%s)', async ([isBrief, said]) => {
  await using running = await mayfly({ tools: list(isBrief) })
  const { code, stdout } = await runCheck([running.url.href, '--call', 'list'])

  expect(code).toBe(0)
  expect(stdout).toMatch(said)
  expect(stdout).toMatch(isBrief ? /skipped\n\nNext: / : /skipped, 1 hint\n\nNext: /)
})

const asking: Tools = {
  confirm: createTool({
    id: 'confirm',
    description: 'Asks its user',
    execute: async (_input, ctx) => (await ctx.elicit('Sure?', z.object({ sure: z.boolean() }))).action,
  }),
  summarize: createTool({
    id: 'summarize',
    description: 'Asks the model of its client',
    execute: async (_input, ctx) => {
      const content = { type: 'text', text: 'Hello' } as const
      return (await ctx.createMessage({ messages: [{ role: 'user', content }], maxTokens: 9 })).model
    },
  }),
}

test.for([
  [
    'confirm',
    0,
    /\n {2}skipped {3}a result [^\n]+ "confirm": the tool asks its user, which check cannot do\n/,
  ],
  ['summarize', 0, /\n {2}skipped {3}a result [^\n]+ "summarize": the tool needs a client capability/],
] as const)('--call %s → exit code %d', async ([tool, exitCode, said]) => {
  await using running = await mayfly({ tools: asking })
  const { code, stdout } = await runCheck([running.url.href, '--call', tool])

  expect(stdout).toMatch(said)
  expect(code).toBe(exitCode)
})

test('--call of a tool that the server does not list is a mistake in the command, and no fault of the server', async () => {
  await using running = await mayfly({ tools: asking })
  const { code, stdout, stderr } = await runCheck([running.url.href, '--call', 'nope'])

  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toMatch(
    /^mayfly: this server lists no tool "nope": pass --call with "confirm", "summarize"\n/,
  )
})

test('--call of a tool that the server does not list is called where the list cannot be read', async () => {
  const change: Breakage = async (request, next) => {
    const { method } = (await request
      .clone()
      .json()
      .catch(() => ({}))) as { method?: string }
    return method === 'tools/list' ? new Response('', { status: 500 }) : await next()
  }
  await using running = await broken(change)

  expect((await runCheck([running.url.href, '--call', 'nope'])).stdout).toContain('"nope": HTTP 200, -32602')
})

test('--call of a tool that returns its question unasked is skipped', async () => {
  const inputRequests = { sure: { method: 'elicitation/create', params: { message: 'Sure?' } } }
  const change: Breakage = async (request, next) => {
    const { id, method } = (await request
      .clone()
      .json()
      .catch(() => ({}))) as { id?: number; method?: string }
    const result = { resultType: 'input_required', inputRequests }
    return method === 'tools/call' ? Response.json({ jsonrpc: '2.0', id, result }) : await next()
  }
  await using running = await broken(change)
  const { stdout } = await runCheck([running.url.href, '--call', 'echo'])

  expect(stdout).toContain('"echo": the tool asks its user, which check cannot do')
})
