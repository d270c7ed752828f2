/** Scopes on servers that cannot know their callers, and what those learn whom nobody knows. */
import { describe, expect, it } from 'vitest'
import { staticTokens } from '../../../src/auth.ts'
import {
  type AnyTool,
  createMemoryBus,
  createPrompt,
  createResource,
  createTool,
  type MCPServerConfig,
} from '../../../src/index.ts'
import { CLIENT, callTool, createServer, legacy, modern, modernRequest, readAnswer } from '../_client.ts'

const INITIALIZE = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: CLIENT }
const scopes = ['admin']
const pay: AnyTool = createTool({ id: 'pay', scopes, execute: () => 'paid' })
const look = createTool({ id: 'look', execute: () => 'looked' })
const plan = createPrompt({ scopes, get: () => 'plan' })
const till = createResource({ uri: 'shop://till', scopes, read: () => 'gold' })
const safes = createResource({
  uriTemplate: 'safe://{id}',
  scopes,
  complete: { id: () => ['1'] },
  read: () => 'gold',
})
const clerk = { description: 'Answers', scopes, generate: async () => 'paid' }
const close = { description: 'Closes', scopes, createRun: () => ({ start: async () => 'closed' }) }
const all = { tools: { pay, look }, prompts: { plan }, resources: [till, safes] }

describe('a server with scopes that cannot know its callers', () => {
  it.each<[string, Partial<MCPServerConfig>]>([
    ['Tool "pay"', { tools: { pay } }],
    ['Agent "clerk"', { agents: { clerk } }],
    ['Workflow "close"', { workflows: { close } }],
    ['Prompt "plan"', { prompts: { plan } }],
    ['Resource "shop://till"', { resources: [till] }],
    ['Resource "safe://{id}"', { resources: { safes } }],
  ])('%s → TypeError in one line, with what to add [auth.unknown]', (name, config) => {
    expect(() => createServer(config)).toThrow(
      `${name} needs the scope admin, but the server cannot know its callers: set "auth", or auth: "host" if the app around it checks them, or trustedTransport: true if everyone who can connect may use everything.`,
    )
  })

  it.each<[string, (server: ReturnType<typeof createServer>) => unknown]>([
    ['registerTool', (server) => server.registerTool('pay', { scopes }, () => 'paid')],
    ['registerResource', (server) => server.registerResource(till)],
    ['registerPrompt', (server) => server.registerPrompt('plan', plan)],
    ['update', (server) => server.registerTool('pay', {}, () => 'paid').update({ scopes })],
  ])('%s → the same [auth.unknown]', (_method, add) => {
    expect(() => add(createServer())).toThrow('cannot know its callers')
  })

  it('no scopes, an empty list, or a way to know them → created', () => {
    createServer({ tools: { look, free: createTool({ id: 'free', scopes: [], execute: () => '' }) } })
    createServer({ ...all, auth: 'host' })
    createServer({ ...all, trustedTransport: true })
    createServer({ ...all, auth: staticTokens([{ token: 'a-token-of-the-server', clientId: 'a' }]) })
  })

  it.each<[object, string]>([
    [{ trustedTransport: true, auth: 'host' }, 'remove one of them'],
    [{ trustedTransport: 'yes' }, '"trustedTransport" of MCPServer must be true or false, not "yes"'],
    [{ auth: 'express' }, '"auth" must be created by'],
    [{ auth: { apiKeys: {} } }, 'apiKeys (mayfly-mcp/keys), signIn (mayfly-mcp/sign-in)'],
  ])('%j → TypeError', (config, message) => {
    expect(() => createServer(config)).toThrow(message)
  })
})

const list = async (server: ReturnType<typeof createServer>): Promise<string> => {
  const methods = ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list']
  const answers = methods.map(async (method) => readAnswer(await server.fetch(modernRequest(method))))
  return JSON.stringify(await Promise.all(answers))
}

const page = async (server: ReturnType<typeof createServer>): Promise<string> =>
  (await server.fetch(new Request('https://mcp.example/', { headers: { accept: 'text/html' } }))).text()

/** What each method answers for a name. */
async function answerTo(
  server: ReturnType<typeof createServer>,
  method: string,
  params: { [name: string]: unknown },
): Promise<object> {
  const response = await server.fetch(modernRequest(method, params))
  const { message } = await readAnswer(response.clone())
  const { 'x-request-id': _, ...headers } = Object.fromEntries(response.headers)
  return { status: response.status, headers, error: message?.error }
}

