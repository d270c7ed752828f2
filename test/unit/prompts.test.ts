import { describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import {
  createPrompt,
  ErrorCode,
  jsonSchema,
  type PromptCallbacks,
  type PromptMessage,
} from '../../src/index.ts'
import { createServer, itemsIn, legacy, modern, namesIn } from './_client.ts'

const review = createPrompt({
  title: 'Review',
  description: 'Review some code',
  argsSchema: z.object({
    code: z.string().describe('What to review'),
    language: z.string().meta({ title: 'Language' }).optional(),
    depth: z.coerce.number().max(3).default(1),
  }),
  icons: [{ src: 'data:,' }],
  _meta: { 'mcp.example/k': 1 },
  get: ({ code, language = 'any', depth }) => `Review ${language} at ${depth}: ${code}`,
})

const get = (name: string, args?: object, server = createServer({ prompts: { review } })) =>
  modern(server, 'prompts/get', { name, ...(args && { arguments: args }) })

describe('declared prompts', () => {
  it.each([modern, legacy])('are listed with their arguments [prompts.list]', async (call) => {
    const server = createServer({ prompts: { review } })
    server.registerPrompt('bare', { get: () => 'x' })
    expect(itemsIn(await call(server, 'prompts/list'), 'prompts')).toEqual([
      {
        name: 'review',
        title: 'Review',
        description: 'Review some code',
        arguments: [
          { name: 'code', description: 'What to review', required: true },
          { name: 'language', title: 'Language', required: false },
          { name: 'depth', required: false },
        ],
        icons: [{ src: 'data:,' }],
        _meta: { 'mcp.example/k': 1 },
      },
      { name: 'bare' },
    ])
  })

  it.each([modern, legacy])(
    'text → one message of the user, and the description [prompts.get]',
    async (call) => {
      const { result } = await call(createServer({ prompts: { review } }), 'prompts/get', {
        name: 'review',
        arguments: { code: 'a+b' },
      })
      expect(result).toMatchObject({
        description: 'Review some code',
        messages: [{ role: 'user', content: { type: 'text', text: 'Review any at 1: a+b' } }],
      })
    },
  )

  it('messages and whole results → as they are [prompts.get]', async () => {
    const messages: PromptMessage[] = [
      { role: 'user', content: { type: 'image', data: 'AAAA', mimeType: 'image/png' } },
      { role: 'assistant', content: { type: 'resource', resource: { uri: 'a://b', text: 'x' } } },
    ]
    const server = createServer({
      prompts: {
        list: { description: 'Mine', get: () => messages },
        whole: {
          description: 'Mine',
          get: async () => ({ description: 'Its own', messages, _meta: { n: 1 } }),
        },
      },
    })
    expect((await get('list', undefined, server)).result).toMatchObject({ description: 'Mine', messages })
    expect((await get('whole', undefined, server)).result).toMatchObject({
      description: 'Its own',
      messages,
      _meta: { n: 1 },
    })
  })

  it('arguments reach it validated [prompts.get]', async () => {
    const { result } = await get('review', { code: 'a', depth: '2' })
    expect(JSON.stringify(result?.messages)).toContain('at 2')
  })

  it('without argsSchema it gets what was sent [prompts.get]', async () => {
    const server = createServer({ prompts: { echo: { get: (args: object) => JSON.stringify(args) } } })
    expect(JSON.stringify((await get('echo', { a: 'b' }, server)).result?.messages)).toContain(
      '{\\"a\\":\\"b\\"}',
    )
  })

  it('missing required arguments → -32602 that names each [prompts.arguments]', async () => {
    const pair = createPrompt({
      argsSchema: jsonSchema<{ from: string; to: string }>({
        type: 'object',
        properties: { from: { type: 'string' }, to: { type: 'string' } },
        required: ['from', 'to'],
      }),
      get: ({ from, to }) => from + to,
    })
    const server = createServer({ prompts: { pair } })
    const { status, error } = await get('pair', {}, server)
    expect([status, error?.code]).toEqual([200, ErrorCode.invalidParams])
    expect(error?.message).toMatch(/from.*to/)
    expect((await get('pair', undefined, server)).error?.code).toBe(ErrorCode.invalidParams)
  })

  it('invalid arguments → -32602 that names them [prompts.arguments]', async () => {
    const { error } = await get('review', { code: 'a', depth: '9' })
    expect(error?.code).toBe(ErrorCode.invalidParams)
    expect(error?.message).toContain('depth: ')
  })

  it.each([[{ code: 5 }], [{ code: null }], [{ code: { a: 1 } }]])(
    'arguments %j are no strings → -32602 [malformed.params]',
    async (args) => {
      expect((await get('review', args)).error?.code).toBe(ErrorCode.invalidParams)
    },
  )

  it.each(['nothing', 'constructor', '__proto__'])(
    'unknown prompt %j → -32602 [prompts.unknown]',
    async (name) => {
      const { status, error } = await get(name)
      expect([status, error?.code]).toEqual([200, ErrorCode.invalidParams])
    },
  )

  it('one that throws → -32603 without its text [faults.hidden]', async () => {
    const reported = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const boom = createPrompt({ get: () => Promise.reject(new Error('secret')) })
    const { error } = await get('boom', undefined, createServer({ prompts: { boom } }))
    expect(error).toEqual({ code: ErrorCode.internal, message: 'Internal error' })
    reported.mockRestore()
  })
})

describe('callbacks', () => {
  const versions = [
    { name: 'greet', version: '2', description: 'New', arguments: [{ name: 'who', required: true }] },
    { name: 'greet', version: '1', description: 'Old' },
    { name: 'plain' },
  ]
  const callbacks = () => ({
    listPrompts: vi.fn(async () => versions),
    getPromptMessages: vi.fn(async () => 'Hello'),
  })

  it('list, with the version in _meta, where MCP has room for it [prompts.versions]', async () => {
    const { result } = await modern(createServer({ prompts: callbacks() }), 'prompts/list')
    expect(result?.prompts).toEqual([
      {
        name: 'greet',
        description: 'New',
        arguments: [{ name: 'who', required: true }],
        _meta: { version: '2' },
      },
      { name: 'greet', description: 'Old', _meta: { version: '1' } },
      { name: 'plain' },
    ])
  })

  it('get name, version, arguments and who asks [prompts.callbacks]', async () => {
    const prompts = callbacks()
    const { result } = await get('greet', { who: 'Ada' }, createServer({ prompts }))
    expect(result).toMatchObject({
      description: 'New',
      messages: [{ role: 'user', content: { text: 'Hello' } }],
    })
    expect(prompts.getPromptMessages).toHaveBeenCalledExactlyOnceWith({
      name: 'greet',
      version: '2',
      args: { who: 'Ada' },
      context: expect.objectContaining({ era: 'modern' }),
    })
  })

  it.each([
    ['params.version', { version: '1' }],
    ['_meta.version', { _meta: { version: '1' } }],
  ])('another version is asked for in %s [prompts.versions]', async (_place, params) => {
    const prompts = callbacks()
    const { result } = await modern(createServer({ prompts }), 'prompts/get', { name: 'greet', ...params })
    expect(result).toMatchObject({ description: 'Old' })
    expect(prompts.getPromptMessages).toHaveBeenCalledWith(expect.objectContaining({ version: '1' }))
  })

  it('a version there is not → -32602 [prompts.versions]', async () => {
    const answer = await modern(createServer({ prompts: callbacks() }), 'prompts/get', {
      name: 'greet',
      version: '3',
    })
    expect(answer.error?.code).toBe(ErrorCode.invalidParams)
  })

  it('required arguments are checked before they are asked [prompts.arguments]', async () => {
    const prompts = callbacks()
    const { error } = await get('greet', {}, createServer({ prompts }))
    expect(error?.code).toBe(ErrorCode.invalidParams)
    expect(error?.message).toContain('who')
    expect(prompts.getPromptMessages).not.toHaveBeenCalled()
  })

  it('a prompt they do not list → -32602 [prompts.unknown]', async () => {
    const { error } = await get('other', {}, createServer({ prompts: callbacks() }))
    expect(error?.code).toBe(ErrorCode.invalidParams)
  })

  it('stand beside registered prompts [prompts.callbacks]', async () => {
    const server = createServer({ prompts: callbacks() satisfies PromptCallbacks })
    server.registerPrompt('mine', { get: () => 'registered' })
    expect(namesIn(await modern(server, 'prompts/list'), 'prompts')).toEqual([
      'mine',
      'greet',
      'greet',
      'plain',
    ])
    expect(JSON.stringify((await get('mine', undefined, server)).result)).toContain('registered')
  })
})
