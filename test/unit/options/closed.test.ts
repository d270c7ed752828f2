/** Misspelt security options, each under a name that another framework or a slip of the hand gives them. */
import { createPrompt, createResource, createTool, MCPServer, type MCPServerConfig } from 'mayfly-mcp'
import { bearer, introspection, jwt, staticTokens } from 'mayfly-mcp/auth'
import { MCPClient } from 'mayfly-mcp/client'
import { fromNode } from 'mayfly-mcp/from-node'
import { gateway } from 'mayfly-mcp/gateway'
import { createTool as createMastraTool, MCPServer as MastraServer } from 'mayfly-mcp/mastra'
import { createMemoryVectorStore, createVectorQueryTool } from 'mayfly-mcp/retrieval'
import { fromSdk } from 'mayfly-mcp/sdk'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { nearest } from '../../../src/definition/unknown-option.ts'

const BASE = { id: 'shop', name: 'Shop', version: '1.0.0', log: false as const }
const TOKEN = { token: 'a-token-of-thirty-two-characters', scopes: ['shop'] }
const ISSUER = { issuer: 'https://login.example', audience: 'https://shop.example/mcp' }
const tool = { id: 'one', description: 'One', execute: () => '' }
const misspelt = (options: object) => options as never
const serve = (config: object) => new MCPServer({ ...BASE, ...config } as MCPServerConfig)
const store = createMemoryVectorStore()
const search = { vectorStore: store, indexName: 'docs', model: () => [] }

describe.each<[string, () => unknown, string]>([
  ['staticTokens', () => staticTokens([TOKEN], misspelt({ requiredScopes: ['shop'] })), 'scopes'],
  ['a static token', () => staticTokens([misspelt({ ...TOKEN, scope: ['shop'] })]), 'scopes'],
  ['bearer', () => bearer(() => undefined, misspelt({ requiredScopes: ['shop'] })), 'scopes'],
  ['jwt', () => jwt(misspelt({ ...ISSUER, requiredScopes: ['shop'] })), 'scopes'],
  [
    'introspection',
    () => introspection(misspelt({ ...ISSUER, endpoint: 'https://a.example', requiredScopes: ['shop'] })),
    'scopes',
  ],
  ['createTool', () => createTool(misspelt({ ...tool, scope: ['shop'] })), 'scopes'],
  ['createTool of Mastra', () => createMastraTool(misspelt({ ...tool, scope: ['shop'] })), 'scopes'],
  ['a tool as a plain object', () => serve({ tools: { one: { ...tool, scope: ['shop'] } } }), 'scopes'],
  ['the same, requiredScopes', () => serve({ tools: { one: { ...tool, requiredScopes: ['a'] } } }), 'scopes'],
  [
    'a created tool that is spread',
    () => serve({ tools: { one: { ...createTool(tool), scope: ['a'] } } }),
    'scopes',
  ],
  [
    'the same on a server of Mastra',
    () => new MastraServer(misspelt({ ...BASE, tools: { one: { ...tool, scope: ['shop'] } } })),
    'scopes',
  ],
  [
    'createResource',
    () => createResource(misspelt({ uri: 'a://b', scope: ['a'], read: () => '' })),
    'scopes',
  ],
  ['a resource', () => serve({ resources: [{ uri: 'a://b', scope: ['a'], read: () => '' }] }), 'scopes'],
  ['createPrompt', () => createPrompt(misspelt({ scope: ['a'], get: () => '' })), 'scopes'],
  ['a prompt', () => serve({ prompts: { a: { scope: ['a'], get: () => '' } } }), 'scopes'],
  [
    'handle.update',
    () =>
      serve({})
        .registerTool('one', {}, () => '')
        .update(misspelt({ scope: ['a'] })),
    'scopes',
  ],
  ['fromSdk', () => fromSdk(() => ({}) as never, misspelt({ scope: {} })), 'scopes'],
  ['fromSdk, one kind', () => fromSdk(() => ({}) as never, { scopes: misspelt({ tool: {} }) }), 'tools'],
  ['anonymous', () => staticTokens([TOKEN], { anonymous: misspelt({ tool: ['one'] }) }), 'tools'],
  ['MCPServer', () => serve({ authentication: bearer(() => undefined) }), 'auth'],
  ['http', () => serve({ http: { hosts: ['shop.example'] } }), 'allowedHosts'],
  ['a search tool', () => createVectorQueryTool(misspelt({ ...search, filters: { tenant: 'a' } })), 'filter'],
])('%s', (_function, make, known) => {
  it(`a misspelt security option → a TypeError that suggests "${known}"`, () => {
    expect(make).toThrow(TypeError)
    expect(make).toThrow(`did you mean "${known}"? Its options are `)
  })
})

