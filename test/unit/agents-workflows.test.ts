import { beforeEach, describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { staticTokens } from '../../src/auth.ts'
import {
  type AgentLike,
  createTool,
  ErrorCode,
  type MCPServer,
  type MCPServerConfig,
  type WorkflowLike,
} from '../../src/index.ts'
import { callTool, createServer, itemsIn, legacy, modern, namesIn, textOf } from './_client.ts'

const agent: AgentLike = {
  description: 'Knows the manuals',
  generate: async () => ({ text: 'Turn it off.' }),
}

function workflow(outcome: unknown, fields: Partial<WorkflowLike> = {}): WorkflowLike {
  return { description: 'Closes the day', createRun: () => ({ start: async () => outcome }), ...fields }
}

let reported: ReturnType<typeof vi.spyOn>
beforeEach(() => {
  reported = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  return () => reported.mockRestore()
})

describe('an agent', () => {
  it('is the tool ask_<key> with one input, message [agents.ask]', async () => {
    const server = createServer({ agents: { support: { ...agent, name: 'Support desk' } } })
    const [tool] = itemsIn(await modern(server, 'tools/list'))
    expect(tool).toMatchObject({
      name: 'ask_support',
      inputSchema: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] },
    })
    expect(tool?.description).toContain('Support desk')
    expect(tool?.description).toContain('Knows the manuals')
    expect(textOf(await callTool(server, 'ask_support', { message: 'It is broken' }))).toBe('Turn it off.')
  })

  it('receives the message and a signal [agents.ask]', async () => {
    const generate = vi.fn(async () => ({ text: 'ok' }))
    await callTool(createServer({ agents: { a: { ...agent, generate } } }), 'ask_a', { message: 'hello' })
    expect(generate).toHaveBeenCalledExactlyOnceWith('hello', {
      abortSignal: expect.any(AbortSignal),
      requestContext: expect.anything(),
    })
  })

  it('reads in the request context what setup has set, as tools do', async () => {
    const seen = vi.fn()
    const generate = async (
      _message: unknown,
      { requestContext }: { requestContext: Map<string, unknown> },
    ) => {
      seen(requestContext.get('tenant'))
      return 'ok'
    }
    const setup: MCPServerConfig['setup'] = ({ context }) => context.requestContext.set('tenant', 'acme')
    await callTool(createServer({ agents: { a: { ...agent, generate } }, setup }), 'ask_a', { message: 'x' })
    expect(seen).toHaveBeenCalledExactlyOnceWith('acme')
  })

  it.each([
    ['text', 'plain', 'plain'],
    ['an object without text', { steps: 2 }, '{"steps":2}'],
  ])('that answers %s → that [agents.ask]', async (_kind, answer, text) => {
    const server = createServer({ agents: { a: { ...agent, generate: async () => answer } } })
    expect(textOf(await callTool(server, 'ask_a', { message: 'hello' }))).toBe(text)
  })

  it.each([{}, { message: 5 }])(
    'asked with %j → isError that names message [tools.invalid-arguments]',
    async (args) => {
      const answer = await callTool(createServer({ agents: { a: agent } }), 'ask_a', args)
      expect(answer.result).toMatchObject({ isError: true })
      expect(textOf(answer)).toContain('message: ')
    },
  )

  it('that throws → isError with its message [tools.thrown-error]', async () => {
    const generate = () => Promise.reject(new Error('No tokens left.'))
    const answer = await callTool(createServer({ agents: { a: { ...agent, generate } } }), 'ask_a', {
      message: 'x',
    })
    expect(answer.result).toMatchObject({ isError: true, content: [{ text: 'No tokens left.' }] })
  })

  it('may describe itself by getDescription [agents.description]', async () => {
    const self: AgentLike = { getDescription: () => 'Speaks for itself', generate: async () => 'x' }
    const [tool] = itemsIn(await modern(createServer({ agents: { self } }), 'tools/list'))
    expect(tool?.description).toContain('Speaks for itself')
  })
})

describe('a workflow', () => {
  it('is the tool run_<key> with its inputSchema [agents.workflow]', async () => {
    const start = vi.fn(async () => ({ status: 'success', result: { closed: true } }))
    const closing = workflow(undefined, {
      inputSchema: z.object({ day: z.string() }),
      createRun: () => ({ start }),
    })
    const server = createServer({ workflows: { closing } })
    const [tool] = itemsIn(await modern(server, 'tools/list'))
    expect(tool).toMatchObject({
      name: 'run_closing',
      inputSchema: { properties: { day: { type: 'string' } } },
    })
    expect(tool?.description).toContain('Closes the day')
    const { result } = await callTool(server, 'run_closing', { day: 'Monday' })
    expect(result).toMatchObject({ structuredContent: { closed: true } })
    expect(start).toHaveBeenCalledExactlyOnceWith({
      inputData: { day: 'Monday' },
      abortSignal: expect.any(AbortSignal),
      requestContext: expect.anything(),
    })
  })

  it.each([
    ['createRun', { createRun: () => ({ start: async () => 'ran' }) }],
    ['an asynchronous createRun', { createRun: async () => ({ start: async () => 'ran' }) }],
    ['createRunAsync', { createRunAsync: async () => ({ start: async () => 'ran' }) }],
  ])('is started by %s [agents.workflow]', async (_kind, create) => {
    const server = createServer({ workflows: { w: { description: 'Runs', ...create } } })
    expect(textOf(await callTool(server, 'run_w'))).toBe('ran')
  })

  it.each([
    [{ status: 'failed', error: new Error('No stock.') }, 'No stock.'],
    [{ status: 'failed', error: 'No stock.' }, 'No stock.'],
    [{ status: 'suspended' }, 'suspended'],
  ])('that ends with %j → isError that says so [agents.workflow-failure]', async (outcome, said) => {
    const { result } = await callTool(createServer({ workflows: { w: workflow(outcome) } }), 'run_w')
    expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining(said) }] })
  })

  it('each call is a run of its own [agents.workflow]', async () => {
    const createRun = vi.fn(() => ({ start: async () => 'ran' }))
    const server = createServer({ workflows: { w: workflow('', { createRun }) } })
    await Promise.all([callTool(server, 'run_w'), callTool(server, 'run_w')])
    expect(createRun).toHaveBeenCalledTimes(2)
  })
})

