/** Lists with something wrong in them, results that do not match, and schemas that nobody should run. */
import { expect, it, onTestFinished, vi } from 'vitest'
import { cpuMs } from '../../_cpu.ts'
import {
  duplicates,
  MALFORMED,
  malformed,
  OUTPUTS_OF_NO_OBJECT,
  TEDIOUS_SCHEMAS,
  withOutput,
} from '../../hostile/server/lists.ts'
import { type Era, HELLO, startHostile } from '../../hostile/server/server.ts'
import { visit } from './_hostile.ts'
import { createClient } from './_servers.ts'

const ERAS: readonly Era[] = ['legacy', 'modern']

it.each(ERAS.flatMap((era) => Object.entries(MALFORMED).map(([what, tool]) => [what, era, tool] as const)))(
  'a tool that is malformed (%s, %s) hides no other, and is reported',
  async (_what, era, tool) => {
    const printed = vi.spyOn(console, 'warn').mockImplementation(() => {})
    onTestFinished(() => printed.mockRestore())
    const { client, reported } = await visit(malformed(era, [tool]))

    expect(Object.keys(await client.listTools())).toEqual(['evil_hello'])

    expect(client.errors).toEqual({})
    expect(reported).toMatchObject([{ code: 'MALFORMED', server: 'evil', operation: 'tools/list' }])
    expect(reported[0]!.message).not.toMatch(/\p{Cc}/u)
    expect(reported[0]!.message.length).toBeLessThan(1000)
    expect(printed).not.toHaveBeenCalled()
    expect(await client.callTool('evil', 'hello')).toMatchObject({ content: [{ text: 'Hello' }] })
  },
)