it('a query with "filters" → refused, as is "where"', async () => {
  await store.createIndex({ indexName: 'docs', dimension: 1 })
  for (const name of ['filters', 'where'])
    await expect(
      store.query({ indexName: 'docs', queryVector: [1], [name]: { tenant: 'a' } }),
    ).rejects.toThrow('did you mean "filter"?')
})

it.each([
  [
    'type',
    'strict',
    'name',
    'parameters',
    'handler',
    'annotations',
    'execution',
    'definition',
    'server',
    'author',
  ],
])('a tool of another framework keeps its members: %s', (...names) => {
  const members = Object.fromEntries(names.map((name) => [name, 'x']))
  expect(() => serve({ tools: { one: { ...tool, ...members, inputSchema: {} } } })).not.toThrow()
})

describe.each([
  'disabled',
  'hidden',
  'private',
  'guard',
  'access',
  'acl',
  'canExecute',
  'requireAuth',
  'roles',
])('%s, which no kind has', (name) => {
  const agent = { description: 'Helps', generate: async () => '' }
  const workflow = { description: 'Runs', createRun: () => ({ start: async () => '' }) }
  it.each<[string, (more: object) => unknown]>([
    ['a tool', (more) => serve({ tools: { one: { ...tool, ...more } } })],
    ['an agent', (more) => serve({ agents: { one: { ...agent, ...more } } })],
    ['a workflow', (more) => serve({ workflows: { one: { ...workflow, ...more } } })],
    [
      'resource callbacks',
      (more) => serve({ resources: { listResources: () => [], getResourceContent: () => '', ...more } }),
    ],
    [
      'prompt callbacks',
      (more) => serve({ prompts: { listPrompts: () => [], getPromptMessages: () => '', ...more } }),
    ],
  ])('of %s → a TypeError, since it would guard nothing', (_kind, make) => {
    expect(() => make({ [name]: true })).toThrow(`has no option "${name}"`)
    expect(() => make({})).not.toThrow()
  })
})

it('an agent with "enabled: false" → a TypeError; an instance of a class keeps its members', () => {
  class Agent {
    description = 'Helps'
    enabled = true
    role = 'helper'
    generate = async () => ''
  }
  const agent = new Agent()
  expect(() => serve({ agents: { one: agent } })).not.toThrow()
  expect(() => serve({ agents: { one: { ...agent, enabled: false } } })).toThrow('has no option "enabled"')
})

it('a suggestion is the nearest name, or none', () => {
  const known = ['maxBodyBytes', 'allowedHosts', 'keepAliveMs']
  expect(nearest('maxBodyByte', known)).toBe('maxBodyBytes')
  expect(nearest('MAXBODYBYTES', known)).toBe('maxBodyBytes')
  expect(nearest('hosts', known)).toBe('allowedHosts')
  expect(nearest('colour', known)).toBeUndefined()
  expect(nearest('constructor', known)).toBeUndefined()
})

it.each<[object, string]>([
  [{ annotations: { readOnlyHint: true } }, 'did you mean "mcp.annotations"?'],
  [{ _meta: {} }, 'did you mean "mcp._meta"?'],
  [{ icons: [] }, 'did you mean "mcp.icons"?'],
  [{ id: undefined, name: 'one' }, 'did you mean "id"?'],
  [{ execute: undefined, handler: () => '' }, 'did you mean "execute"?'],
  [{ execute: undefined, callback: () => '' }, 'did you mean "execute"?'],
])('createTool as another SDK has it, with %o → says where it belongs', (members, message) => {
  for (const create of [createTool, createMastraTool])
    expect(() => create(misspelt({ ...tool, ...members }))).toThrow(message)
})

it('a tool with "handler" → the error says "execute"', () => {
  expect(() => serve({ tools: { one: { id: 'one', handler: () => '' } } })).toThrow(
    'Tool "one" has no execute function: name "handler" so.',
  )
})