describe('a caller whom nobody knows', () => {
  const open = createResource({ uri: 'shop://hours', read: () => '9 to 5' })
  const config = { ...all, resources: [till, safes, open], instructions: 'Pay with pay.' }
  const servers: [string, Partial<MCPServerConfig>][] = [
    ['auth: "host"', { auth: 'host' }],
    [
      'anonymous',
      {
        auth: staticTokens([{ token: 'a-token-of-the-server', clientId: 'a' }], {
          scopes: ['shop'],
          anonymous: { tools: ['look'], resources: ['shop://hours'] },
        }),
      },
    ],
  ]

  it.each(servers)(
    '%s: sees nothing that needs a scope, in no list and on no page [auth.unknown]',
    async (_how, auth) => {
      const server = createServer({ ...config, ...auth })
      for (const seen of [await list(server), await page(server)]) {
        expect(seen).toContain('look')
        expect(seen).not.toMatch(/pay|plan|till|safe/)
      }
    },
  )

  it.each(servers)(
    '%s: gets no instructions, which may name what is closed [auth.unknown]',
    async (_how, auth) => {
      const server = createServer({ ...config, ...auth })
      for (const answer of [
        await modern(server, 'server/discover'),
        await legacy(server, 'initialize', INITIALIZE),
      ]) {
        expect(answer.result?.capabilities).toBeDefined()
        expect(answer.result).not.toHaveProperty('instructions')
      }
    },
  )

  it.each<[string, Partial<MCPServerConfig>]>([
    ['with auth: "host", where nothing is closed', { tools: { look }, auth: 'host' }],
    ['on a trusted transport', { ...all, trustedTransport: true }],
  ])('%s, reads the instructions [auth.unknown]', async (_where, open) => {
    const server = createServer({ ...open, instructions: 'Look first.' })
    expect((await modern(server, 'server/discover')).result?.instructions).toBe('Look first.')
  })

  it('with a token it reads the instructions [auth.unknown]', async () => {
    const auth = staticTokens([{ token: 'a-token-of-the-server', clientId: 'a' }], {
      anonymous: { tools: ['look'] },
    })
    const server = createServer({ ...config, auth })
    const options = { headers: { authorization: 'Bearer a-token-of-the-server' } }
    for (const answer of [
      await modern(server, 'server/discover', {}, options),
      await legacy(server, 'initialize', INITIALIZE, options),
    ])
      expect(answer.result?.instructions).toBe('Pay with pay.')
  })

  const ref = (uri: string) => ({ ref: { type: 'ref/resource', uri }, argument: { name: 'id', value: '' } })
  const prompt = (name: string) => ({
    ref: { type: 'ref/prompt', name },
    argument: { name: 'id', value: '' },
  })
  const names: [string, (name: string) => object, string, string][] = [
    ['tools/call', (name) => ({ name, arguments: {} }), 'pay', 'nope'],
    ['tools/call', (name) => ({ name, arguments: 7 }), 'pay', 'nope'],
    ['prompts/get', (name) => ({ name }), 'plan', 'nope'],
    ['resources/read', (uri) => ({ uri }), 'shop://till', 'shop://nope'],
    ['resources/read', (uri) => ({ uri }), 'shop://TILL', 'shop://NOPE'],
    ['resources/read', (uri) => ({ uri }), 'safe://1', 'nope://1'],
    ['completion/complete', ref, 'safe://{id}', 'nope://{id}'],
    ['completion/complete', prompt, 'plan', 'nope'],
  ]
  for (const [how, auth] of servers)
    it.each(names)(
      `${how}: %s → the same answer for a closed name and one that does not exist [auth.unknown]`,
      async (method, paramsOf, closed, absent) => {
        const server = createServer({ ...config, ...auth })
        const asked = async (name: string) =>
          JSON.stringify(await answerTo(server, method, paramsOf(name) as never)).replaceAll(name, '<name>')
        const refused = await asked(closed)
        expect(refused).toContain('"status":401')
        expect(refused).toContain('<name> needs an access token')
        expect(await asked(absent)).toBe(refused)
      },
    )

  it('what setup adds with scopes is refused, too, like names that do not exist [auth.unknown]', async () => {
    const server = createServer({
      tools: { look },
      setup: (one) => void one.registerTool('pay', { scopes }, () => 'paid'),
    })
    const [closed, absent] = [
      await answerTo(server, 'tools/call', { name: 'pay' }),
      await answerTo(server, 'tools/call', { name: 'nope' }),
    ]
    expect(closed).toMatchObject({ status: 401 })
    expect(JSON.stringify(absent).replaceAll('nope', 'pay')).toBe(JSON.stringify(closed))
    expect(await list(server)).not.toContain('pay')
  })

  it('is told that a name does not exist where nothing needs a scope', async () => {
    const server = createServer({ tools: { look }, setup: () => {} })
    expect(await answerTo(server, 'tools/call', { name: 'nope' })).toMatchObject({
      status: 200,
      error: { code: -32602, message: 'Unknown tool: nope' },
    })
  })

  it('hears no change of what it may not read [auth.unknown]', async () => {
    const server = createServer({ ...config, auth: 'host', bus: createMemoryBus() })
    const notifications = { resourceSubscriptions: ['shop://till', 'safe://1', 'shop://nope'] }
    const response = await server.fetch(modernRequest('subscriptions/listen', { notifications }))
    expect(await response.text()).not.toMatch(/till|safe|nope/)
  })

  it('may use everything on a trusted transport', async () => {
    const server = createServer({ ...config, trustedTransport: true })
    expect(JSON.stringify(await callTool(server, 'pay', {}))).toContain('paid')
    expect(await list(server)).toContain('pay')
    expect(await page(server)).toContain('pay')
  })
})
