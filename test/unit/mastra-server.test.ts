/** `mayfly-mcp/mastra` on every platform: what code written for Mastra reads, and what it is refused with. */
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import * as z from 'zod'
import { createTool as createNativeTool, createResource, MCPServer as NativeServer } from '../../src/index.ts'
import {
  createOAuthMiddleware,
  createTool,
  type MastraContext,
  MCPServer,
  type MCPServerConfig,
} from '../../src/mastra.ts'
import { callTool, createServer, ENDPOINT, META, modern, textOf } from './_client.ts'

const create = (config: Partial<MCPServerConfig> = {}): MCPServer =>
  new MCPServer({ id: 'test', name: 'Test', version: '1.0.0', log: false, ...config })

const rich = () =>
  create({
    id: 'shop',
    name: 'Shop',
    version: '2.1.0',
    description: 'Sells things',
    repository: { url: 'https://git.example/shop', source: 'git', id: '7' },
    releaseDate: '2026-07-28T00:00:00Z',
    isLatest: false,
    packageCanonical: 'npm',
    packages: [{ registry_name: 'npm', name: 'shop', version: '2.1.0' }],
    remotes: [{ transport_type: 'streamable', url: 'https://shop.example/mcp' }],
  })

describe('getServerInfo and getServerDetail', () => {
  it('describe the server as Mastra does [info.server]', () => {
    const info = {
      id: 'shop',
      name: 'Shop',
      description: 'Sells things',
      repository: { url: 'https://git.example/shop', source: 'git', id: '7' },
      version_detail: { version: '2.1.0', release_date: '2026-07-28T00:00:00Z', is_latest: false },
    }
    expect(rich().getServerInfo()).toEqual(info)
    expect(rich().getServerDetail()).toEqual({
      ...info,
      package_canonical: 'npm',
      packages: [{ registry_name: 'npm', name: 'shop', version: '2.1.0' }],
      remotes: [{ transport_type: 'streamable', url: 'https://shop.example/mcp' }],
    })
  })

  it('hold nothing that was not configured, except when the server was created [info.server]', () => {
    vi.useFakeTimers({ now: Date.UTC(2026, 10, 1) })
    onTestFinished(() => void vi.useRealTimers())
    const release_date = '2026-11-01T00:00:00.000Z'
    const info = {
      id: 'test',
      name: 'Test',
      version_detail: { version: '1.0.0', release_date, is_latest: true },
    }
    expect(create().getServerInfo()).toEqual(info)
    expect(create().getServerDetail()).toEqual(info)
    expect(new MCPServer({ name: 'My Shop', version: '1.0.0' }).getServerInfo().id).toBe('my-shop')
  })
})

describe('without a process', () => {
  it.each(['startStdio', 'startHTTP', 'startSSE', 'startHonoSSE'] as const)(
    '%s → TypeError that says where it works',
    (method) => expect(() => create()[method]({})).toThrow(`${method} needs a process`),
  )

  it('createOAuthMiddleware → TypeError that names oauth', () => {
    expect(() => createOAuthMiddleware({})).toThrow('auth: oauth({ … })')
  })
})

it('server.elicitation.sendRequest → TypeError that names ctx.elicit', () => {
  const params = { message: '?', requestedSchema: { type: 'object' as const, properties: {} } }
  expect(() => create().elicitation.sendRequest(params)).toThrow(/ctx\.elicit/)
})

