/** What one call does to the caller that it is given is gone with it: every verifier, behind every kind of server. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { McpServer as McpServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { McpServer as McpServerV2 } from '@modelcontextprotocol/server'
import { describe, expect, it } from 'vitest'
import { toCaller } from '../../../src/auth/host-caller.ts'
import { type Auth, bearer, introspection, staticTokens } from '../../../src/auth.ts'
import { fromNode } from '../../../src/from-node.ts'
import {
  type AuthInfo,
  type CanSubscribe,
  createResource,
  createTool,
  type MCPServerConfig,
  type RequestPlatform,
} from '../../../src/index.ts'
import { oauth } from '../../../src/mastra.ts'
import { fromSdk, type SdkContext } from '../../../src/sdk.ts'
import { createMemoryTasks } from '../../../src/tasks.ts'
import { createServer, legacy, modern, post, type SendOptions, textOf } from '../_client.ts'
import { fixture } from '../_listen.ts'
import { TaskClient } from '../tasks/_tasks.ts'
import { AUDIENCE } from './_issuer.ts'

const TOKEN = 'a-token-that-is-long-enough'
const headers = { authorization: `Bearer ${TOKEN}` }

/** What every source keeps between calls. */
const identity = () => ({
  clientId: 'desk',
  scopes: ['shop'],
  extra: { sub: 'ann', plan: { tier: 'free' }, roles: ['user'], since: new Date(0), tags: new Set(['a']) },
})

const WAS = '{"scopes":["shop"],"tier":"free","roles":["user"],"since":0,"tags":["a"]}'

/** Says what the caller was, and changes all of it. */
function spoil(given: unknown): string {
  const auth = given as AuthInfo & { extra: ReturnType<typeof identity>['extra'] }
  const { plan, roles, since, tags } = auth.extra
  const was = { scopes: auth.scopes, tier: plan.tier, roles, since: Number(since), tags: [...(tags ?? [])] }
  const text = JSON.stringify(was)
  auth.scopes.push('admin')
  plan.tier = 'gold'
  roles.push('root')
  since?.setTime(1)
  tags?.add('b')
  auth.clientId = 'root'
  return text
}

interface Source {
  readonly auth?: Auth
  readonly platform?: RequestPlatform
}

/** A server of ours. */
const ours = ({ auth }: Source, config: Partial<MCPServerConfig> = {}) =>
  createServer({ ...(auth && { auth }), tools: { ask }, ...config })

const SOURCES: { readonly [name: string]: () => Source } = {
  staticTokens: () => ({ auth: staticTokens([{ token: TOKEN, ...identity() }]) }),
  'staticTokens, of a function': () => {
    const entries = [{ token: TOKEN, ...identity() }]
    return { auth: staticTokens(() => entries) }
  },
  'bearer that remembers': () => {
    const known = identity()
    return { auth: bearer(() => known) }
  },
  'validateToken that remembers': () => {
    const { extra, scopes } = identity()
    const known = { valid: true, scopes, claims: extra }
    return { auth: oauth({ resource: AUDIENCE, authorizationServers: [], validateToken: () => known }) }
  },
  'middleware that remembers': () => {
    const known = { token: TOKEN, ...identity() }
    return { platform: { caller: () => toCaller(known) } }
  },
}

const ask = createTool({ id: 'ask', execute: (_input, ctx) => spoil(ctx.auth) })

type Ask = (source: Source) => Promise<() => Promise<string[]>>

const said = (
  speak: typeof modern,
  server: Parameters<typeof modern>[0],
  source: Source,
  send: SendOptions = {},
) => {
  const options = { headers, ...(source.platform && { platform: source.platform }), ...send }
  return async () => [
    textOf(await speak(server, 'tools/call', { name: 'ask', arguments: {} }, options)) ?? '',
  ]
}

const hosted = ({ auth }: Source) => ({ log: false as const, ...(auth && { auth }) })

