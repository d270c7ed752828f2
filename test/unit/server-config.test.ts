import { beforeEach, describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import {
  createMemoryBus,
  createMemoryRendezvous,
  createPrompt,
  createResource,
  createTool,
  MCPServer,
  type MCPServerConfig,
} from '../../src/index.ts'
import { fromSdk } from '../../src/sdk.ts'
import { secretOf } from '../_secrets.ts'
import { createServer, modern } from './_client.ts'

const VALID = { id: 'test', name: 'Test', version: '1.0.0' }

/** What JavaScript users may pass, whatever the types say. */
const construct = (config: object): MCPServer => new MCPServer(config as MCPServerConfig)

beforeEach(() => {
  const reported = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  return () => reported.mockRestore()
})

describe('new MCPServer', () => {
  it('without id: its name, in lower case and without spaces [config.required]', () => {
    expect(new MCPServer({ name: 'My Shop', version: '1.0.0' }).id).toBe('my-shop')
  })

  it('prompts with listPrompts alone → TypeError at once [config.required]', () => {
    expect(() => construct({ ...VALID, prompts: { listPrompts: () => [] } })).toThrow('getPromptMessages')
  })

  it.each<[Partial<MCPServerConfig>, number]>([
    [{ rendezvous: createMemoryRendezvous() }, 1],
    [{ rendezvous: () => createMemoryRendezvous() }, 1],
    [{ rendezvous: createMemoryRendezvous(), legacy: 'rendezvous' }, 0],
    [{ rendezvous: createMemoryRendezvous(), legacy: 'explain' }, 0],
    [{}, 0],
  ])('a rendezvous without legacy → one warning that names both, %#', (options, count) => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined)
    new MCPServer({ ...VALID, ...options })
    const said = warn.mock.calls.map(([line]) => JSON.parse(String(line)))
    warn.mockRestore()
    expect(said).toHaveLength(count)
    for (const { level, message } of said)
      expect([level, message]).toEqual(['warn', expect.stringMatching(/"rendezvous".*legacy: "rendezvous"/)])
  })

  it.each(['id', 'name', 'version'])(
    'without %s, or with an empty one → TypeError that names it [config.required]',
    (option) => {
      for (const value of option === 'id' ? ['', 5] : [undefined, '', 5]) {
        expect(() => construct({ ...VALID, [option]: value })).toThrow(TypeError)
        expect(() => construct({ ...VALID, [option]: value })).toThrow(`"${option}"`)
      }
    },
  )

  it.each([
    ['pageSize', [0, -1, 1.5, Number.NaN, '10']],
    ['cache.ttlMs', [-1, 1.5, Number.NaN, '10']],
    ['http.maxBodyBytes', [-1, Number.NaN, Number.POSITIVE_INFINITY, '10', 2 ** 31]],
    ['http.maxJsonDepth', [-1, Number.NaN, '10']],
    ['http.streamAfterMs', [-1, Number.NaN, Number.POSITIVE_INFINITY, '10', 2 ** 31]],
    ['http.keepAliveMs', [-1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31]],
    ['http.deadlineMarginMs', [-1, Number.NaN, 2 ** 31]],
    ['http.maxListenStreams', [-1, Number.NaN]],
    ['http.maxListenCharacters', [-1, Number.NaN]],
    ['http.maxListenMs', [-1, Number.NaN, 2 ** 31]],
  ])('%s out of range → TypeError that names it [config.required]', (option, values) => {
    const [first = '', second] = option.split('.')
    for (const value of values) {
      const config = { ...VALID, [first]: second === undefined ? value : { [second]: value } }
      expect(() => construct(config), String(value)).toThrow(TypeError)
      expect(() => construct(config), String(value)).toThrow(option)
    }
  })

  it.each([
    ['allowedHosts', 'https://app.example.com/', '"app.example.com"'],
    ['allowedHosts', 'http://app.example.com:8080/mcp', '"app.example.com:8080"'],
    ['allowedHosts', '*', 'like example.com'],
    ['allowedHosts', '', 'like example.com'],
    ['allowedHosts', 5, 'a list of strings'],
    ['allowedOrigins', 'app.example.com', '"https://app.example.com"'],
    ['allowedOrigins', 'https://app.example.com/', '"https://app.example.com"'],
    ['allowedOrigins', 'https://APP.example.com:443', '"https://app.example.com"'],
    ['allowedOrigins', 'https://app.example.com/path', '"https://app.example.com"'],
    ['allowedOrigins', 'https://*.example.com', 'like https://app.example.com'],
    ['allowedOrigins', '', 'like https://app.example.com'],
    ['allowedOrigins', /app/, 'a list of strings'],
  ])(
    'http.%s with %j, which no request has → TypeError that says what to write [config.required]',
    (option, entry, remedy) => {
      const create = () =>
        construct({
          ...VALID,
          http: { [option]: ['localhost', entry].slice(option === 'allowedHosts' ? 0 : 1) },
        })
      expect(create).toThrow(TypeError)
      expect(create).toThrow(`"http.${option}"`)
      expect(create).toThrow(remedy)
      expect(() => construct({ ...VALID, http: { [option]: entry } })).toThrow(TypeError)
      expect(() => fromSdk(() => undefined as never, { http: { [option]: [entry] } as never })).toThrow(
        remedy,
      )
    },
  )

  it('hosts and origins as requests have them → taken [config.required]', () => {
    const allowedHosts = ['localhost', 'APP.example.', '[::1]:3000', '::1', '192.0.2.1:80', 'bücher.example']
    const allowedOrigins = [
      '*',
      'null',
      'https://app.example.com',
      'http://localhost:5173',
      'vscode-webview://abc',
    ]
    construct({ ...VALID, http: { allowedHosts, allowedOrigins } })
  })

  it.each(['argument', 'Explain', '', null, true])(
    'legacy: %j → TypeError that names what is allowed [config.required]',
    (legacy) => {
      expect(() => construct({ ...VALID, legacy })).toThrow(/"legacy".*"explain", "arguments", "rendezvous"/)
    },
  )

  it.each(['short', '', [], [secretOf('s'), 'short']])(
    'secret: %j → TypeError [config.required]',
    (secret) => {
      expect(() => construct({ ...VALID, secret })).toThrow(TypeError)
    },
  )

  it('a tool without execute → TypeError that names it [config.required]', () => {
    expect(() => construct({ ...VALID, tools: { idle: { id: 'idle' } } })).toThrow(/"idle"/)
    expect(() => construct({ ...VALID, tools: { idle: undefined } })).toThrow(TypeError)
  })

  it('costs no compilation: schemas are looked at when they are first needed', () => {
    const inputSchema = z.object({ a: z.string() })
    const described = vi.spyOn(inputSchema['~standard'], 'validate')
    const server = createServer({ tools: { t: createTool({ id: 't', inputSchema, execute: () => '' }) } })
    expect(described).not.toHaveBeenCalled()
    expect(server.getToolInfo('t')).toMatchObject({ name: 't' })
  })

  it('keeps no hold on the caller’s objects: a tool added to them later is not served', async () => {
    const tools: Record<string, ReturnType<typeof createTool>> = {
      a: createTool({ id: 'a', execute: () => '' }),
    }
    const server = createServer({ tools })
    tools.b = createTool({ id: 'b', execute: () => '' })
    expect(server.getToolListInfo().tools.map(({ name }) => name)).toEqual(['a'])
    expect((await modern(server, 'tools/list')).result?.tools).toHaveLength(1)
  })
})