it('a promise of a tool → the error says to await it', () => {
  expect(() => serve({ tools: { one: Promise.resolve({}) } })).toThrow(
    'Tool "one" has no execute function: it is a promise, write await before it.',
  )
})

it.each([
  ['port', 'it is an option of serve.'],
  ['hostname', 'it is an option of serve.'],
  ['host', 'it is the option "hostname" of serve.'],
  ['path', 'it is chosen where the server is mounted.'],
  ['transport', 'it is chosen by what serves it: serve, or mayfly stdio.'],
  ['cors', 'it is a matter of http.allowedOrigins.'],
  ['capabilities', 'its options are'],
])('MCPServer with "%s" → where it belongs, and no misleading suggestion', (name, words) => {
  expect(() => serve({ [name]: 1 })).toThrow(`MCPServer has no option "${name}": ${words}`)
})

describe('an option of "http" at the top level', () => {
  const http =
    /Its options are (.*)\.$/.exec(told(() => serve({ http: { publicURL: '' } })))?.[1]?.split(', ') ?? []
  const servers: [string, (config: object) => unknown][] = [
    ['MCPServer', serve],
    ['MCPServer', (config) => new MastraServer(misspelt({ ...BASE, ...config }))],
    ['fromSdk', (config) => fromSdk(() => ({}) as never, config)],
    ['fromNode', (config) => fromNode(() => {}, config)],
  ]

  it.each(servers)('of %s → the error says where each of them belongs', (where, make) => {
    expect(http.length).toBeGreaterThan(20)
    for (const name of http)
      expect(told(() => make({ [name]: 1 }))).toBe(
        `${where} has no option "${name}": write it into "http", http: { ${name}: … }.`,
      )
  })
})

function told(make: () => unknown): string {
  try {
    make()
    return ''
  } catch (error) {
    return error instanceof TypeError ? error.message : ''
  }
}

describe('the name of a tool that clients refuse', () => {
  const warned = vi.spyOn(console, 'warn').mockImplementation(() => undefined)
  afterEach(() => void warned.mockClear())
  const said = () =>
    warned.mock.calls.map(([line]) => (JSON.parse(line as string) as { message: string }).message)
  const one = { execute: () => '' }
  const agent = { description: 'Helps', generate: async () => '' }
  it.each<[string, (name: string) => unknown, string?]>([
    ['tools', (name) => serve({ tools: { [name]: one } })],
    ['registerTool', (name) => serve({}).registerTool(name, {}, () => '')],
    ['agents', (name) => serve({ agents: { [name]: agent } }), 'ask_'],
  ])('in %s → a warning at start, with the characters that are allowed', (_where, make, prefix = '') => {
    for (const name of ['my tool', 'größe', 'a/b', 'a,b', 'x'.repeat(130)]) {
      warned.mockClear()
      make(name)
      expect(said()).toEqual([
        `Tool ${JSON.stringify(prefix + name)}: many clients refuse this name. Use 1 to 128 of the characters A-Z, a-z, 0-9, "_", "-" and ".".`,
      ])
    }
    warned.mockClear()
    for (const name of ['a', 'get_user-2.all', 'x'.repeat(100)]) make(name)
    expect(said()).toEqual([])
  })
})

it.each<[object, string]>([
  [
    { annotations: { readOnlyHint: true } },
    'Tool "one" has "annotations" at the top level: write mcp: { annotations: … }.',
  ],
  [{ _meta: {} }, 'Tool "one" has "_meta" at the top level: write mcp: { _meta: … }.'],
  [{ icons: [] }, 'Tool "one" has "icons" at the top level: write mcp: { icons: … }.'],
  [
    { name: 'two' },
    'Tool "one" has name: "two", but clients see its key in "tools": rename the key, or remove "name".',
  ],
  [{ mcp: { readOnlyHint: true } }, 'did you mean "annotations.readOnlyHint"?'],
])('a tool that is a plain object with %o → says where it belongs', (members, message) => {
  expect(() => serve({ tools: { one: { execute: () => '', ...members } } })).toThrow(message)
})

it('a tool of another framework keeps its name, which is its key or has an id', () => {
  expect(() => serve({ tools: { one: { execute: () => '', name: 'one' } } })).not.toThrow()
  expect(() => serve({ tools: { one: { execute: () => '', id: 'x', name: 'two' } } })).not.toThrow()
})

