/** What an extension may be called, and what the protocol reserves. */
import { describe, expect, it, test } from 'vitest'
import { createMethod, type ExtensionConfig, extension } from '../../../src/extensions.ts'
import { createTool } from '../../../src/index.ts'
import { createServer } from '../_client.ts'

const method = createMethod({ execute: () => ({}) })
const make = (config: Partial<ExtensionConfig>) => () => extension({ id: 'com.example/own', ...config })

describe('the id', () => {
  it.each([
    'com.example/skills',
    'a/b',
    'com.example.mcp/x',
    'com.ex-ample/a.b_c-d',
    'io.modelcontextprotocol/skills',
  ])('%s is one', (id) => {
    expect(extension({ id }).id).toBe(id)
  })

  it.each([
    '',
    'skills',
    '/x',
    'com.example/',
    'com..example/x',
    '1com/x',
    'com.example/-x',
    `com.example/${'x'.repeat(200)}`,
    'com example/x',
  ])('%j is none → a TypeError', (id) => {
    expect(make({ id })).toThrow(/is not the identifier of an extension/)
  })

  it.each([
    'io.modelcontextprotocol/own',
    'dev.mcp/x',
    'com.mcp.tools/x',
    'org.modelcontextprotocol.api/x',
    'io.MCP/x',
  ])('%s is reserved for MCP → a TypeError', (id) => {
    expect(make({ id })).toThrow(/is reserved for MCP/)
  })
})

describe('a method', () => {
  it.each([
    'tools/call',
    'tools/anything',
    'initialize',
    'ping',
    'server/discover',
    'subscriptions/listen',
    'resources/directory/read',
    'completion/complete',
    'rpc.discover',
    'notifications/own',
    'tasks/get',
    'events/list',
    'skills/list',
    'noslash',
    'own/',
    '/own',
  ])('%s → a TypeError', (name) => {
    expect(make({ methods: { [name]: method } })).toThrow(TypeError)
  })

  it('of the extension of MCP that has it is allowed', () => {
    const id = 'io.modelcontextprotocol/skills'
    expect(make({ id, methods: { 'skills/list': method, 'resources/directory/read': method } })).not.toThrow()
    expect(make({ id, methods: { 'events/list': method } })).toThrow(
      /it is one of io.modelcontextprotocol\/events/,
    )
  })

  it('that was not created by createMethod → a TypeError', () => {
    expect(make({ methods: { 'own/get': (() => ({})) as never } })).toThrow(/must be created by createMethod/)
  })
})

test.each([
  'notifications/progress',
  'notifications/tools/list_changed',
  'notifications/tasks',
  'own/changed',
  'notifications/',
])('the notification %s → a TypeError', (name) => {
  expect(make({ notifications: [name] })).toThrow(TypeError)
  expect(make({ changes: { ownChanged: name } })).toThrow(TypeError)
})

test.each(['tools', 'extensions', 'experimental', 'a b'])(
  'the capability %s → a TypeError',
  (alsoDeclaredAs) => {
    expect(make({ alsoDeclaredAs })).toThrow(/reserved for MCP/)
  },
)

test.each(['toolsListChanged', 'resourceSubscriptions', 'taskIds', 'a b'])(
  'the change %s → a TypeError',
  (name) => {
    expect(make({ changes: { [name]: 'notifications/own/changed' } })).toThrow(/reserved for MCP/)
  },
)

describe('two extensions of a server', () => {
  it.each([
    ['id', {}, {}],
    ['method', { methods: { 'own/get': method } }, { id: 'com.example/b', methods: { 'own/get': method } }],
    ['name', { name: 'own' }, { id: 'com.example/b', name: 'own' }],
    ['capability', { alsoDeclaredAs: 'own' }, { id: 'com.example/b', alsoDeclaredAs: 'own' }],
  ])('with the same %s → a TypeError', (what, one, other) => {
    expect(() => createServer({ extensions: [make(one)(), make(other)()] })).toThrow(
      new RegExp(`have the ${what} `),
    )
  })

  it('and one extension of two servers → a TypeError', () => {
    const own = make({})()
    createServer({ extensions: [own] })
    expect(() => createServer({ extensions: [own] })).toThrow(/belongs to another server/)
  })
})

describe('the server', () => {
  it('has the api of an extension under its name, and takes it by an option of that name', () => {
    const api = { emit: () => 1 }
    const config = { name: 'forecast', api }
    expect(createServer({ extensions: [make(config)()] })).toMatchObject({ forecast: api })
    expect(createServer({ forecast: make(config)() } as never)).toMatchObject({ forecast: api })
  })

  it.each(['fetch', 'close', 'tools', 'id', 'constructor'])('has "%s" already → a TypeError', (name) => {
    expect(() => createServer({ extensions: [make({ name })()] })).toThrow(/servers have that already/)
  })

  it('takes an extension by no other option, and nothing else in the list', () => {
    expect(() => createServer({ forecsat: make({ name: 'forecast' })() } as never)).toThrow(
      /no option "forecsat"/,
    )
    expect(() => createServer({ extensions: [{}] as never })).toThrow(
      /"extensions" must be a list of extensions/,
    )
    expect(() => createServer({ extensions: make({}) as never })).toThrow(
      /"extensions" must be a list of extensions/,
    )
  })

  it('gets its tools; a taken name → a TypeError', async () => {
    const own = createTool({ id: 'own', execute: () => 'yes' })
    expect(createServer({ extensions: [make({ tools: { own } })()] }).getToolInfo('own')).toMatchObject({
      name: 'own',
    })
    expect(() => createServer({ tools: { own }, extensions: [make({ tools: { own } })()] })).toThrow(
      /Tool "own" of extension "com.example\/own" is already defined/,
    )
  })
})

describe('options', () => {
  it('unknown ones → a TypeError, at every depth', () => {
    expect(make({ setings: {} } as never)).toThrow(
      /extension has no option "setings": did you mean "settings"/,
    )
    expect(() => createMethod({ execute: () => ({}), scope: ['a'] } as never)).toThrow(
      /did you mean "scopes"/,
    )
  })

  it('that contradict each other → a TypeError', () => {
    expect(() => createMethod({} as never)).toThrow(/either "execute" or "stream"/)
    const both = { execute: () => ({}), stream: async function* () {} }
    expect(() => createMethod(both as never)).toThrow(/either "execute" or "stream"/)
    const cached = { cache: 'shared', stream: async function* () {} }
    expect(() => createMethod(cached as never)).toThrow(
      /"cache" of createMethod is for methods that answer once/,
    )
    expect(() => createMethod({ execute: () => ({}), eras: ['old'] as never })).toThrow(/"eras"/)
    expect(make({ settings: [] })).toThrow(/"settings" of extension/)
  })
})
