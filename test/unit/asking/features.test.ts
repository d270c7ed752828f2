/** What `ctx.can` says of each feature, by who asks, over which connection, and what is configured. */
import { describe, expect, it } from 'vitest'
import {
  createMemoryBus,
  createMemoryRendezvous,
  createTool,
  type Feature,
  type MCPServerConfig,
} from '../../../src/index.ts'
import type { ClientSession } from '../../../src/request/platform.ts'
import { createServer, initialize, legacy, META, modern, type SendOptions, textOf } from '../_client.ts'

const QUESTIONS: readonly Feature[] = ['elicitation.form', 'elicitation.url', 'sampling', 'roots']
const CHANGES: readonly Feature[] = [
  'tools.listChanged',
  'prompts.listChanged',
  'resources.listChanged',
  'resources.subscribe',
]
const FEATURES: readonly Feature[] = [
  ...QUESTIONS,
  ...CHANGES,
  'progress',
  'logging',
  'logLevel',
  'resumability',
  'sessions',
  'completions',
  'tasks',
]
const ALL = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} }

const tools = {
  can: createTool({
    id: 'can',
    execute: (_input, ctx) => JSON.stringify(FEATURES.filter((feature) => ctx.can(feature).available)),
  }),
  why: createTool({
    id: 'why',
    execute: (_input, ctx) => JSON.stringify(FEATURES.map((feature) => ctx.can(feature))),
  }),
  visit: createTool({
    id: 'visit',
    execute: (_input, ctx) => ctx.elicit('Sign in', 'https://mcp.example/sign-in'),
  }),
}
const serverOf = (config: Partial<MCPServerConfig> = {}) => createServer({ tools, ...config })
const rendezvous = () => ({ legacy: 'rendezvous' as const, rendezvous: createMemoryRendezvous() })
const secret = 'a-secret-of-the-tests-that-is-long-enough'

type Server = ReturnType<typeof serverOf>
const listed = (text: string | undefined) => JSON.parse(text!) as Feature[]

const modernCan = async (server: Server, capabilities: object, options: SendOptions = {}) =>
  listed(
    textOf(
      await modern(
        server,
        'tools/call',
        { name: 'can', _meta: { progressToken: 1 } },
        { ...options, meta: { [META.clientCapabilities]: capabilities, [META.logLevel]: 'info' } },
      ),
    ),
  )

async function legacyHeaders(server: Server, capabilities: object, protocolVersion: string) {
  const { headers } = await initialize(server, { capabilities, protocolVersion })
  return { 'mcp-session-id': headers.get('mcp-session-id')!, 'mcp-protocol-version': protocolVersion }
}

const legacyCan = async (server: Server, capabilities: object, protocolVersion = '2025-11-25') => {
  const headers = await legacyHeaders(server, capabilities, protocolVersion)
  return listed(
    textOf(await legacy(server, 'tools/call', { name: 'can', _meta: { progressToken: 1 } }, { headers })),
  )
}

const sessionOf = (clientCapabilities: object): ClientSession => ({
  id: 'session',
  declared: { protocolVersion: '2025-11-25', clientInfo: undefined, clientCapabilities },
  logLevel: undefined,
  subscriptions: { change: async () => {} },
  rendezvous: createMemoryRendezvous(),
})

const CAPABILITIES: readonly [object, readonly Feature[]][] = [
  [{}, []],
  [{ elicitation: {} }, ['elicitation.form']],
  [{ elicitation: { form: {} } }, ['elicitation.form']],
  [{ elicitation: { url: {} } }, ['elicitation.url']],
  [{ elicitation: { form: {}, url: {} } }, ['elicitation.form', 'elicitation.url']],
  [{ sampling: {} }, ['sampling']],
  [{ roots: {} }, ['roots']],
  [{ roots: { listChanged: true }, sampling: { tools: {} } }, ['sampling', 'roots']],
]

