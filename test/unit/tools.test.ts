import { beforeEach, describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { createTool, ErrorCode, type McpContext, ProtocolError } from '../../src/index.ts'
import { eventually } from '../_eventually.ts'
import { callTool, createServer, itemsIn, legacy, modern, namesIn, textOf } from './_client.ts'

const greet = createTool({
  id: 'greet-v2',
  title: 'Greet',
  description: 'Says hello',
  inputSchema: z.object({ name: z.string(), loud: z.boolean().default(false) }),
  mcp: {
    annotations: { readOnlyHint: true, openWorldHint: false },
    icons: [{ src: 'https://mcp.example/greet.png', sizes: ['48x48'] }],
    _meta: { 'mcp.example/cost': 1 },
  },
  execute: ({ name, loud }) => (loud ? `HELLO ${name}` : `Hello ${name}`),
})

let reported: ReturnType<typeof vi.spyOn>
beforeEach(() => {
  reported = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  return () => reported.mockRestore()
})

describe('tools/list', () => {
  it.each([modern, legacy])('shows everything a tool declares [tools.list]', async (call) => {
    const { result } = await call(createServer({ tools: { greet } }), 'tools/list')
    expect(result?.tools).toEqual([
      {
        name: 'greet',
        title: 'Greet',
        description: 'Says hello',
        inputSchema: expect.objectContaining({
          type: 'object',
          properties: { name: { type: 'string' }, loud: { type: 'boolean', default: false } },
          required: ['name'],
        }),
        annotations: { readOnlyHint: true, openWorldHint: false },
        icons: [{ src: 'https://mcp.example/greet.png', sizes: ['48x48'] }],
        _meta: { 'mcp.example/cost': 1 },
      },
    ])
  })

  it('keeps the order of definition: tools, agents, workflows, registered ones among the tools [tools.order]', async () => {
    const server = createServer({
      tools: { zebra: greet, ant: greet },
      workflows: { nightly: { description: 'Nightly work', createRun: () => ({ start: async () => 1 }) } },
      agents: { helper: { description: 'Helps', generate: async () => ({ text: '' }) } },
    })
    server.registerTool('middle', {}, () => 'm')
    const expected = ['zebra', 'ant', 'middle', 'ask_helper', 'run_nightly']
    expect(namesIn(await modern(server, 'tools/list'))).toEqual(expected)
    expect(namesIn(await modern(server, 'tools/list'))).toEqual(expected)
  })

  it('a server without tools has no tools/list', async () => {
    const answer = await modern(createServer(), 'tools/list')
    expect([answer.status, answer.error?.code]).toEqual([404, ErrorCode.methodNotFound])
  })
})

describe('tools/call', () => {
  it('is by the key in `tools`; the id is no name [tools.name]', async () => {
    const server = createServer({ tools: { greet } })
    expect(textOf(await callTool(server, 'greet', { name: 'Ada' }))).toBe('Hello Ada')
    expect((await callTool(server, 'greet-v2', { name: 'Ada' })).error?.code).toBe(ErrorCode.invalidParams)
  })

  it.each(['nothing', 'constructor', '__proto__', 'toString'])(
    'unknown tool %j → -32602 [tools.unknown]',
    async (name) => {
      const answer = await callTool(createServer({ tools: { greet } }), name, {})
      expect([answer.status, answer.error?.code]).toEqual([200, ErrorCode.invalidParams])
    },
  )

  it('applies defaults, and drops what the schema does not know [tools.arguments]', async () => {
    const execute = vi.fn(() => 'done')
    const echo = createTool({ id: 'echo', inputSchema: z.object({ size: z.number().default(3) }), execute })
    const server = createServer({ tools: { echo } })
    await callTool(server, 'echo')
    await callTool(server, 'echo', { size: 7, stray: true })
    expect(execute.mock.calls.map((call: unknown[]) => call[0])).toEqual([{ size: 3 }, { size: 7 }])
  })

  it('invalid arguments → isError that names each field, execute not run [tools.invalid-arguments]', async () => {
    const execute = vi.fn(() => 'done')
    const book = createTool({
      id: 'book',
      inputSchema: z.object({ seat: z.object({ row: z.number() }), names: z.array(z.string()) }),
      execute,
    })
    const answer = await callTool(createServer({ tools: { book } }), 'book', {
      seat: { row: 'A' },
      names: ['Ada', 5],
    })
    expect(answer.result).toMatchObject({ isError: true })
    expect(textOf(answer)).toContain('seat.row: ')
    expect(textOf(answer)).toContain('names.1: ')
    expect(execute).not.toHaveBeenCalled()
    expect(reported).not.toHaveBeenCalled()
  })

  it.each([[[]], ['text'], [null], [4]])('arguments %j → -32602 [malformed.params]', async (args) => {
    const answer = await callTool(createServer({ tools: { greet } }), 'greet', args)
    expect([answer.status, answer.error?.code]).toEqual([200, ErrorCode.invalidParams])
    expect(answer.error?.message).toContain('arguments')
  })

  it.each([
    ['a sync throw', () => fail()],
    ['a rejection', async () => fail()],
  ])('%s → isError with the message, without the stack [tools.thrown-error]', async (_kind, execute) => {
    const boom = createTool({ id: 'boom', execute })
    const answer = await callTool(createServer({ tools: { boom } }), 'boom')
    expect(answer.status).toBe(200)
    expect(answer.result).toMatchObject({
      content: [{ type: 'text', text: 'The shop is closed.' }],
      isError: true,
    })
    expect(JSON.stringify(answer.message)).not.toContain('tools.test')
  })

  it('a thrown value that is no Error → isError with it as text [tools.thrown-error]', async () => {
    const boom = createTool({ id: 'boom', execute: () => Promise.reject('just text') })
    const answer = await callTool(createServer({ tools: { boom } }), 'boom')
    expect(answer.result).toMatchObject({ content: [{ type: 'text', text: 'just text' }], isError: true })
  })

  it.each([modern, legacy])(
    'a thrown ProtocolError → its code, message and data [tools.protocol-error]',
    async (call) => {
      const order = createTool({
        id: 'order',
        execute: () => {
          throw new ProtocolError(-31_000, 'Unknown order: 42', { orderId: '42' })
        },
      })
      const answer = await call(createServer({ tools: { order } }), 'tools/call', { name: 'order' })
      expect(answer.status).toBe(200)
      expect(answer.error).toEqual({ code: -31_000, message: 'Unknown order: 42', data: { orderId: '42' } })
      expect(reported).not.toHaveBeenCalled()
    },
  )
})

describe('registerTool', () => {
  it('serves what createTool does [tools.register]', async () => {
    const server = createServer()
    server.registerTool(
      'area',
      {
        title: 'Area',
        description: 'Of a rectangle',
        inputSchema: { width: z.number(), height: z.number() },
        outputSchema: { area: z.number() },
        annotations: { idempotentHint: true },
        icons: [{ src: 'data:image/png;base64,AA==' }],
        _meta: { 'mcp.example/unit': 'm2' },
      },
      ({ width, height }) => ({ area: width * height }),
    )
    const [tool] = itemsIn(await modern(server, 'tools/list'))
    expect(tool).toMatchObject({
      name: 'area',
      title: 'Area',
      description: 'Of a rectangle',
      annotations: { idempotentHint: true },
      icons: [{ src: 'data:image/png;base64,AA==' }],
      _meta: { 'mcp.example/unit': 'm2' },
    })
    const answer = await callTool(server, 'area', { width: 2, height: 3 })
    expect(answer.result?.structuredContent).toEqual({ area: 6 })
  })

  it('without an inputSchema the callback gets the context alone [tools.register]', async () => {
    const server = createServer()
    const callback = vi.fn((context: McpContext) => context.era)
    server.registerTool('era', {}, callback)
    expect(textOf(await callTool(server, 'era', { stray: 1 }))).toBe('modern')
    expect(callback.mock.calls[0]).toHaveLength(1)
  })

  it('a name that is taken → TypeError', () => {
    const server = createServer({ tools: { greet } })
    expect(() => server.registerTool('greet', {}, () => '')).toThrow(TypeError)
  })
})

describe('hooks', () => {
  it('see the validated input and the output, with name and context [tools.hooks]', async () => {
    const onInputAvailable = vi.fn()
    const onOutput = vi.fn()
    const double = createTool({
      id: 'double',
      inputSchema: z.object({ n: z.coerce.number() }),
      onInputAvailable,
      onOutput,
      execute: ({ n }) => ({ n: n * 2 }),
    })
    await callTool(createServer({ tools: { double } }), 'double', { n: '4' })
    const call = {
      toolName: 'double',
      context: expect.objectContaining({ era: 'modern' }),
    }
    expect(onInputAvailable).toHaveBeenCalledExactlyOnceWith({ input: { n: 4 }, ...call })
    expect(onOutput).toHaveBeenCalledExactlyOnceWith({ output: { n: 8 }, ...call })
  })

  it.each([
    ['throws', () => fail()],
    ['rejects', async () => fail()],
  ])('one that %s is reported and fails nothing [tools.hooks]', async (_kind, hook) => {
    const onError = vi.fn()
    const steady = createTool({ id: 'steady', onInputAvailable: hook, onOutput: hook, execute: () => 'fine' })
    const answer = await callTool(createServer({ tools: { steady }, onError }), 'steady')
    expect(answer.result).toMatchObject({ content: [{ type: 'text', text: 'fine' }] })
    expect(answer.result?.isError).toBeUndefined()
    await eventually(() => expect(onError).toHaveBeenCalledTimes(2))
    expect(onError.mock.calls[0]?.[0]).toEqual(new Error('The shop is closed.'))
  })

  it('are not waited for: one that never ends holds no answer [tools.hooks]', async () => {
    const endless = vi.fn(() => new Promise<never>(() => {}))
    const steady = createTool({
      id: 'steady',
      onInputAvailable: endless,
      onOutput: endless,
      execute: () => 'fine',
    })
    expect(textOf(await callTool(createServer({ tools: { steady } }), 'steady'))).toBe('fine')
    expect(endless).toHaveBeenCalledTimes(2)
  })

  it('onOutput: with an outputSchema it is the value, whatever is around it; an error is none [tools.hooks]', async () => {
    const onOutput = vi.fn()
    const outputSchema = z.object({ n: z.number() })
    const whole = createTool({
      id: 'whole',
      inputSchema: z.object({ isError: z.boolean() }),
      outputSchema,
      onOutput,
      execute: ({ isError }) => ({
        content: [{ type: 'text', text: '1' }],
        structuredContent: { n: 1 },
        isError,
      }),
    })
    const server = createServer({ tools: { whole } })
    await callTool(server, 'whole', { isError: true })
    expect(onOutput).not.toHaveBeenCalled()
    await callTool(server, 'whole', { isError: false })
    expect(onOutput).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ output: { n: 1 } }))
  })

  it('executeTool runs them [tools.hooks]', async () => {
    const onInputAvailable = vi.fn()
    const onOutput = vi.fn()
    const echo = createTool({
      id: 'echo',
      inputSchema: z.object({ n: z.number() }),
      onInputAvailable,
      onOutput,
      execute: ({ n }) => n,
    })
    await createServer({ tools: { echo } }).executeTool('echo', { n: 1 })
    expect(onInputAvailable).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ input: { n: 1 } }))
    expect(onOutput).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ output: 1, toolName: 'echo' }))
  })

  it('do not run for invalid arguments, nor onOutput after a throw [tools.hooks]', async () => {
    const onInputAvailable = vi.fn()
    const onOutput = vi.fn()
    const boom = createTool({
      id: 'boom',
      inputSchema: z.object({ n: z.number() }),
      onInputAvailable,
      onOutput,
      execute: () => fail(),
    })
    const server = createServer({ tools: { boom } })
    await callTool(server, 'boom', {})
    expect(onInputAvailable).not.toHaveBeenCalled()
    await callTool(server, 'boom', { n: 1 })
    expect(onInputAvailable).toHaveBeenCalledOnce()
    expect(onOutput).not.toHaveBeenCalled()
  })
})

describe('enabled: false', () => {
  const admin = createTool({ id: 'admin', enabled: false, execute: () => 'in charge' })

  it('is neither listed nor callable [tools.hidden]', async () => {
    const server = createServer({ tools: { greet, admin } })
    expect(namesIn(await modern(server, 'tools/list'))).toEqual(['greet'])
    expect((await callTool(server, 'admin')).error?.code).toBe(ErrorCode.invalidParams)
  })

  it('is both once setup has enabled it [tools.hidden]', async () => {
    const server = createServer({
      tools: { greet, admin },
      setup: (request) => request.tool('admin').enable(),
    })
    expect(namesIn(await modern(server, 'tools/list'))).toEqual(['greet', 'admin'])
    expect(textOf(await callTool(server, 'admin'))).toBe('in charge')
  })
})

function fail(): never {
  throw new Error('The shop is closed.')
}