describe('the context', () => {
  const seen = async <Value>(see: (ctx: MastraContext) => Value): Promise<Value> => {
    let found: Value | undefined
    const tool = createTool({
      id: 'tool',
      execute: (_input, ctx) => {
        found = see(ctx)
      },
    })
    await callTool(create({ tools: { tool } }), 'tool')
    return found!
  }

  it('abortSignal, toolCallId, messages', async () => {
    const { abortSignal, signal, toolCallId, requestId, messages } = await seen((ctx) => ctx)
    expect(abortSignal).toBe(signal)
    expect([toolCallId, messages]).toEqual([requestId, []])
  })

  it('requestContext has mcp.extra, whole and by member, and keeps what is set', async () => {
    const ctx = await seen((context) => context)
    expect(ctx.requestContext.get('mcp.extra')).toBe(ctx.mcp.extra)
    expect(ctx.requestContext.get('requestInfo').url.href).toBe(ENDPOINT)
    ctx.requestContext.set('tier', 'gold')
    expect(ctx.requestContext.get('tier')).toBe('gold')
  })

  it('requestContext holds what setup has set', async () => {
    const setup: MCPServerConfig['setup'] = ({ context }) => context.requestContext.set('tenant', 'acme')
    const tool = createTool({ id: 'tool', execute: (_input, ctx) => ctx.requestContext.get('tenant') })
    expect(textOf(await callTool(create({ tools: { tool }, setup }), 'tool'))).toBe('acme')
  })

  it('of a call without a request: each member takes the place of its own', async () => {
    const look = vi.fn((_context: MastraContext) => 'seen')
    const tool = createTool({ id: 'look', execute: (_input, ctx) => look(ctx) })
    const auth = { token: 't', clientId: 'ci', scopes: [] }
    await tool.execute({}, { auth, toolCallId: 'call-7', requestContext: new Map([['tier', 'gold']]) })
    const context = look.mock.lastCall![0]
    expect(context.toolCallId).toBe('call-7')
    expect(context.requestContext.get('tier')).toBe('gold')
    expect(context.mcp.extra.authInfo).toEqual(auth)
  })

  it('its tools work on the server of mayfly-mcp, too', async () => {
    const tool = createTool({ id: 'tool', execute: (_input, ctx) => ctx.mcp.extra.mcpReq.method })
    expect(textOf(await callTool(createServer({ tools: { tool } }), 'tool'))).toBe('tools/call')
  })

  it('mcp.elicitation.sendRequest asks with parameters as on the wire; notSecret counts', async () => {
    const params = {
      message: 'Which?',
      requestedSchema: { type: 'object' as const, properties: { access_token: { type: 'string' } } },
    }
    const asking = createTool({
      id: 'asking',
      inputSchema: z.object({ notSecret: z.array(z.string()) }),
      execute: ({ notSecret }, ctx) => ctx.mcp.elicitation.sendRequest(params, { notSecret }),
    })
    const meta = { [META.clientCapabilities]: { elicitation: { form: {} } } }
    const server = create({ tools: { asking } })
    const { result } = await callTool(server, 'asking', { notSecret: ['access_token'] }, { meta })
    expect(Object.values(result?.inputRequests as object)).toEqual([
      { method: 'elicitation/create', params: { mode: 'form', ...params } },
    ])
    const refused = await callTool(server, 'asking', { notSecret: [] }, { meta })
    expect(textOf(refused)).toContain('looks like a secret')
  })
})

describe('hooks', () => {
  it('also of tools that were written elsewhere are told of the call as Mastra tells them', async () => {
    const onInputAvailable = vi.fn()
    const onOutput = vi.fn()
    const hooks = { onInputAvailable, onOutput }
    const made = createTool({ id: 'made', ...hooks, execute: () => 1 })
    const plain = { description: 'Plain', ...hooks, execute: () => 1 }
    const server = create({ tools: { made, plain } })
    await callTool(server, 'made')
    await callTool(server, 'plain')
    for (const toolName of ['made', 'plain']) {
      const call = {
        toolName,
        toolCallId: expect.stringMatching(/./),
        messages: [],
        abortSignal: expect.any(AbortSignal),
      }
      expect(onInputAvailable).toHaveBeenCalledWith(expect.objectContaining(call))
      expect(onOutput).toHaveBeenCalledWith(expect.objectContaining({ output: 1, ...call }))
    }
  })

  it('executeTool runs them, with the ids it is given [tools.hooks]', async () => {
    const onOutput = vi.fn()
    const echo = createTool({ id: 'echo', onOutput, execute: () => 1 })
    const messages = [{ role: 'user', content: 'one' }]
    await create({ tools: { echo } }).executeTool('echo', {}, { toolCallId: 'call-1', messages })
    const call = { toolName: 'echo', toolCallId: 'call-1', messages, output: 1 }
    expect(onOutput).toHaveBeenCalledExactlyOnceWith(expect.objectContaining(call))
  })

  it('called by an agent get what the agent tells', () => {
    const onOutput = vi.fn()
    const tool = createTool({ id: 'echo', onOutput, execute: () => 1 })
    const event = { output: 1, toolCallId: 'call-2' }
    tool.onOutput?.(event as never)
    expect(onOutput).toHaveBeenCalledExactlyOnceWith(event)
  })

  it('onInputStart and onInputDelta are never called: arguments come at once [tools.hooks]', async () => {
    const never = vi.fn()
    const calm = createTool({ id: 'calm', onInputStart: never, onInputDelta: never, execute: () => 'fine' })
    expect(textOf(await callTool(create({ tools: { calm } }), 'calm'))).toBe('fine')
    expect(never).not.toHaveBeenCalled()
  })
})