describe('what only compiling can tell', () => {
  const read = () => ''
  it.each<[string, Partial<MCPServerConfig> | object, RegExp]>([
    ['a resource without uri', { resources: [{ name: 'lost', read }] }, /uri/],
    ['a resource without read', { resources: [{ uri: 'a://', name: 'mute' }] }, /mute/],
    [
      'a URI declared twice',
      {
        resources: [
          { uri: 'a://1', read },
          { uri: 'a://1', read },
        ],
      },
      /a:\/\/1/,
    ],
    ['an unclosed template', { resources: [{ uriTemplate: 'a://{id', read }] }, /a:\/\/\{id/],
    ['an empty expression', { resources: [{ uriTemplate: 'a://{}', read }] }, /a:\/\//],
    ['a variable named twice', { resources: [{ uriTemplate: 'a://{id}/{id}', read }] }, /a:\/\//],
    ['listResources alone', { resources: { listResources: () => [] } }, /getResourceContent/],
    ['a prompt without get', { prompts: { mute: {} } }, /"mute"/],
    [
      'a prompt with plain JSON Schema',
      { prompts: { p: { argsSchema: { type: 'object' }, get: read } } },
      /"p"/,
    ],
    ['an empty tool name', { tools: { '': createTool({ id: 'x', execute: read }) } }, /name/],
  ])('%s → TypeError that says which [config.required]', (_kind, config, message) => {
    const server = construct({ ...VALID, ...config })
    expect(() => server.getToolListInfo()).toThrow(TypeError)
    expect(() => server.getToolListInfo()).toThrow(message)
  })

  it('and a request to it → 500 without its text, reported with it [faults.hidden] [faults.reported]', async () => {
    const onError = vi.fn()
    const { status, error } = await modern(
      createServer({ prompts: { mute: {} as never }, onError }),
      'prompts/list',
    )
    expect([status, error]).toEqual([500, { code: -32_603, message: 'Internal error' }])
    expect(onError).toHaveBeenCalledExactlyOnceWith(expect.any(TypeError), expect.anything())
  })
})

describe('registering', () => {
  const late: [string, (server: MCPServer) => void][] = [
    ['registerTool', (server) => server.registerTool('late', {}, () => '')],
    [
      'registerResource',
      (server) => server.registerResource(createResource({ uri: 'a://late', read: () => '' })),
    ],
    ['registerPrompt', (server) => server.registerPrompt('late', createPrompt({ get: () => '' }))],
  ]

  it.each(late)('%s after the first request → TypeError [config.frozen]', async (method, register) => {
    const server = createServer()
    await modern(server, 'server/discover')
    expect(() => register(server)).toThrow(TypeError)
    expect(() => register(server)).toThrow(method)
  })

  it.each(late)('%s of a name that is taken → TypeError [config.required]', (_method, register) => {
    const server = createServer()
    expect(() => {
      register(server)
      register(server)
      server.getToolListInfo()
    }).toThrow(TypeError)
  })

  it('tools named like members of Object are tools like any other', async () => {
    const server = createServer({ tools: { constructor: createTool({ id: 'c', execute: () => '' }) } })
    server.registerTool('__proto__', {}, () => '')
    server.registerTool('toString', {}, () => '')
    expect(server.getToolListInfo().tools.map(({ name }) => name)).toEqual([
      'constructor',
      '__proto__',
      'toString',
    ])
  })
})

describe('notify without a bus', () => {
  it('resolves: nobody could be told', async () => {
    const { tools, prompts, resources } = createServer()
    await tools.notifyListChanged()
    await prompts.notifyListChanged()
    await resources.notifyListChanged()
    await resources.notifyUpdated({ uri: 'a://1' })
  })

  it('with one publishes the event', async () => {
    const bus = createMemoryBus()
    const events: unknown[] = []
    bus.subscribe((event) => events.push(event))
    const { tools, prompts, resources } = createServer({ bus })
    await tools.notifyListChanged()
    await prompts.notifyListChanged()
    await resources.notifyListChanged()
    await resources.notifyUpdated({ uri: 'a://1' })
    expect(events).toEqual([
      { type: 'toolsListChanged' },
      { type: 'promptsListChanged' },
      { type: 'resourcesListChanged' },
      { type: 'resourceUpdated', uri: 'a://1' },
    ])
  })
})

it('an option that is undefined is as if it were not there', async () => {
  const absent = {
    title: undefined,
    instructions: undefined,
    bus: undefined,
    cache: undefined,
    secret: undefined,
  }
  const http = { publicUrl: undefined, allowedHosts: undefined, maxCallMs: undefined, rateLimiter: undefined }
  const tools = {
    t: createTool({ id: 't', title: undefined, enabled: undefined, scopes: undefined, execute: () => 'ok' }),
  }
  const server = new MCPServer({ ...VALID, ...absent, http, tools })
  expect(await server.executeTool('t', {})).toBe('ok')
  expect(server.getToolInfo('t')).not.toHaveProperty('title')
})
