import { beforeEach, describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { type CallToolResult, createTool, jsonSchema } from '../../src/index.ts'
import { type Answer, callTool, createServer, itemsIn, legacy, META, modern } from './_client.ts'

type Call = typeof modern

/** The result of a tool that returns `output`, without what the protocol adds. */
async function resultOf(output: unknown, call: Call = modern): Promise<Record<string, unknown>> {
  const tool = createTool({ id: 'tool', execute: () => output })
  const answer = await call(createServer({ tools: { tool } }), 'tools/call', { name: 'tool' })
  return bare(answer)
}

function bare({ result }: Answer): Record<string, unknown> {
  const { resultType: _, _meta, ...rest } = result ?? {}
  return rest
}

beforeEach(() => {
  const reported = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  return () => reported.mockRestore()
})

describe('what a tool returns', () => {
  it('a string → one text block [results.text]', async () => {
    expect(await resultOf('Grüße')).toEqual({ content: [{ type: 'text', text: 'Grüße' }] })
  })

  it('nothing → no content [results.text]', async () => {
    expect(await resultOf(undefined)).toEqual({ content: [] })
  })

  it.each([
    [{ total: 3, items: ['a'] }, '{"total":3,"items":["a"]}'],
    [{ content: 'is not a result' }, '{"content":"is not a result"}'],
    [{ content: [{ no: 'type' }] }, '{"content":[{"no":"type"}]}'],
  ])('the object %j → text and structuredContent [results.value]', async (output, text) => {
    expect(await resultOf(output)).toEqual({ content: [{ type: 'text', text }], structuredContent: output })
  })

  it.each([
    [3, '3'],
    [false, 'false'],
    [null, 'null'],
  ])('the primitive %j → text [results.value]', async (output, text) => {
    expect(await resultOf(output)).toEqual({ content: [{ type: 'text', text }] })
  })

  it('dates and other objects with toJSON → what JSON makes of them [results.value]', async () => {
    const text = '{"at":"2026-07-28T00:00:00.000Z"}'
    expect(await resultOf({ at: new Date('2026-07-28') })).toEqual({
      content: [{ type: 'text', text }],
      structuredContent: JSON.parse(text),
    })
  })

  const NO_OBJECTS: [string, unknown, unknown][] = [
    ['a date', new Date('2026-07-28'), '2026-07-28T00:00:00.000Z'],
    ['a URL', new URL('https://shop.example/'), 'https://shop.example/'],
    [
      'a class whose toJSON gives a number',
      new (class {
        toJSON = () => 7
      })(),
      7,
    ],
    ['an object whose toJSON gives nothing but null', { toJSON: () => null }, null],
    ['a boxed string', Object('boxed'), 'boxed'],
  ]
  describe.each([modern, legacy])('what JSON makes no object of', (call) => {
    it.each(NO_OBJECTS)('%s → text alone [results.value]', async (_what, output, json) => {
      expect(await resultOf(output, call)).toEqual({
        content: [{ type: 'text', text: JSON.stringify(json) }],
      })
    })

    it.each(NO_OBJECTS)(
      '%s in a full result → no object to a client [results.value]',
      async (_what, output, json) => {
        const { structuredContent } = await resultOf({ content: [], structuredContent: output }, call)
        expect(structuredContent).toEqual(call === modern ? json : undefined)
      },
    )

    it.each(NO_OBJECTS)(
      '%s where an object is promised → the server’s fault [results.output-schema]',
      async (_what, output) => {
        const outputSchema = jsonSchema({ type: 'object' })
        const tool = createTool({ id: 'tool', outputSchema, execute: () => output as never })
        const { result } = await call(createServer({ tools: { tool } }), 'tools/call', { name: 'tool' })
        expect(result).toMatchObject({ isError: true })
      },
    )
  })

  it('an instance of a class is an object to every client [results.value]', async () => {
    const output = new (class Order {
      total = 3
    })()
    for (const call of [modern, legacy])
      expect((await resultOf(output, call)).structuredContent).toEqual({ total: 3 })
  })

  it.each([
    ['a circular object', () => ring()],
    ['a bigint', () => ({ count: 1n })],
    ['a circular object in a full result', () => ({ content: [], structuredContent: ring() })],
  ])('%s, which is no JSON → isError, not a protocol error [results.value]', async (_kind, output) => {
    expect(await resultOf(output())).toMatchObject({ isError: true })
  })

  it('a full result → sent as it is, every kind of block [results.content]', async () => {
    const full: CallToolResult = {
      content: [
        { type: 'text', text: 'look', annotations: { audience: ['user'], priority: 1 }, _meta: { k: 1 } },
        { type: 'image', data: 'AAAA', mimeType: 'image/png' },
        { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' },
        { type: 'resource', resource: { uri: 'test://text', mimeType: 'text/plain', text: 'inside' } },
        { type: 'resource', resource: { uri: 'test://blob', mimeType: 'image/png', blob: 'AAAA' } },
        {
          type: 'resource_link',
          uri: 'test://link',
          name: 'link',
          title: 'A link',
          size: 3,
          icons: [{ src: 'data:,' }],
        },
      ],
      structuredContent: { seen: 6 },
      isError: false,
    }
    expect(await resultOf(full)).toEqual(full)
    expect(await resultOf(full, legacy)).toEqual(full)
  })

  it('its _meta → beside our serverInfo [results.meta]', async () => {
    const tool = createTool({
      id: 'tool',
      execute: () => ({ content: [], _meta: { 'mcp.example/trace': 'abc' } }),
    })
    const server = createServer({ tools: { tool } })
    expect((await callTool(server, 'tool')).result?._meta).toEqual({
      'mcp.example/trace': 'abc',
      [META.serverInfo]: { name: 'Test', version: '1.0.0' },
    })
  })

  it('its _meta with a serverInfo → is kept: a relay passes on whose result it is [results.meta]', async () => {
    const upstream = { name: 'Upstream', version: '9' }
    const output = { content: [], _meta: { [META.serverInfo]: upstream } }
    const tool = createTool({ id: 'tool', execute: () => output })
    const server = createServer({ tools: { tool } })
    expect((await callTool(server, 'tool')).result?._meta).toEqual({ [META.serverInfo]: upstream })
  })
})

describe('outputSchema', () => {
  const outputSchema = z.object({ total: z.number().int() })
  const withOutput = (output: unknown, schema: z.ZodType = outputSchema) =>
    createServer({
      tools: { sum: createTool({ id: 'sum', outputSchema: schema, execute: () => output as never }) },
    })

  it.each([modern, legacy])('is listed, and what matches is sent [results.output-schema]', async (call) => {
    const server = withOutput({ total: 3 })
    const [tool] = itemsIn(await call(server, 'tools/list'))
    expect(tool?.outputSchema).toMatchObject({ type: 'object', properties: { total: { type: 'integer' } } })
    expect(bare(await call(server, 'tools/call', { name: 'sum' }))).toEqual({
      content: [{ type: 'text', text: '{"total":3}' }],
      structuredContent: { total: 3 },
    })
  })

  it.each([
    ['a value', { total: 'three' }],
    ['a full result', { content: [], structuredContent: { total: 'three' } }],
  ])(
    '%s that does not match → isError that names the field [results.output-schema]',
    async (_kind, output) => {
      const { result } = await callTool(withOutput(output), 'sum')
      expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('total: ') }] })
      expect(result).not.toHaveProperty('structuredContent')
    },
  )

  it('a full result without structuredContent → isError [results.output-schema]', async () => {
    const { result } = await callTool(withOutput({ content: [{ type: 'text', text: 'three' }] }), 'sum')
    expect(result).toMatchObject({ isError: true })
    expect(result).not.toHaveProperty('structuredContent')
  })

  it('an isError result of the tool → sent without validation [results.output-schema]', async () => {
    const failure: CallToolResult = { content: [{ type: 'text', text: 'sold out' }], isError: true }
    expect(bare(await callTool(withOutput(failure), 'sum'))).toEqual(failure)
  })

  it('an asynchronous schema is awaited [results.output-schema]', async () => {
    const schema = outputSchema.refine(async ({ total }) => total < 10)
    expect((await callTool(withOutput({ total: 3 }, schema), 'sum')).result).toMatchObject({
      structuredContent: { total: 3 },
    })
    expect((await callTool(withOutput({ total: 30 }, schema), 'sum')).result).toMatchObject({ isError: true })
  })
})

