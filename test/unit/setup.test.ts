import { beforeEach, describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { bearer } from '../../src/auth.ts'
import { createTool, ErrorCode, type MCPServerConfig, ProtocolError } from '../../src/index.ts'
import { callTool, createServer, itemsIn, legacy, modern, modernRequest, namesIn, textOf } from './_client.ts'

type Setup = NonNullable<MCPServerConfig['setup']>

const greet = createTool({
  id: 'greet',
  description: 'Says hello',
  inputSchema: z.object({ name: z.string() }),
  mcp: { annotations: { readOnlyHint: true }, _meta: { kept: 1 } },
  execute: ({ name }) => `Hello ${name}`,
})
const wipe = createTool({ id: 'wipe', execute: () => 'gone' })

const serverWith = (setup: Setup) => createServer({ tools: { greet, wipe }, setup })

/** Applies `change` to requests that carry the header `x-change`, and leaves the others alone. */
const serverWhere = (change: Setup) =>
  serverWith((server, request) => (request.headers.has('x-change') ? change(server, request) : undefined))

const CHANGED = { headers: { 'x-change': '1' } }

let reported: ReturnType<typeof vi.spyOn>
beforeEach(() => {
  reported = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  return () => reported.mockRestore()
})

describe('setup', () => {
  it('runs before each request with its server and the HTTP request [setup.overlay]', async () => {
    const setup = vi.fn<Setup>()
    await modern(serverWith(setup), 'tools/list', {}, { headers: { 'x-tenant': 'acme' } })
    expect(setup).toHaveBeenCalledOnce()
    const [server, request] = setup.mock.calls[0]!
    expect(server.toolNames).toEqual(['greet', 'wipe'])
    expect(server.context).toMatchObject({ era: 'modern', clientInfo: { name: 'unit' } })
    expect(request.headers.get('x-tenant')).toBe('acme')
  })

  it('is awaited [setup.overlay]', async () => {
    const server = serverWith(async (request) => {
      await Promise.resolve()
      request.tool('wipe').disable()
    })
    expect(namesIn(await modern(server, 'tools/list'))).toEqual(['greet'])
  })

  it('disable → neither listed nor callable; enable → both again [setup.overlay]', async () => {
    const disabled = serverWith((server) => server.tool('wipe').disable())
    expect(namesIn(await modern(disabled, 'tools/list'))).toEqual(['greet'])
    expect((await callTool(disabled, 'wipe')).error?.code).toBe(ErrorCode.invalidParams)
    const enabled = serverWith((server) => {
      const handle = server.tool('wipe').disable()
      expect(handle.enabled).toBe(false)
      expect(handle.enable().enabled).toBe(true)
    })
    expect(textOf(await callTool(enabled, 'wipe'))).toBe('gone')
  })

  it('remove → as if it were not there, its handle included [setup.overlay]', async () => {
    const server = serverWith((request) => {
      const handle = request.tool('wipe')
      handle.remove()
      expect(request.toolNames).toEqual(['greet'])
      expect(() => request.tool('wipe')).toThrow(TypeError)
      expect(() => handle.enable()).toThrow(TypeError)
    })
    expect(namesIn(await modern(server, 'tools/list'))).toEqual(['greet'])
    expect((await callTool(server, 'wipe')).error?.code).toBe(ErrorCode.invalidParams)
  })

  it('update → what it names is changed, the rest is kept [setup.overlay]', async () => {
    const server = serverWith((request) =>
      request.tool('greet').update({
        title: 'Greet',
        description: 'Says hello to VIPs',
        annotations: { readOnlyHint: false },
        execute: ({ name }: { name: string }) => `Welcome ${name}`,
      }),
    )
    expect(itemsIn(await modern(server, 'tools/list'))[0]).toMatchObject({
      name: 'greet',
      title: 'Greet',
      description: 'Says hello to VIPs',
      inputSchema: { required: ['name'] },
      annotations: { readOnlyHint: false },
      _meta: { kept: 1 },
    })
    expect(textOf(await callTool(server, 'greet', { name: 'Ada' }))).toBe('Welcome Ada')
    expect((await callTool(server, 'greet', {})).result).toMatchObject({ isError: true })
  })

  it('update of the inputSchema → validated by the new one [setup.overlay]', async () => {
    const server = serverWith((request) =>
      request.tool('greet').update({
        inputSchema: z.object({ first: z.string() }),
        execute: ({ first }: { first: string }) => first,
      }),
    )
    expect(itemsIn(await modern(server, 'tools/list'))[0]).toMatchObject({
      inputSchema: { required: ['first'] },
    })
    expect(textOf(await callTool(server, 'greet', { first: 'Ada' }))).toBe('Ada')
  })

  it('registerTool → listed last and callable; a taken name → TypeError [setup.overlay]', async () => {
    const server = serverWith((request) => {
      request.registerTool('whoami', { description: 'Who asks' }, (ctx) => ctx.clientInfo?.name ?? 'nobody')
      expect(() => request.registerTool('greet', {}, () => '')).toThrow(TypeError)
    })
    expect(namesIn(await modern(server, 'tools/list'))).toEqual(['greet', 'wipe', 'whoami'])
    expect(textOf(await callTool(server, 'whoami'))).toBe('unit')
  })

  it('tool() of an unknown name → TypeError, -32603 for the client [setup.failure]', async () => {
    const { status, error } = await modern(
      serverWith((server) => server.tool('nothing')),
      'tools/list',
    )
    expect([status, error]).toEqual([200, { code: ErrorCode.internal, message: 'Internal error' }])
    expect(String(reported.mock.calls[0]?.[0])).toContain('nothing')
  })

  it.each([
    ['throws', () => Promise.reject(new Error('db is down'))],
    [
      'throws at once',
      () => {
        throw new Error('db is down')
      },
    ],
  ])(
    'one that %s → -32603 without its text, reported; the tool does not run [setup.failure] [faults.hidden]',
    async (_kind, setup) => {
      const execute = vi.fn(() => '')
      const server = createServer({ tools: { t: createTool({ id: 't', execute }) }, setup })
      const { error } = await callTool(server, 't')
      expect(error).toEqual({ code: ErrorCode.internal, message: 'Internal error' })
      expect(execute).not.toHaveBeenCalled()
      expect(String(reported.mock.calls[0]?.[0])).toContain('db is down')
    },
  )

  it('one that throws a ProtocolError → refused with that, status included [setup.failure]', async () => {
    const server = serverWith(() => {
      throw new ProtocolError(-31_001, 'No such tenant', { tenant: 'acme' }, { status: 403 })
    })
    const { status, error } = await modern(server, 'tools/list')
    expect(status).toBe(403)
    expect(error).toEqual({ code: -31_001, message: 'No such tenant', data: { tenant: 'acme' } })
  })
})

describe('isolation', () => {
  it.each<[string, Setup]>([
    ['disable', (server) => server.tool('greet').disable()],
    ['update', (server) => server.tool('greet').update({ description: 'changed', execute: () => 'changed' })],
    ['remove', (server) => server.tool('greet').remove()],
    ['registerTool', (server) => server.registerTool('extra', {}, () => 'extra')],
  ])('%s in one request → unseen by the next, in both eras [setup.isolation]', async (_kind, change) => {
    const untouched = createServer({ tools: { greet, wipe } })
    const server = serverWhere(change)
    for (const call of [modern, legacy]) {
      const before = itemsIn(await call(untouched, 'tools/list'))
      expect(itemsIn(await call(server, 'tools/list', {}, CHANGED))).not.toEqual(before)
      expect(itemsIn(await call(server, 'tools/list'))).toEqual(before)
      const { result } = await call(server, 'tools/call', { name: 'greet', arguments: { name: 'Ada' } })
      expect(result).toMatchObject({ content: [{ text: 'Hello Ada' }] })
    }
  })

  it('requests that overlap → each sees its own tools and context [setup.isolation]', async () => {
    const arrivals: (() => void)[] = []
    const server = createServer({
      tools: { greet },
      setup: async (request, { headers }) => {
        const tenant = headers.get('x-tenant')!
        request.registerTool(`only_${tenant}`, {}, (ctx) => `${tenant} ${ctx.requestId}`)
        // No request goes on before both have arrived.
        await new Promise<void>((resolve) => {
          arrivals.push(resolve)
          if (arrivals.length === 2) for (const go of arrivals) go()
        })
      },
    })
    const call = (tenant: string) =>
      callTool(server, `only_${tenant}`, {}, { headers: { 'x-tenant': tenant } })
    const [red, blue] = await Promise.all([call('red'), call('blue')])
    expect([textOf(red), textOf(blue)]).toEqual([
      expect.stringMatching(/^red [\da-f-]{36}$/),
      expect.stringMatching(/^blue [\da-f-]{36}$/),
    ])
  })
})

it('an update with a member that is undefined, as of a tenant that sets none, opens nothing', async () => {
  // As JavaScript allows.
  const none = (member: string) => ({ description: 'for acme', [member]: undefined })
  const server = createServer({
    auth: bearer(() => ({ clientId: 'desk', scopes: [] })),
    tools: { wipe: createTool({ id: 'wipe', scopes: ['admin'], execute: () => 'gone' }) },
    setup: (request) => {
      request.tool('wipe').update(none('scopes'))
      request.tool('off').update(none('enabled'))
    },
  })
  server.registerTool('off', { enabled: false }, () => 'on').update(none('enabled'))
  const headers = { authorization: 'Bearer token' }
  const ask = async (method: string, params = {}) =>
    (await server.fetch(modernRequest(method, params, { headers }))).json()

  expect(await ask('tools/list')).toMatchObject({ result: { tools: [] } })
  for (const name of ['wipe', 'off']) expect(await ask('tools/call', { name })).toHaveProperty('error')
})