describe('callbacks', () => {
  class Notes {
    readonly seen: object[] = []
    listResources = async (request: object) => {
      this.seen.push(request)
      return [{ uri: 'notes://1', name: 'One' }]
    }
    resourceTemplates = async (request: object) => {
      this.seen.push(request)
      return []
    }
    getResourceContent = async (request: object) => {
      this.seen.push(request)
      return { text: 'Buy milk' }
    }
  }

  it('of resources get extra, and who asks [resources.callbacks]', async () => {
    const resources = new Notes()
    const server = create({ resources })
    await modern(server, 'resources/list')
    await modern(server, 'resources/templates/list')
    await modern(server, 'resources/read', { uri: 'notes://1' })
    const request = {
      context: expect.objectContaining({ era: 'modern' }),
      extra: expect.objectContaining({ requestId: 1 }),
    }
    // The list has the type of a content that says none.
    expect(resources.seen).toMatchObject([request, request, { ...request, uri: 'notes://1' }, request])
  })

  it('of prompts get extra, and who asks [prompts.callbacks]', async () => {
    const getPromptMessages = vi.fn(async () => 'Hello')
    const prompts = { listPrompts: () => [{ name: 'greet', version: '2' }], getPromptMessages }
    await modern(create({ prompts }), 'prompts/get', { name: 'greet', arguments: { who: 'Ada' } })
    expect(getPromptMessages).toHaveBeenCalledExactlyOnceWith({
      name: 'greet',
      version: '2',
      args: { who: 'Ada' },
      context: expect.objectContaining({ era: 'modern' }),
      extra: expect.objectContaining({ requestId: 1 }),
    })
  })

  it('that are incomplete, and what is declared, are treated as by mayfly-mcp', async () => {
    const listPrompts = () => []
    expect(() => create({ prompts: { listPrompts } as never })).toThrow('getPromptMessages')
    const resources = [createResource({ uri: 'a://b', name: 'b', read: () => 'x' })]
    const { result } = await modern(create({ resources }), 'resources/list')
    expect(result?.resources).toMatchObject([{ name: 'b' }])
  })
})

describe('mayfly-mcp itself', () => {
  it('a tool of @mastra/core → TypeError that names mayfly-mcp/mastra', () => {
    const tool = { description: 'x', execute: () => '', [Symbol.for('mastra.core.tool.Tool')]: true }
    const config = { name: 'Native', version: '1.0.0', tools: { tool } }
    expect(() => new NativeServer(config)).toThrow('import MCPServer from mayfly-mcp/mastra')
    expect(() => new MCPServer(config)).not.toThrow()
  })

  it.each(['repository', 'releaseDate', 'protocolVersion', 'packages'])('%s → TypeError', (option) => {
    const config = { name: 'Native', version: '1.0.0', [option]: 'x' }
    expect(() => new NativeServer(config)).toThrow(`has no option "${option}"`)
  })

  it.each(['onInputStart', 'toolCallId'])('createTool({ %s }) → TypeError', (option) => {
    expect(() => createNativeTool({ id: 'a', execute: () => '', [option]: () => {} })).toThrow(option)
  })

  it('a tool that returns its questions → an error that names ctx.elicit', async () => {
    const tool = createNativeTool({ id: 'tool', execute: () => ({ resultType: 'input_required' as const }) })
    const server = createServer({ tools: { tool }, onError: () => {} })
    expect(textOf(await callTool(server, 'tool'))).toContain('ask with ctx.elicit')
  })
})
