/** The examples of the official SDK v1, with only the import and the construction changed. */

import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { createPrompt, createResource, ProtocolError } from '../../src/index.ts'
import { MCPServer } from '../../src/sdk-context.ts'
import { initialize, legacy } from '../unit/_client.ts'
import { call, list, request } from './_call.ts'

const create = (config: object = {}): MCPServer =>
  new MCPServer({ name: 'demo-server', version: '1.0.0', log: false, onError: () => {}, ...config })

describe('registerTool', () => {
  it('an addition tool', async () => {
    const server = create()
    server.registerTool(
      'add',
      {
        title: 'Addition Tool',
        description: 'Add two numbers',
        inputSchema: { a: z.number(), b: z.number() },
        outputSchema: { result: z.number() },
      },
      async ({ a, b }) => {
        const output = { result: a + b }
        return {
          content: [{ type: 'text', text: JSON.stringify(output) }],
          structuredContent: output,
        }
      },
    )
    expect((await call(server, 'add', { a: 1, b: 2 })).structuredContent).toEqual({ result: 3 })
  })

  it('its handle enables, disables, updates and removes, until the first request', async () => {
    const server = create()
    const listMessageTool = server.registerTool(
      'listMessages',
      { inputSchema: { channel: z.string() } },
      async ({ channel }) => ({
        content: [{ type: 'text', text: `Messages in ${channel}` }],
      }),
    )
    const putMessageTool = server.registerTool('putMessage', {}, async () => 'put')
    const upgradeAuthTool = server.registerTool('upgradeAuth', {}, async () => 'upgraded')

    putMessageTool.disable()
    expect(putMessageTool.enabled).toBe(false)
    listMessageTool.update({ title: 'Messages', enabled: true })
    upgradeAuthTool.remove()

    expect((await list(server, 'tools')).map(({ name, title }) => [name, title])).toEqual([
      ['listMessages', 'Messages'],
    ])
    expect(() => putMessageTool.enable()).toThrow('change a single request in setup')
    expect(() => upgradeAuthTool.remove()).toThrow('change a single request in setup')
  })

  it.each(['callback', 'paramsSchema'])('update({ %s }) → TypeError that names what to write', (name) => {
    const tool = create().registerTool('a', {}, () => '')
    const update: object = { [name]: () => '' }
    expect(() => tool.update(update)).toThrow('write execute and inputSchema')
  })

  it('a removed tool cannot be changed', () => {
    const tool = create().registerTool('a', {}, () => '')
    tool.remove()
    expect(() => tool.enable()).toThrow('"a" was removed')
    expect(tool.enabled).toBe(false)
  })

  it('a tool that asks by extra.sendRequest', async () => {
    const server = create()
    server.registerTool('confirm', {}, async (extra) => {
      const { action } = await extra.sendRequest({
        method: 'elicitation/create',
        params: {
          message: 'Sure?',
          requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } } },
        },
      })
      return { content: [{ type: 'text', text: action }] }
    })
    expect((await call(server, 'confirm', {}, [{ action: 'decline' }])).text).toBe('decline')
  })
})

describe('errors that callbacks throw on purpose', () => {
  const throwing = (error: unknown) => {
    const raise = () => {
      throw error
    }
    return create({
      resources: [createResource({ uri: 'a://b', read: raise })],
      prompts: { greet: createPrompt({ get: raise }) },
    })
  }
  const outcomes = async (server: MCPServer) => {
    const { headers } = await initialize(server)
    const session = { headers: { 'mcp-session-id': headers.get('mcp-session-id')! } }
    const answers = [
      await request(server, 'resources/read', { uri: 'a://b' }),
      await legacy(server, 'resources/read', { uri: 'a://b' }, session),
      await request(server, 'prompts/get', { name: 'greet' }),
    ]
    return answers.map(({ error }) => [error?.code, error?.message])
  }

  it.each([
    ['McpError of the SDK', new McpError(ErrorCode.InvalidParams, 'No such order')],
    ['ProtocolError', new ProtocolError(-32602, 'No such order')],
  ])('%s → the client gets its code and message', async (_class, error) => {
    expect(await outcomes(throwing(error))).toEqual(Array(3).fill([-32602, 'No such order']))
  })

  it('-32002 of a resource → the code that the client’s era has for it', async () => {
    expect((await outcomes(throwing(new ProtocolError(-32002, 'No such order')))).slice(0, 2)).toEqual([
      [-32602, 'No such order'],
      [-32002, 'No such order'],
    ])
  })

  it.each([
    ['another class', new Error('secret')],
    ['a code that is none', Object.assign(new Error('secret'), { name: 'McpError', code: 'E_NO' })],
    ['nothing', undefined],
  ])('%s → Internal error', async (_class, error) => {
    expect(await outcomes(throwing(error))).toEqual(Array(3).fill([-32603, 'Internal error']))
  })
})

it('a prompt whose arguments could never be strings does not compile, and says why at run time', async () => {
  const greet = createPrompt({
    // @ts-expect-error arguments are strings
    argsSchema: { times: z.number() },
    get: () => 'Hello',
  })
  const coerced = createPrompt({
    argsSchema: { times: z.coerce.number(), tone: z.enum(['a', 'b']).optional() },
    get: ({ times }) => 'Hello '.repeat(times),
  })
  const server = create({ prompts: { greet, coerced } })
  const get = (name: string) => request(server, 'prompts/get', { name, arguments: { times: '2' } })
  expect((await get('greet')).error?.message).toMatch(
    /^Invalid arguments for prompt greet \(all arguments are strings\): times: /,
  )
  expect((await get('coerced')).result?.messages).toMatchObject([{ content: { text: 'Hello Hello ' } }])
})

it.each([
  [
    'a shape with what is no schema',
    { a: 'string' },
    'a in inputSchema of tool "t" is not a schema: use a schema such as z.string().',
  ],
  [
    'JSON Schema',
    { type: 'object' },
    'inputSchema of tool "t" is plain JSON Schema: write jsonSchema({ … })',
  ],
])('%s → TypeError that names it', (_kind, inputSchema, message) => {
  const tools = { t: { inputSchema, execute: () => '' } }
  expect(() => create({ tools }).getToolListInfo()).toThrow(message)
})
