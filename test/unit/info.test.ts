import { describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { createTool } from '../../src/index.ts'
import { createServer } from './_client.ts'

const add = createTool({
  id: 'math-add',
  description: 'Adds',
  inputSchema: z.object({ a: z.number(), b: z.number().default(1) }),
  outputSchema: z.object({ sum: z.number() }),
  execute: ({ a, b }) => ({ sum: a + b }),
})

const rich = () =>
  createServer({
    id: 'shop',
    name: 'Shop',
    version: '2.1.0',
    description: 'Sells things',
    tools: { add },
    agents: { helper: { description: 'Helps', generate: async () => 'x' } },
    workflows: { nightly: { description: 'Nightly', createRun: () => ({ start: async () => 'x' }) } },
  })

describe('a server', () => {
  it('has its id, name, version and description [info.server]', () => {
    const facts = { id: 'shop', name: 'Shop', version: '2.1.0', description: 'Sells things' }
    expect(rich()).toMatchObject(facts)
  })
})

describe('getToolListInfo and getToolInfo', () => {
  it('show every tool and what it was made from [info.tools]', () => {
    const { tools } = rich().getToolListInfo()
    expect(tools.map(({ name, id, toolType }) => [name, id, toolType])).toEqual([
      ['add', 'math-add', 'tool'],
      ['ask_helper', 'ask_helper', 'agent'],
      ['run_nightly', 'run_nightly', 'workflow'],
    ])
  })

  it('one tool with its schemas, or undefined [info.tools]', () => {
    expect(rich().getToolInfo('add')).toMatchObject({
      id: 'math-add',
      name: 'add',
      description: 'Adds',
      inputSchema: { type: 'object', required: ['a'] },
      outputSchema: { type: 'object', required: ['sum'] },
    })
    expect(rich().getToolInfo('math-add')).toBeUndefined()
    expect(rich().getToolInfo('toString')).toBeUndefined()
  })

  it('an explicit tool with an agent’s name is a tool [info.tools] [agents.collision]', () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined)
    const server = createServer({
      tools: { ask_helper: add },
      agents: { helper: { description: 'Helps', generate: async () => 'x' } },
    })
    expect(server.getToolInfo('ask_helper')?.toolType).toBe('tool')
    warn.mockRestore()
  })
})

describe('executeTool', () => {
  it('validates, and returns what the tool returned [info.execute]', async () => {
    expect(await rich().executeTool('add', { a: 2 })).toEqual({ sum: 3 })
  })

  it('hands the context on [info.execute]', async () => {
    const execute = vi.fn(
      (_input: unknown, ctx: { env: unknown; auth?: unknown; signal: AbortSignal }) => ctx.signal.aborted,
    )
    const server = createServer({ tools: { t: createTool({ id: 't', execute }) } })
    const auth = { token: 't', clientId: 'c', scopes: [] }
    expect(
      await server.executeTool('t', undefined, {
        env: { KEY: 1 },
        auth,
        signal: new AbortController().signal,
      }),
    ).toBe(false)
    expect(execute.mock.calls[0]?.[1]).toMatchObject({
      env: { KEY: 1 },
      auth,
      era: 'modern',
      clientCapabilities: {},
    })
  })

  it('an abort while it runs aborts ctx.signal [info.execute]', async () => {
    const controller = new AbortController()
    const wait = createTool({
      id: 'wait',
      execute: (_input, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason))
          controller.abort(new Error('enough'))
        }),
    })
    const running = createServer({ tools: { wait } }).executeTool('wait', {}, { signal: controller.signal })
    await expect(running).rejects.toThrow('enough')
  })

  it.each([
    ['an unknown tool', 'nothing', {}, /nothing/],
    ['invalid arguments', 'add', { a: 'x' }, /a: /],
  ])('%s → rejects, saying which [info.execute]', async (_kind, name, input, message) => {
    await expect(rich().executeTool(name, input)).rejects.toThrow(message)
  })

  it('what the tool throws → thrown as it is [info.execute]', async () => {
    const cause = new RangeError('too far')
    const boom = createTool({ id: 'boom', execute: () => Promise.reject(cause) })
    await expect(createServer({ tools: { boom } }).executeTool('boom', {})).rejects.toBe(cause)
  })
})