it.each([false, true])(
  'a tool that is nested deeply hides no other (a list of two pages: %s)',
  async (isPaged) => {
    const deep = `{"name":"deep","inputSchema":{"type":"object","x":${'['.repeat(50_000)}${']'.repeat(50_000)}}}`
    const send = async (_url: string | URL, init?: RequestInit): Promise<Response> => {
      const { id, method, params } = JSON.parse(String(init?.body ?? '{}'))
      const member: { readonly [method: string]: string } = {
        'server/discover': '"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}',
        'tools/list': params?.cursor
          ? '"tools":[]'
          : `"tools":[${JSON.stringify(HELLO)},${deep}]${isPaged ? ',"nextCursor":"2"' : ''}`,
      }
      if (member[method] === undefined) return new Response(null, { status: 202 })
      const meta = '"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"e","version":"1"}}'
      const result = `{"resultType":"complete","ttlMs":0,"cacheScope":"private",${meta},${member[method]}}`
      const headers = { 'content-type': 'application/json' }
      return new Response(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`, { headers })
    }
    const onError = vi.fn()
    const client = createClient({
      servers: { evil: { url: 'https://evil.example/mcp', fetch: send } },
      onError,
    })

    expect(Object.keys(await client.listTools())).toEqual(['evil_hello'])
    expect(onError.mock.calls.map(([{ code }]) => code)).toEqual(['MALFORMED'])
  },
)

it.each(ERAS)('the report of a tool with a wrong header (%s) says what is wrong with it', async (era) => {
  const { client, reported } = await visit(malformed(era, [MALFORMED['a header that is used twice']]))

  await client.listTools()

  expect(reported.map(({ message }) => message)).toEqual([
    'MCP server "evil" lists tools that are malformed and were skipped: "bad" (x-mcp-header "x" is used twice).',
  ])
})

it.each(Object.entries(OUTPUTS_OF_NO_OBJECT))(
  'a tool of a legacy server whose outputSchema is none of an object (%s) hides no other',
  async (_what, outputSchema) => {
    const { client, reported } = await visit(malformed('legacy', [{ ...HELLO, name: 'bad', outputSchema }]))

    expect(Object.keys(await client.listTools())).toEqual(['evil_hello'])

    expect(client.errors).toEqual({})
    expect(reported).toMatchObject([
      { code: 'MALFORMED', message: expect.stringContaining('"bad" (its outputSchema ') },
    ])
  },
)

it('of a modern server, outputs may be any JSON', async () => {
  const { client, reported } = await visit(withOutput({ type: 'array' }, ['x'], 'modern'))

  expect(await (await client.listTools()).evil_hello!.execute({})).toEqual(['x'])

  expect(reported).toEqual([])
})

it('a tool of very many headers takes no time', async () => {
  const properties = Object.fromEntries(
    Array.from({ length: 60_000 }, (_, index) => [
      `p${index}`,
      { type: 'string', 'x-mcp-header': `h${index}` },
    ]),
  )
  const { client } = await visit(
    malformed('legacy', [{ name: 'many', inputSchema: { type: 'object', properties } }]),
  )
  const before = cpuMs()

  expect(Object.keys(await client.listTools())).toEqual(['evil_many', 'evil_hello'])

  expect(cpuMs() - before).toBeLessThan(4000)
})

it('very many malformed tools are one report', async () => {
  const { client, reported } = await visit(
    malformed(
      'legacy',
      Array.from({ length: 5000 }, () => null),
    ),
  )

  expect(Object.keys(await client.listTools())).toEqual(['evil_hello'])

  expect(reported).toHaveLength(1)
  expect(reported[0]!.message).toContain('and 4995 more')
})

it('malformed resources, templates and prompts hide no others', async () => {
  const good = { resources: { name: 'r', uri: 'r://1' }, prompts: { name: 'p' } }
  const template = { name: 't', uriTemplate: 't://{x}' }
  const { client, reported } = await visit(
    startHostile(
      ({ message, result }) => {
        if (message?.method === 'resources/list')
          result({ resources: [null, { name: 'x' }, { name: 'x', uri: 'a\nb' }, good.resources] })
        else if (message?.method === 'resources/templates/list')
          result({ resourceTemplates: [{ uriTemplate: 1 }, template] })
        else if (message?.method === 'prompts/list')
          result({ prompts: [{ name: 1 }, { name: 'x', arguments: 'y' }, good.prompts] })
        else return false
        return true
      },
      { capabilities: { resources: {}, prompts: {} } },
    ),
  )

  expect(await client.resources.list()).toEqual({ evil: [good.resources] })
  expect(await client.resources.templates()).toEqual({ evil: [template] })
  expect(await client.prompts.list()).toEqual({ evil: [good.prompts] })

  expect(reported.map(({ code, operation }) => `${code} ${operation}`)).toEqual([
    'MALFORMED resources/list',
    'MALFORMED resources/templates/list',
    'MALFORMED prompts/list',
  ])
})

it.each(ERAS)(
  'of two tools of one name (%s) the first is kept, in both listings, and it is said',
  async (era) => {
    const { client, reported } = await visit(duplicates(era))

    const { evil_hello: listed } = await client.listTools()
    const { hello } = (await client.listToolsets()).evil!

    expect(listed!.description).toBe('the first')
    expect(hello!.description).toBe('the first')
    expect(reported.map(({ code }) => code)).toEqual(['NAME_COLLISION', 'NAME_COLLISION'])
  },
)

it('very many tools of one name are one report', async () => {
  const tools = Array.from({ length: 10_000 }, (_, index) => ({ ...HELLO, name: `tool${index % 7}` }))
  const { client, reported } = await visit(startHostile(() => false, { tools }))

  expect(Object.keys(await client.listTools())).toHaveLength(7)

  expect(reported.map(({ message }) => message)).toEqual([
    'MCP server "evil" lists several tools named tool0, tool1, tool2, tool3, tool4, and 2 more: the first is kept.',
  ])
})

it('no tool can take the place of another server’s', async () => {
  const server = await startHostile(() => false, { tools: [{ ...HELLO, name: 'b_pay' }] })
  onTestFinished(() => server[Symbol.asyncDispose]())
  const { url } = server

  for (const names of [
    ['a', 'a_b'],
    ['a_b', 'a'],
    ['a', 'a_'],
    ['_', '__'],
  ]) {
    const servers = Object.fromEntries(names.map((name) => [name, { url }]))
    expect(() => createClient({ servers })).toThrow(TypeError)
  }
  const client = createClient({ servers: { a: { url }, 'a-b': { url }, ab: { url } } })
  expect(Object.keys(await client.listTools())).toEqual(['a_b_pay', 'a-b_b_pay', 'ab_b_pay'])
})

it.each(Object.entries(TEDIOUS_SCHEMAS))(
  'an outputSchema that would take for ever (%s) takes no time',
  async (_what, [schema, value]) => {
    for (const era of ERAS) {
      const { client } = await visit(withOutput(schema, value, era))
      await client.listTools()
      const before = cpuMs()

      expect(await client.callTool('evil', 'hello')).toMatchObject({ structuredContent: value })

      expect(cpuMs() - before).toBeLessThan(2000)
    }
  },
)

const NUMBER = { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] }

it.each<[object, unknown, boolean]>([
  [NUMBER, { sum: 3 }, true],
  [NUMBER, { sum: '3' }, false],
  [NUMBER, {}, false],
  [NUMBER, { sum: 3, more: 1 }, true],
  [{ ...NUMBER, additionalProperties: false }, { sum: 3, more: 1 }, false],
  [{ ...NUMBER, additionalProperties: { type: 'string' } }, { sum: 3, more: 1 }, false],
  [{ ...NUMBER, additionalProperties: false, patternProperties: { m: {} } }, { sum: 3, more: 1 }, true],
  [{ type: 'object', properties: { a: { enum: ['x', 1, null] } } }, { a: null }, true],
  [{ type: 'object', properties: { a: { enum: ['x', 1, null] } } }, { a: 'y' }, false],
  [{ type: 'object', properties: { a: { enum: [{ b: 1 }] } } }, { a: 'y' }, true],
  [{ type: 'object', properties: { a: { const: 'x' } } }, { a: 'y' }, false],
  [{ type: 'object', properties: { a: { type: ['string', 'null'] } } }, { a: null }, true],
  [{ type: 'object', properties: { a: { type: 'integer', minimum: 1 } } }, { a: 0 }, false],
  [{ type: 'object', properties: { a: { type: 'integer' } } }, { a: 1.5 }, false],
  [{ type: 'object', properties: { a: { exclusiveMinimum: 1, exclusiveMaximum: 3 } } }, { a: 2 }, true],
  [{ type: 'object', properties: { a: { exclusiveMinimum: 2 } } }, { a: 2 }, false],
  [{ type: 'object', properties: { a: { exclusiveMaximum: 2 } } }, { a: 2 }, false],
  [{ type: 'object', properties: { a: { maximum: 2 } } }, { a: 3 }, false],
  [{ type: 'object', properties: { a: { minLength: 3 } } }, { a: 'ab' }, false],
  [{ type: 'object', properties: { a: { maxLength: 2 } } }, { a: '𝒜𝒜' }, true],
  [{ type: 'object', properties: { a: { maxLength: 2 } } }, { a: 'abcde' }, false],
  [{ type: 'object', properties: { a: { items: { type: 'string' } } } }, { a: ['x', 1] }, false],
  [{ type: 'object', properties: { a: { prefixItems: [{ type: 'string' }] } } }, { a: [1] }, false],
  [{ type: 'object', properties: { a: { minItems: 2 } } }, { a: [1] }, false],
  [{ type: 'object', properties: { a: { maxItems: 1 } } }, { a: [1, 2] }, false],
  [{ anyOf: [NUMBER, { required: ['error'] }], type: 'object' }, { error: 'x' }, true],
  [{ anyOf: [NUMBER, { required: ['error'] }], type: 'object' }, { other: 'x' }, false],
  [{ oneOf: [NUMBER, { required: ['error'] }], type: 'object' }, { other: 'x' }, false],
  [{ allOf: [NUMBER, { required: ['error'] }], type: 'object' }, { sum: 1 }, false],
  [{ not: { pattern: 'x' }, type: 'object' }, { sum: 1 }, true],
  [{ oneOf: [{ pattern: 'x' }, { pattern: 'y' }], type: 'object' }, { sum: 1 }, true],
  [{ $ref: '#/$defs/none', type: 'object', required: ['x'] }, {}, true],
  [{ $schema: 'http://json-schema.org/draft-04/schema#', type: 'object' }, {}, true],
])('of %j, %j is judged by what is cheap to judge: %j', async (schema, value, isGood) => {
  const { client } = await visit(withOutput(schema, value))
  await client.listTools()

  const called = client.callTool('evil', 'hello')

  if (isGood) expect(await called).toMatchObject({ structuredContent: value })
  else
    await expect(called).rejects.toMatchObject({
      code: 'REQUEST_FAILED',
      message: expect.stringContaining('does not match'),
    })
})