describe('an empty description', () => {
  const { description: _, ...nameless } = agent
  it.each([
    ['an agent without one', { agents: { mute: nameless } }],
    ['an agent with an empty one', { agents: { mute: { ...agent, description: '' } } }],
    ['an agent that gives none', { agents: { mute: { ...nameless, getDescription: () => '' } } }],
    ['a workflow without one', { workflows: { mute: { createRun: () => ({ start: async () => 1 }) } } }],
    ['a workflow with an empty one', { workflows: { mute: workflow('', { description: '' }) } }],
  ])('%s → TypeError at construction that names it [agents.description]', (_kind, config) => {
    expect(() => createServer(config)).toThrow(TypeError)
    expect(() => createServer(config)).toThrow(/"mute"/)
  })

  it('a workflow that cannot create a run → TypeError at construction', () => {
    expect(() => createServer({ workflows: { idle: { description: 'Idles' } } })).toThrow(TypeError)
  })
})

describe('a name collision', () => {
  const mine = createTool({ id: 'mine', description: 'Mine', execute: () => 'explicit' })

  it('the explicit tool wins, and one warning names it [agents.collision]', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined)
    const server: MCPServer = createServer({
      tools: { ask_support: mine, run_close: mine },
      agents: { support: agent, other: agent },
      workflows: { close: workflow('derived') },
    })
    expect(namesIn(await modern(server, 'tools/list'))).toEqual(['ask_support', 'run_close', 'ask_other'])
    expect(textOf(await callTool(server, 'ask_support'))).toBe('explicit')
    expect(textOf(await callTool(server, 'run_close'))).toBe('explicit')
    const warnings = warn.mock.calls.map(
      ([line]) => JSON.parse(String(line)) as { level: string; message: string },
    )
    expect(warnings.map(({ level }) => level)).toEqual(['warn', 'warn'])
    expect(warnings.map(({ message }) => /"(\w+)"/.exec(message)?.[1])).toEqual(['ask_support', 'run_close'])
    warn.mockRestore()
  })

  it('a registered tool is as explicit as a declared one [agents.collision]', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined)
    const server = createServer({ agents: { support: agent } })
    server.registerTool('ask_support', {}, () => 'registered')
    expect(textOf(await callTool(server, 'ask_support'))).toBe('registered')
    expect(warn).toHaveBeenCalledOnce()
    warn.mockRestore()
  })

  it('no derived tool by the bare key', async () => {
    const answer = await callTool(createServer({ agents: { support: agent } }), 'support', { message: 'x' })
    expect(answer.error?.code).toBe(ErrorCode.invalidParams)
  })
})

describe.each(['modern', 'legacy'] as const)('scopes, %s', (era) => {
  const token = 'a-token-of-the-server'
  const speak = era === 'modern' ? modern : legacy
  const create = (granted: readonly string[]) =>
    createServer({
      auth: staticTokens([{ token, clientId: 'a', scopes: granted }]),
      agents: { clerk: { ...agent, scopes: ['admin'] } },
      workflows: { close: workflow({ status: 'success', result: 'done' }, { scopes: ['admin'] }) },
    })

  it.each([
    [['read'], [], 403],
    [['admin'], ['ask_clerk', 'run_close'], 200],
  ])('of an agent and of a workflow guard its tool: a caller with %j', async (granted, listed, status) => {
    const server = create(granted)
    const options = { headers: { authorization: `Bearer ${token}` } }
    expect(namesIn(await speak(server, 'tools/list', {}, options))).toEqual(listed)
    for (const name of ['ask_clerk', 'run_close']) {
      const call = { name, arguments: { message: 'hello' } }
      expect([name, (await speak(server, 'tools/call', call, options)).status]).toEqual([name, status])
    }
  })
})

it.each([
  { scope: ['admin'] },
  { requiredScopes: ['admin'] },
  { permissions: ['admin'] },
  { scopes: 'admin' },
])('%j of an agent or a workflow → TypeError that says "scopes"', (wrong) => {
  for (const config of [
    { agents: { a: { ...agent, ...wrong } as AgentLike } },
    { workflows: { a: workflow('', wrong as Partial<WorkflowLike>) } },
  ])
    expect(() => createServer(config)).toThrow(/"scopes"/)
})