const createV1 = (): McpServerV1 => {
  const server = new McpServerV1({ name: 'shop', version: '1.0.0' })
  server.registerTool('ask', { inputSchema: {} }, (_args, extra) => ({
    content: [{ type: 'text', text: spoil(extra.authInfo) }],
  }))
  return server
}

const createV2 = (): McpServerV2 => {
  const server = new McpServerV2({ name: 'shop', version: '1.0.0' })
  server.registerTool('ask', {}, (ctx) => ({
    content: [{ type: 'text', text: spoil((ctx as { http?: { authInfo?: unknown } }).http?.authInfo) }],
  }))
  return server
}

const ENTRIES: { readonly [name: string]: Ask } = {
  'a modern call': async (source) => said(modern, ours(source), source),
  'a legacy call': async (source) => said(legacy, ours(source), source),
  'a legacy batch': async (source) => {
    const server = ours(source)
    const message = (id: number) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'ask' } })
    return async () => {
      const request = post([message(1), message(2), message(3)], { headers })
      const parts = (await (await server.handle(request, source.platform ?? {})).json()) as {
        result: { content: { text: string }[] }
      }[]
      return parts.map(({ result }) => result.content[0]!.text)
    }
  },
  setup: async (source) => {
    const seen: string[] = []
    const setup = (server: { context: { auth?: AuthInfo | undefined } }) => {
      seen.push(spoil(server.context.auth))
    }
    const call = said(modern, ours(source, { setup }), source)
    return async () => {
      await call()
      return seen.splice(0)
    }
  },
  canSubscribe: async (source) => {
    const seen: string[] = []
    const canSubscribe: CanSubscribe = (_asked, { auth }) => {
      seen.push(spoil(auth))
      return true
    }
    const resources = [createResource({ uri: 'a://1', read: () => '', canSubscribe })]
    const { listen } = fixture({ resources, ...(source.auth && { auth: source.auth }) })
    return async () => {
      const platform = source.platform ?? {}
      const { stream } = await listen({ resourceSubscriptions: ['a://1'] }, { headers, platform })
      await stream.next()
      await stream.cancel()
      return seen.splice(0)
    }
  },
  'a task': async (source) => {
    const slow = createTool({ id: 'slow', task: 'required', execute: (_input, ctx) => spoil(ctx.auth) })
    const { auth, platform = {} } = source
    const client = new TaskClient({ ...(auth && { auth }), tools: { slow }, tasks: createMemoryTasks() })
    const waitUntil = (work: Promise<unknown>) => void client.work.push(work)
    const options = { headers, platform: { ...platform, waitUntil } }
    return async () => {
      const { taskId } = await client.call('slow', {}, options)
      await client.settle()
      return [(await client.get(taskId, options)).result!.content[0]!.text]
    }
  },
  'fromSdk, v1': async (source) => said(legacy, fromSdk(createV1, hosted(source)), source),
  'fromSdk, v2, legacy': async (source) => said(legacy, fromSdk(createV2, hosted(source)), source),
  'fromSdk, v2, modern': async (source) => said(modern, fromSdk(createV2, hosted(source)), source),
  'the factory of fromSdk': async (source) => {
    const seen: string[] = []
    const create = ({ authInfo }: SdkContext) => {
      seen.push(spoil(authInfo))
      return createV1()
    }
    const server = fromSdk(create, hosted(source))
    return async () => {
      await legacy(
        server,
        'tools/list',
        {},
        { headers, ...(source.platform && { platform: source.platform }) },
      )
      return seen.splice(0).slice(-1)
    }
  },
  fromNode: async (source) => {
    const handler = async (request: IncomingMessage & { body?: unknown }, response: ServerResponse) => {
      const transport = new StreamableHTTPServerTransport({})
      await createV1().connect(transport as never)
      await transport.handleRequest(request as never, response, request.body)
    }
    return said(legacy, fromNode(handler, { ...hosted(source), mcpPath: '*' }), source)
  },
}

