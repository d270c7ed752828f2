/** What `createTool` returns can be called without a server; tools as other frameworks once had them are refused by name. */
import { describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { type AnyTool, createTool, MCPServer, type McpContext } from '../../src/index.ts'
import { callTool, createServer, META, modern, textOf } from './_client.ts'

const look = vi.fn((_input: { city: string; days: number }, _context: McpContext) => ({ degrees: 21 }))
const weather = createTool({
  id: 'weather',
  inputSchema: z.object({ city: z.string(), days: z.coerce.number().default(1) }),
  outputSchema: z.object({ degrees: z.number() }),
  execute: (input, context) => look(input, context),
})

describe('tool.execute(input)', () => {
  it('runs with what validation yields, and a context made for it', async () => {
    expect(await weather.execute({ city: 'Bern' })).toEqual({ degrees: 21 })
    const [input, context] = look.mock.lastCall!
    expect(input).toEqual({ city: 'Bern', days: 1 })
    expect(context).toMatchObject({ era: 'modern', clientCapabilities: {} })
    expect(context.signal.aborted).toBe(false)
    expect(await context.step('once', () => new Date(0))).toBe('1970-01-01T00:00:00.000Z')
    expect(context.can('elicitation.form').available).toBe(false)
  })

  it.each([
    ['input', weather, { city: 5 }, 'Invalid arguments for tool weather: city: '],
    [
      'a result',
      createTool({ ...weather, execute: () => ({ degrees: Number.NaN }) }),
      { city: 'Bern' },
      'outputSchema',
    ],
  ])('%s that does not match its schema → Error', async (_kind, tool, input, message) => {
    await expect(tool.execute(input as { city: string })).rejects.toThrow(message)
  })

  it('a tool that asks → Error, as there is no client to ask', async () => {
    const asking = createTool({
      id: 'asking',
      execute: (_input, ctx) => ctx.elicit('Sure?', { yes: z.boolean() }),
    })
    await expect(asking.execute()).rejects.toThrow('needs a client')
  })

  it('what it throws reaches the caller as it is', async () => {
    const fault = new Error('no')
    const failing = createTool({
      id: 'failing',
      execute: () => {
        throw fault
      },
    })
    await expect(failing.execute()).rejects.toBe(fault)
  })
})

describe('tool.execute(input, context)', () => {
  it('each member takes the place of the context’s own', async () => {
    const auth = { token: 't', clientId: 'ci', scopes: [] }
    const given = { requestContext: new Map([['tier', 'gold']]), auth, env: { A: 1 } }
    await weather.execute({ city: 'Bern' }, given)
    const context = look.mock.lastCall![1]
    expect(context.requestContext.get('tier')).toBe('gold')
    expect(context).toMatchObject({ auth, env: { A: 1 } })
  })

  it('does not run where it is aborted before', async () => {
    const ran: string[] = []
    const tool = createTool({ id: 'ran', execute: () => void ran.push('ran') })
    const signal = AbortSignal.abort(new Error('too late'))
    await expect(tool.execute({}, { signal })).rejects.toThrow('too late')
    const other = new AbortController()
    other.abort(new Error('the other'))
    const both = { signal: new AbortController().signal, abortSignal: other.signal }
    await expect(tool.execute({}, both)).rejects.toThrow('the other')
    expect(ran).toEqual([])
  })

  it.each(['signal', 'abortSignal'])('%s ends the call', async (member) => {
    const controller = new AbortController()
    await weather.execute({ city: 'Bern' }, { [member]: controller.signal })
    const during = createTool({
      id: 'during',
      execute: (_input, ctx) => {
        controller.abort(new Error('enough'))
        return ctx.signal.aborted
      },
    })
    expect(await during.execute({}, { [member]: controller.signal })).toBe(true)
  })

  it('the context of another tool’s call: asks that tool’s user', async () => {
    const inner = createTool({
      id: 'inner',
      inputSchema: z.object({ what: z.string() }),
      execute: async ({ what }, ctx) => (await ctx.elicit(what, { yes: z.boolean() })).action,
    })
    const outer = createTool({ id: 'outer', execute: (_input, ctx) => inner.execute({ what: 'Sure?' }, ctx) })
    const server = createServer({ tools: { outer } })
    const meta = { [META.clientCapabilities]: { elicitation: { form: {} } } }
    const { result } = await callTool(server, 'outer', {}, { meta })
    const [key] = Object.keys(result?.inputRequests as object)
    const inputResponses = { [key!]: { action: 'decline' } }
    expect(textOf(await modern(server, 'tools/call', { name: 'outer', inputResponses }, { meta }))).toBe(
      'decline',
    )
  })

  it('a server runs the function as it was written: its input is validated once', async () => {
    const validate = vi.fn((value: unknown) => ({ value }))
    const inputSchema = {
      '~standard': {
        version: 1 as const,
        vendor: 'test',
        validate,
        jsonSchema: { input: () => ({ type: 'object' }), output: () => ({}) },
      },
    }
    const tool = createTool({ id: 'tool', inputSchema, execute: () => 'ran' })
    expect(textOf(await callTool(createServer({ tools: { tool } }), 'tool', {}))).toBe('ran')
    expect(validate).toHaveBeenCalledOnce()
  })
})

describe('refused by name', () => {
  const serve = (tool: AnyTool) => createServer({ tools: { old: tool } }).executeTool('old', {})
  const inputSchema = z.object({ city: z.string().optional() })

  it.each<[string, AnyTool['execute']]>([
    ['an arrow', async ({ context }) => context.city],
    ['several members', ({ runtimeContext, context }) => [runtimeContext, context.city]],
    ['a rename', ({ context: given }) => given.city],
    ['a pattern', ({ context: { city } }) => city],
    ['a default', ({ context = {} }) => context],
    [
      'a function',
      async function run({ context }) {
        return context.city
      },
    ],
    [
      'a method',
      {
        async execute({ context }: { context: { city: string } }) {
          return context.city
        },
      }.execute,
    ],
  ])('execute({ context }) as %s → TypeError that says what changed', async (_form, execute) => {
    await expect(serve({ inputSchema, execute })).rejects.toThrow(
      new TypeError(
        'Tool "old" reads its input from "context", as in Mastra 0.x: write execute(input, context).',
      ),
    )
  })

  it.each<[string, AnyTool]>([
    [
      'an input that has such a member',
      {
        inputSchema: z.object({ context: z.string().optional() }),
        execute: ({ context }) => typeof context,
      },
    ],
    ['a variable of that name', { inputSchema, execute: ({ city: context }) => typeof context }],
    ['the second parameter', { inputSchema, execute: (_input, context) => typeof context.city }],
  ])('%s is none of that', async (_kind, tool) => {
    expect(await serve(tool)).toBe('undefined')
  })

  it('`parameters` of the AI SDK → TypeError at construction', () => {
    const old = { parameters: z.object({ city: z.string() }), execute: () => '' }
    expect(() => new MCPServer({ id: 'x', name: 'X', version: '1', tools: { old } })).toThrow(
      new TypeError('Tool "old" has "parameters": write "inputSchema".'),
    )
  })
})

it('a BigInt in a result → isError that names the tool', async () => {
  const sum = createTool({ id: 'sum', execute: () => ({ total: 3n }) })
  const answer = await callTool(createServer({ tools: { sum } }), 'sum')
  expect(answer.result?.isError).toBe(true)
  expect(textOf(answer)).toMatch(/^Tool "sum" returned a result that cannot be sent: .*BigInt/)
})

it('a block of a type that MCP has not → isError that says which there are', async () => {
  const type: string = 'txt'
  const typo = createTool({ id: 'typo', execute: () => ({ content: [{ type, text: 'x' }] }) })
  expect(textOf(await callTool(createServer({ tools: { typo } }), 'typo'))).toBe(
    'Tool "typo" returned a result that cannot be sent: content of type "txt" (use text, image, audio, resource, resource_link)',
  )
})

it.each([
  [{ type: 'text', text: 42 }, 'content of type "text" needs a string as "text"'],
  [{ type: 'text' }, 'content of type "text" needs a string as "text"'],
  [
    { type: 'image', mimeType: 'image/png', data: Uint8Array.of(1) },
    'content of type "image" needs base64 as "data"',
  ],
  [
    { type: 'audio', mimeType: 'audio/wav', data: Buffer.of(1) },
    'content of type "audio" needs base64 as "data"',
  ],
  [{ type: 'image', data: 'AQ==' }, 'content of type "image" needs a string as "mimeType"'],
  [{ type: 'resource_link', uri: 'file:///a' }, 'content of type "resource_link" needs a string as "name"'],
])('a block without its strings, %o → isError that says what it needs', async (block, needs) => {
  const draw: AnyTool = { execute: () => ({ content: [block] }) }
  const answer = await callTool(createServer({ tools: { draw } }), 'draw')
  expect(answer.result?.isError).toBe(true)
  expect(textOf(answer)).toBe(`Tool "draw" returned a result that cannot be sent: ${needs}`)
})

it('a URL in a block is sent as its text', async () => {
  const link: AnyTool = {
    execute: () => ({ content: [{ type: 'text', text: new URL('https://shop.example/') }] }),
  }
  expect(textOf(await callTool(createServer({ tools: { link } }), 'link'))).toBe('https://shop.example/')
})

it.each([
  ['Uint8Array', Uint8Array.of(1, 2)],
  ['Uint8Array', Buffer.of(1, 2)],
  ['Float32Array', Float32Array.of(1, 2)],
])('%s as a result → isError, and not a member for each byte', async (kind, bytes) => {
  const read: AnyTool = { execute: () => bytes }
  const answer = await callTool(createServer({ tools: { read } }), 'read')
  expect(answer.result?.isError).toBe(true)
  expect(textOf(answer)).toContain(`execute returned an object of type ${kind}: return its content instead.`)
})