describe('questions', () => {
  it.each(CAPABILITIES)('a modern client that declares %j → %j', async (capabilities, features) => {
    const can = await modernCan(serverOf(), capabilities)
    expect(can.filter((feature) => QUESTIONS.includes(feature))).toEqual(features)
  })

  it.each(CAPABILITIES)(
    'a legacy client in a session that declares %j → %j',
    async (capabilities, features) => {
      for (const config of [{}, { legacy: 'arguments' as const, secret }, rendezvous()]) {
        const platform = { session: sessionOf(capabilities) }
        const answer = await legacy(serverOf(config), 'tools/call', { name: 'can' }, { platform })
        expect(listed(textOf(answer)).filter((feature) => QUESTIONS.includes(feature))).toEqual(features)
      }
    },
  )

  it.each(CAPABILITIES)(
    'a legacy client at a rendezvous that declares %j → %j',
    async (capabilities, features) => {
      const can = await legacyCan(serverOf(rendezvous()), capabilities)
      expect(can.filter((feature) => QUESTIONS.includes(feature))).toEqual(features)
    },
  )

  it.each<[string, Partial<MCPServerConfig>, string, readonly Feature[]]>([
    ['explain', {}, '2025-11-25', ['elicitation.url']],
    ['explain, 2025-06-18', {}, '2025-06-18', []],
    ['arguments', { legacy: 'arguments', secret }, '2025-11-25', ['elicitation.form', 'elicitation.url']],
    ['arguments, 2025-06-18', { legacy: 'arguments', secret }, '2025-06-18', ['elicitation.form']],
    ['arguments without a secret', { legacy: 'arguments' }, '2025-11-25', ['elicitation.url']],
    [
      'a rendezvous that no policy names',
      { rendezvous: createMemoryRendezvous() },
      '2025-11-25',
      ['elicitation.url'],
    ],
    ['the policy rendezvous without one', { legacy: 'rendezvous' }, '2025-11-25', []],
    ['a rendezvous, 2025-06-18', rendezvous(), '2025-06-18', QUESTIONS],
  ])(
    'a legacy client that declares all: %s → as the table has it',
    async (_label, config, version, features) => {
      const can = await legacyCan(serverOf(config), ALL, version)
      expect(can.filter((feature) => QUESTIONS.includes(feature))).toEqual(features)
    },
  )
})

describe('a visit to a URL, asked of a legacy client without a session', () => {
  const visit = async (config: Partial<MCPServerConfig>, capabilities: object, version: string) => {
    const server = serverOf(config)
    const headers = await legacyHeaders(server, capabilities, version)
    return legacy(server, 'tools/call', { name: 'visit' }, { headers })
  }

  it('of 2025-11-25 that declares it → the error -32042 with the URL', async () => {
    for (const config of [{}, { legacy: 'arguments' as const, secret }]) {
      const { error } = await visit(config, ALL, '2025-11-25')
      expect(error).toMatchObject({
        code: -32_042,
        data: {
          elicitations: [
            {
              mode: 'url',
              message: 'Sign in',
              url: 'https://mcp.example/sign-in',
              elicitationId: expect.any(String),
            },
          ],
        },
      })
    }
  })

  it.each<[string, object, string]>([
    ['of 2025-06-18', ALL, '2025-06-18'],
    ['that declares forms only', { elicitation: {} }, '2025-11-25'],
    ['that declares nothing', {}, '2025-11-25'],
  ])('%s → a result that explains', async (_label, capabilities, version) => {
    const { error, result } = await visit({}, capabilities, version)
    expect(error).toBeUndefined()
    expect(result).toMatchObject({
      isError: true,
      _meta: { 'mayfly/degraded': { feature: 'elicitation.url' } },
    })
  })
})

describe('what needs no question', () => {
  const others = (features: readonly Feature[]) => features.filter((feature) => !QUESTIONS.includes(feature))

  it.each<[string, Partial<MCPServerConfig>, SendOptions, readonly Feature[]]>([
    ['as it is', {}, {}, ['progress', 'logging', 'logLevel', 'completions']],
    [
      'with a bus',
      { bus: createMemoryBus() },
      {},
      [...CHANGES, 'progress', 'logging', 'logLevel', 'completions'],
    ],
    [
      'with a bus, and a client that takes JSON alone',
      { bus: createMemoryBus() },
      { headers: { accept: 'application/json' } },
      ['logLevel', 'completions'],
    ],
    [
      'with a bus, on a platform that cannot stream',
      { bus: createMemoryBus() },
      { platform: { canStream: false } },
      ['logLevel', 'completions'],
    ],
  ])('a modern client: %s', async (_label, config, options, features) => {
    expect(others(await modernCan(serverOf(config), ALL, options))).toEqual(features)
  })

  it('a legacy client without a session has no changes, level or session, whatever is configured', async () => {
    const config = { bus: createMemoryBus(), secret, ...rendezvous() }
    expect(others(await legacyCan(serverOf(config), ALL))).toEqual(['progress', 'logging', 'completions'])
  })

  it('a legacy client in a session has all of them, bus or not', async () => {
    const platform = { session: sessionOf({}) }
    const call = { name: 'can', _meta: { progressToken: 1 } }
    const answer = await legacy(serverOf(), 'tools/call', call, { platform })
    expect(listed(textOf(answer))).toEqual([
      ...CHANGES,
      'progress',
      'logging',
      'logLevel',
      'sessions',
      'completions',
    ])
  })
})

it('each feature that is not there says why, and what to do', async () => {
  const answer = await legacy(serverOf(), 'tools/call', { name: 'why' })
  const said = JSON.parse(textOf(answer)!) as { available: boolean; reason?: string; remedy?: string }[]
  const missing = said.filter(({ available }) => !available)
  expect(missing.length).toBeGreaterThan(8)
  for (const { reason, remedy } of missing) {
    expect(reason).toMatch(/\w+ .*\.$/)
    expect(remedy).toMatch(/\w+ .*\.$/)
  }
  expect(said.find(({ available }) => available)).toEqual({ available: true })
})