describe('structuredContent that is no object', () => {
  const tools = {
    users: createTool({ id: 'users', outputSchema: z.array(z.string()), execute: () => ['ada'] }),
    count: createTool({
      id: 'count',
      outputSchema: jsonSchema<number>({ type: 'integer' }),
      execute: () => 0,
    }),
    greeting: createTool({ id: 'greeting', outputSchema: z.string(), execute: () => 'hi' }),
    free: createTool({ id: 'free', execute: () => ['ada'] }),
  }

  it.each([
    ['users', ['ada']],
    ['count', 0],
    ['greeting', 'hi'],
    ['free', ['ada']],
  ])('modern: %s → %j [results.any-json]', async (name, value) => {
    expect((await callTool(createServer({ tools }), name)).result?.structuredContent).toEqual(value)
  })

  it.each(Object.keys(tools))(
    'legacy: %s → text alone, and no outputSchema in the list [results.legacy-object]',
    async (name) => {
      const server = createServer({ tools })
      const { result } = await legacy(server, 'tools/call', { name })
      expect(result).not.toHaveProperty('structuredContent')
      expect(result?.content).toMatchObject([{ type: 'text' }])
      for (const tool of itemsIn(await legacy(server, 'tools/list'))) {
        expect(tool).not.toHaveProperty('outputSchema')
      }
    },
  )
})

function ring(): object {
  const circle: { self?: object } = {}
  circle.self = circle
  return circle
}
