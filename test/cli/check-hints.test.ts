/** `mayfly check` on what the specification allows, and some clients or models take badly. */
import { expect, test } from 'vitest'
import { type Report, runProbes } from '../../deploy/check/run.ts'
import { createTool, type jsonSchema, type MCPServerConfig } from '../../src/index.ts'
import { runCheck } from './_check-command.ts'
import { mayfly } from './_check-servers.ts'
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
    /\n {2}hint {6}a result that is not there twice +"list": the text repeats structuredContent, about \d+ tokens/,
  ],
  [true, /\n {2}works {5}a result that is not there twice/],
] as const)('--call: a brief text (%s)', async ([isBrief, said]) => {
  await using running = await mayfly({ tools: list(isBrief) })
  const { code, stdout } = await runCheck([running.url.href, '--call', 'list'])

  expect(code).toBe(0)
  expect(stdout).toMatch(said)
  expect(stdout).toMatch(isBrief ? /skipped\n$/ : /skipped, 1 hint\n$/)
})