describe.each(Object.entries(SOURCES))('%s', (_source, create) => {
  it.each(Object.entries(ENTRIES))('%s has a caller of its own [auth.own]', async (_entry, enter) => {
    const call = await enter(create())
    for (let round = 0; round < 3; round++) {
      const said = await call()
      expect(said.length).toBeGreaterThan(0)
      for (const text of said) expect(text).toBe(WAS)
    }
  })
})

it('an answer of introspection that is remembered is each call’s own [auth.own]', async () => {
  const auth = introspection({
    endpoint: 'https://login.example/introspect',
    clientId: 'shop',
    clientSecret: 'secret',
    issuer: 'https://login.example',
    audience: AUDIENCE,
    fetch: async () =>
      Response.json({ active: true, aud: AUDIENCE, scope: 'shop', plan: { tier: 'free' }, roles: ['user'] }),
  })
  const call = said(modern, createServer({ auth, tools: { ask } }), {})
  const [first] = await call()
  expect(first).toContain('"tier":"free"')
  for (let round = 0; round < 3; round++) expect(await call()).toEqual([first])
})

it('instances of classes stay what they are, and data may contain itself [auth.own]', async () => {
  class Account {
    readonly #id = 'ann'
    get id(): string {
      return this.#id
    }
  }
  const account = new Account()
  const extra: Record<string, unknown> = JSON.parse('{"__proto__":{"isAdmin":true},"sub":"ann"}')
  const loop: { self?: unknown } = {}
  loop.self = loop
  Object.assign(extra, { account, loop, link: () => 'linked' })
  const look = createTool({
    id: 'ask',
    execute: (_input, ctx) => {
      const own = ctx.auth!.extra as typeof extra & { account: Account; loop: typeof loop; link(): string }
      return JSON.stringify([
        own.account.id,
        own.loop.self === own.loop && own.loop !== loop,
        own.link(),
        own.isAdmin,
        Object.keys(own),
      ])
    },
  })
  const server = createServer({ auth: bearer(() => ({ clientId: 'desk', extra })), tools: { ask: look } })
  expect(JSON.parse((await said(modern, server, {})())[0]!)).toEqual([
    'ann',
    true,
    'linked',
    null,
    expect.arrayContaining(['__proto__', 'account', 'loop', 'link', 'sub']),
  ])
})

it('claims are the call’s own, too, and one named __proto__ is a claim like any other', async () => {
  const claims: Record<string, unknown> = JSON.parse('{"__proto__":{"isAdmin":true},"plan":{"tier":"free"}}')
  const look = createTool({
    id: 'ask',
    execute: (_input, { auth }) => {
      const own = auth!.claims as { isAdmin?: boolean; plan: { tier: string } }
      const was = JSON.stringify([own.isAdmin ?? null, own.plan.tier, Object.keys(own)])
      own.plan.tier = 'gold'
      return was
    },
  })
  const answer = { clientId: 'desk', claims }
  const server = createServer({ auth: bearer(() => answer), tools: { ask: look } })
  for (let call = 0; call < 2; call++)
    expect((await said(modern, server, {})())[0]).toBe('[null,"free",["__proto__","plan"]]')
})

it('a member whose name every object has cannot be assigned is a member like another', async () => {
  const auth = bearer(() => ({ clientId: 'desk', extra: { hardened: { hardened: 'own' } } }))
  const seen: unknown[] = []
  const see = (_input: unknown, { auth }: { auth?: AuthInfo }): string => String(seen.push(auth?.extra))
  const server = createServer({ auth, tools: { see: createTool({ id: 'see', execute: see as never }) } })
  // As where Object.prototype is frozen against pollution.
  Object.defineProperty(Object.prototype, 'hardened', { value: 'of all', configurable: true })
  try {
    await modern(server, 'tools/call', { name: 'see' }, { headers })
  } finally {
    delete (Object.prototype as { hardened?: unknown }).hardened
  }
  expect(seen).toEqual([{ hardened: { hardened: 'own' } }])
})