it.each(['tools', 'agents', 'workflows', 'prompts'])(
  '"%s" as a list or a Map → says what it must be',
  (option) => {
    const words = 'it must be an object, { greet }, whose keys are the names that clients see.'
    expect(() => serve({ [option]: [tool] })).toThrow(`"${option}" is a list: ${words}`)
    expect(() => serve({ [option]: new Map([['one', tool]]) })).toThrow(`"${option}" is a Map: ${words}`)
  },
)

it.each<[unknown, string]>([
  [
    { a: 'https://mcp.example/mcp' },
    "servers.a must be an object, such as { url: 'https://mcp.example/mcp' }.",
  ],
  [{ a: null }, 'servers.a must be an object'],
  [{ a: ['https://mcp.example/mcp'] }, 'servers.a must be an object'],
  [['https://mcp.example/mcp'], 'servers'],
])('servers: %j of MCPClient and gateway → says what it must be', (servers, message) => {
  for (const create of [gateway, (given: object) => new MCPClient(given as never)]) {
    expect(() => create(misspelt({ servers }))).toThrow(message)
    expect(() => create(misspelt({ servers }))).not.toThrow(/'in' operator|undefined|not iterable/)
  }
})

it('a list or a string instead of options → a TypeError that says so', () => {
  expect(() => bearer(() => undefined, misspelt(['shop']))).toThrow(
    'bearer needs an object with options: scopes,',
  )
})

describe('names in "anonymous" that the server does not have', () => {
  const open = (names: object, config: object = {}) => {
    const auth = staticTokens([TOKEN], { anonymous: names })
    return serve({ auth, tools: { whoami: tool }, ...config })
  }

  it.each([
    [
      { tools: ['who_ami'] },
      '"anonymous.tools" names "who_ami", but this server has no such tool: did you mean "whoami"?',
    ],
    [
      { prompts: ['review'] },
      '"anonymous.prompts" names "review", but this server has no such prompt: remove it.',
    ],
    [{ resources: ['docs://a'] }, '"anonymous.resources" names "docs://a"'],
  ])('%j → an error when the server is compiled', async (names, message) => {
    expect(() => open(names).getToolListInfo()).toThrow(message)
    const onError = vi.fn()
    const response = await open(names, { onError }).fetch(
      new Request('http://localhost/mcp', { method: 'POST' }),
    )
    expect([response.status, String(onError.mock.calls[0]?.[0])]).toEqual([
      500,
      expect.stringContaining(message),
    ])
  })

  it('names that exist, of tools that are registered later, and of templates → accepted', () => {
    const server = open(
      { tools: ['whoami', 'later'], resources: ['docs://{id}'], prompts: ['review'] },
      {
        resources: [{ uriTemplate: 'docs://{id}', read: () => '' }],
        prompts: { review: { get: () => '' } },
      },
    )
    server.registerTool('later', {}, () => '')
    expect(() => server.getToolListInfo()).not.toThrow()
  })

  it('with setup, which may add the tool → a warning', () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    open({ tools: ['who_ami'] }, { setup: () => {} }).getToolListInfo()
    expect(warn.mock.calls.flat().join()).toContain('no such tool')
    warn.mockRestore()
  })

  it('with callbacks, which list for each request → accepted', () => {
    const callbacks = { listPrompts: () => [], getPromptMessages: () => '' }
    expect(() => open({ prompts: ['any'] }, { prompts: callbacks }).getToolListInfo()).not.toThrow()
  })
})

it('names that the first server of fromSdk does not have, in scopes or anonymous → a warning', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
  const { McpServer } = await import('@modelcontextprotocol/sdk/server/mcp.js')
  const make = () => {
    const server = new McpServer({ name: 'a', version: '1' })
    server.registerTool('refund', {}, () => ({ content: [] }))
    return server
  }
  const auth = staticTokens([TOKEN], { anonymous: { tools: ['refnd'] } })
  const hosted = fromSdk(make, { auth, log: false, scopes: { tools: { refunds: ['shop'] } } })
  for (let n = 0; n < 2; n++)
    await hosted.fetch(
      new Request('http://localhost/mcp', {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${TOKEN.token}` },
        body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
      }),
    )
  const lines = warn.mock.calls.flat().map(String)
  warn.mockRestore()
  expect(lines).toEqual([
    expect.stringContaining('\\"scopes.tools\\" names \\"refunds\\"'),
    expect.stringContaining('\\"anonymous.tools\\" names \\"refnd\\"'),
  ])
})
