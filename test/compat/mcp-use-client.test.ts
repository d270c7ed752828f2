/** Who comes from mcp-use's client changes the import: the examples of its documentation run. */
import { expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { serve } from '../../adapters/node.ts'
import { staticTokens } from '../../src/auth.ts'
import { createPrompt, createResource, createTool, MCPServer, type MCPServerConfig } from '../../src/index.ts'
import {
  acceptWithDefaults,
  applyDefaults,
  cancel,
  decline,
  type ElicitContent,
  type ElicitRequest,
  type ElicitValidationResult,
  getDefaults,
  MCPClient,
  type McpUseClientConfig,
  reject,
  validate,
} from '../../src/mcp-use-client.ts'
import { secretOf } from '../_secrets.ts'
import * as examples from './mcp-use-client.ts'

const echo = createTool({
  id: 'echo',
  inputSchema: z.object({ message: z.string() }),
  execute: ({ message }) => message,
})
const ask = createTool({
  id: 'ask',
  execute: async (_input, ctx) => {
    const answer = await ctx.elicit('Size?', z.object({ size: z.string().default('M') }))
    return answer.action === 'accept' ? answer.content.size : answer.action
  },
})
const visit = createTool({
  id: 'visit',
  execute: async (_input, ctx) => (await ctx.elicit('Sign in', 'https://login.example/start')).action,
})

async function start(config: Partial<MCPServerConfig> = {}): Promise<string> {
  const server = new MCPServer({
    id: 'demo',
    name: 'Demo',
    version: '1.0.0',
    secret: secretOf('s'),
    tools: { echo, ask, visit },
    resources: [createResource({ uri: 'note://1', read: () => 'Milk' })],
    prompts: { review: createPrompt({ argsSchema: { code: z.string() }, get: ({ code }) => code }) },
    log: false,
    ...config,
  })
  const { url, close } = await serve(server, { port: 0 })
  onTestFinished(close)
  return url
}

it('quick start: connect, listTools, callTool, close', async () => {
  expect(await examples.quickStart(await start())).toEqual(['echo', 'ask', 'visit', 'hello'])
})

it('onElicitation answers forms and URLs', async () => {
  const visited: string[] = []
  const client = examples.answering(await start(), (line) => visited.push(line))
  onTestFinished(() => client.close())
  const connection = await client.connect('demo')

  expect((await connection.callTool('ask')).content).toMatchObject([{ text: 'M' }])
  expect((await connection.callTool('visit')).content).toMatchObject([{ text: 'accept' }])
  expect(visited).toEqual(['Visit: https://login.example/start'])
})

it('authToken, a timeout, and the session of a server', async () => {
  const token = 'a-token-that-is-long-enough'
  const url = await start({ auth: staticTokens([{ token }]) })

  expect(await examples.lazily(url, token)).toMatchObject({ content: [{ text: 'hello' }], isSame: true })
})

it('sessions of 1.x, with elicitationCallback', async () => {
  expect(await examples.sessions(await start(), () => decline('not now'))).toMatchObject({
    read: [{ text: 'Milk' }],
    messages: [{ content: { text: 'a+b' } }],
    asked: [{ text: 'decline' }],
    left: {},
  })
})

it('a form that is filled in and validated, and a server that answers for itself', async () => {
  const order = createTool({
    id: 'order',
    execute: async (_input, ctx) => {
      const form = z.object({ size: z.string().default('M'), note: z.string().max(3) })
      const answer = await ctx.elicit('Order?', form)
      return answer.action === 'accept' ? answer.content : answer.action
    },
  })
  const urls = { form: await start({ tools: { order } }), auto: await start() }
  const ask = async (note: string | undefined) => {
    const client = examples.filling(urls, (field) => (field === 'note' ? note : undefined))
    onTestFinished(() => client.close())
    const [form, auto] = Object.values(await client.createAllSessions())
    return [await form!.callTool('order'), await auto!.callTool('ask')].map(({ content }) => content)
  }
  const own = [{ type: 'text', text: 'M' }]
  expect(await ask('now')).toEqual([[{ type: 'text', text: '{"size":"M","note":"now"}' }], own])
  expect(await ask('too long')).toEqual([[{ type: 'text', text: 'decline' }], own])
  expect(await ask(undefined)).toEqual([[{ type: 'text', text: 'decline' }], own])
})

it('what a server logs', async () => {
  const logs = createTool({
    id: 'logs',
    execute: (_input, ctx) => {
      ctx.log('warning', 'low')
      return 'done'
    },
  })
  const entries: unknown[] = []
  const client = examples.logging(await start({ tools: { logs } }), (entry) => entries.push(entry))
  onTestFinished(() => client.close())
  await (await client.connect('demo')).callTool('logs')
  await expect.poll(() => entries).toMatchObject([{ level: 'warning', data: 'low' }])
})

it.each(['onSampling', 'samplingCallback', 'loggingCallback', 'onNotification', 'codeMode'])(
  '%s → TypeError: there is none',
  (option) => {
    const config = { mcpServers: { demo: { url: 'http://127.0.0.1:1/mcp' } } }
    expect(() => new MCPClient(config, { [option]: () => {} })).toThrow(`"${option}"`)
  },
)

it('the callback of one server comes before that of the client', async () => {
  const url = await start()
  const client = new MCPClient(
    { mcpServers: { demo: { url, onElicitation: () => cancel() } } },
    { onElicitation: () => decline() },
  )
  onTestFinished(() => client.close())
  const connection = await client.connect('demo')
  expect((await connection.callTool('ask')).content).toMatchObject([{ text: 'cancel' }])
})

it('the helpers take the parameters of the question', () => {
  const form: ElicitRequest = {
    message: 'Order?',
    requestedSchema: {
      type: 'object',
      properties: { size: { type: 'string', default: 'M' }, count: { type: 'integer', minimum: 1 } },
      required: ['count'],
    },
  }
  const url: ElicitRequest = { mode: 'url', message: 'Sign in', url: 'https://login.example' }
  const partial: ElicitContent = { count: 2 }
  const wrong: ElicitValidationResult = validate(form, { count: 0 })

  expect(getDefaults(form)).toEqual({ size: 'M' })
  expect(getDefaults(url)).toEqual({})
  expect(applyDefaults(form, partial)).toEqual({ size: 'M', count: 2 })
  expect(acceptWithDefaults(form)).toEqual({ action: 'accept', content: { size: 'M' } })
  expect(validate(form, applyDefaults(form, partial))).toEqual({ valid: true })
  expect(wrong).toEqual({ valid: false, errors: ['count must be at least 1'] })
  expect(validate(url)).toEqual({ valid: false, errors: ['The question has no form.'] })
  expect(reject('no')).toEqual({ action: 'decline' })
})

it('what cannot be meant is refused in words', async () => {
  const make = (config: object, options: object = {}) => new MCPClient(config as McpUseClientConfig, options)
  const onElicitation = () => cancel()
  const both = { onElicitation, elicitationCallback: onElicitation }
  const url = 'http://127.0.0.1:1/mcp'

  expect(() => make({ servers: {} })).toThrow('"servers"')
  expect(() => make({ mcpServers: { a: { url } } }, { onElicit: onElicitation })).toThrow('"onElicit"')
  expect(() => make({ mcpServers: { a: { url } } }, both)).toThrow('give one of the two')
  expect(() => make({ mcpServers: { a: { url, ...both } } })).toThrow('mcpServers.a: elicitationCallback')
  expect(() => make({ mcpServers: { a: { url, authToken: 'a', token: 'b' } } })).toThrow(
    'authToken is another name',
  )
  const client = make({ mcpServers: { a: { url } } })
  await expect(client.connect('b')).rejects.toThrow('There is no server "b": mcpServers has a.')
  await expect(client.connect('a')).rejects.toMatchObject({ name: 'MCPClientError' })
  expect(() => client.requireSession('a')).toThrow('await client.connect("a") first')
})
