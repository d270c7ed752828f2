/**
 * Several callers, several servers, one deployment: `[step, step, …]`, each `server caller transport JSON`. What is promised:
 * every request is answered once, what a caller may not see is in no answer to it, every message is audited, and in the end no call
 * is counted and no timer runs.
 */
import { McpServer as McpServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js'
import { McpServer as McpServerV2 } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { createSessions } from '../../../adapters/node.ts'
import { staticTokens } from '../../../src/auth.ts'
import { createMemoryRateLimiter, createTool, MCPServer, type RequestPlatform } from '../../../src/index.ts'
import { fromSdk } from '../../../src/sdk.ts'
import { mutateJson } from '../mutate.ts'
import type { Random } from '../random.ts'
import { type Input, promise, type Target } from '../target.ts'

const META = 'io.modelcontextprotocol/'
const SERVERS = ['own', 'v1', 'v2']
const CALLERS = ['ann', 'root', 'bad', 'none']
const TRANSPORTS = ['call', 'session']
const MAX_STEPS = 6
const PLACES = 4

/** Text that is in no answer to a caller without the scope. */
const ADMIN = 'ONLY-FOR-ADMINS'
const ownedBy = (caller: string): string => `OWNED-BY-${caller}`

const TOKENS: { readonly [caller: string]: string } = {
  ann: 'ann-4nT9qLw2rB7vK1mZ8cJ5xD6fYh3s',
  root: 'root-4nT9qLw2rB7vK1mZ8cJ5xD6fYh3',
  bad: 'bad-4nT9qLw2rB7vK1mZ8cJ5xD6fYh3s',
}

interface Handler {
  handle(request: Request, platform: RequestPlatform): Promise<Response>
}

interface Deployment {
  readonly servers: { readonly [name: string]: Handler }
  readonly sessions: ReturnType<typeof createSessions>
  /** Faults that the servers report as their own. */
  readonly faults: readonly unknown[]
  /** How many entries the audit trail has. */
  audited(): number
}

function createDeployment(): Deployment {
  const faults: unknown[] = []
  let audited = 0
  const hosting = {
    log: () => {},
    audit: { record: () => void audited++ },
    onError: (error: unknown, facts: { readonly [name: string]: unknown }) => {
      if (facts.tool === undefined && facts.refused === undefined) faults.push(error)
    },
    auth: staticTokens(
      [
        { token: TOKENS.ann!, clientId: 'ann', scopes: [] },
        { token: TOKENS.root!, clientId: 'root', scopes: ['admin'] },
      ],
      { anonymous: { tools: ['open'], resources: ['open://{id}'] } },
    ),
    http: {
      maxConcurrentCalls: PLACES,
      // One caller asks for all places, to see that they were given back.
      callerShare: 1,
      maxCallMs: 30,
      streamAfterMs: 2,
      keepAliveMs: 1,
      maxListenMs: 2,
      rateLimiter: createMemoryRateLimiter({ calls: 10_000, windowMs: 60_000 }),
    },
  }
  const own = new MCPServer({
    ...hosting,
    id: 'crowd',
    name: 'Crowd',
    version: '1.0.0',
    secret: 'a secret of thirty-two characters!',
    tools: {
      open: createTool({ id: 'open', execute: () => 'open' }),
      mine: createTool({ id: 'mine', execute: (_input, ctx) => ownedBy(ctx.auth?.clientId ?? 'none') }),
      admin: createTool({ id: 'admin', description: ADMIN, scopes: ['admin'], execute: () => ADMIN }),
      hang: createTool({ id: 'hang', execute: () => new Promise(() => {}) }),
      ask: createTool({
        id: 'ask',
        execute: async (_input, ctx) => {
          const step = await ctx.step('who', () => ownedBy(ctx.auth?.clientId ?? 'none'))
          const answer = await ctx.elicit('Sure?', z.object({ sure: z.boolean() }))
          return `${step} ${answer.action}`
        },
      }),
      late: createTool({
        id: 'late',
        execute: (_input, ctx) => {
          setTimeout(() => ctx.log('error', 'late'), 1)
          ctx.waitUntil(Promise.resolve())
          ctx.log('error', 'early')
          return 'done'
        },
      }),
    },
    resources: [
      { uriTemplate: 'open://{id}', read: () => 'open' },
      { uriTemplate: 'vault://{+path}', scopes: ['admin'], read: () => ADMIN },
    ],
  })
  const scopes = { tools: { admin: ['admin'] }, resources: { 'vault://{+path}': ['admin'] } }
  const servers = {
    own,
    v1: fromSdk(({ authInfo }) => createV1(authInfo?.clientId), { ...hosting, scopes }),
    v2: fromSdk(({ authInfo }) => createV2(authInfo?.clientId), { ...hosting, scopes }),
  }
  return { servers, sessions: createSessions(own), faults, audited: () => audited }
}

const said = (text: string) => ({ content: [{ type: 'text' as const, text }] })

function createV1(clientId = 'none'): McpServerV1 {
  const server = new McpServerV1({ name: 'v1', version: '1' })
  server.registerTool('open', {}, () => said('open'))
  server.registerTool('mine', {}, () => said(ownedBy(clientId)))
  server.registerTool('admin', { description: ADMIN }, () => said(ADMIN))
  server.registerTool('hang', {}, () => new Promise(() => {}))
  server.registerResource('note', 'open://1', {}, ({ href }) => ({ contents: [{ uri: href, text: 'open' }] }))
  server.registerResource('vault', 'vault://1', { description: ADMIN }, ({ href }) => ({
    contents: [{ uri: href, text: ADMIN }],
  }))
  return server
}

function createV2(clientId = 'none'): McpServerV2 {
  const server = new McpServerV2({ name: 'v2', version: '1' })
  server.registerTool('open', {}, () => said('open'))
  server.registerTool('mine', {}, () => said(ownedBy(clientId)))
  server.registerTool('admin', { description: ADMIN }, () => said(ADMIN))
  server.registerTool('hang', {}, () => new Promise(() => {}))
  server.registerResource('note', 'open://1', {}, ({ href }) => ({ contents: [{ uri: href, text: 'open' }] }))
  server.registerResource('vault', 'vault://1', { description: ADMIN }, ({ href }) => ({
    contents: [{ uri: href, text: ADMIN }],
  }))
  return server
}

type Message = { readonly [name: string]: unknown }

const isObject = (value: unknown): value is Message =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function toRequest(caller: string, body: string, more: Record<string, string> = {}): Request {
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...more,
  }
  if (caller !== 'none') headers.authorization = `Bearer ${TOKENS[caller]}`
  const message = parse(body)
  const params = isObject(message) && isObject(message.params) ? message.params : {}
  const version = isObject(params._meta) ? params._meta[`${META}protocolVersion`] : undefined
  if (typeof version === 'string' && isObject(message)) {
    const said = {
      'mcp-protocol-version': version,
      'mcp-method': message.method,
      'mcp-name': message.method === 'resources/read' ? params.uri : params.name,
    }
    for (const [name, value] of Object.entries(said))
      if (typeof value === 'string' && /^[\x21-\x7e]+$/.test(value)) headers[name] = value
  }
  return new Request('https://mcp.example/mcp', { method: 'POST', headers, body })
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

async function readMessages(response: Response): Promise<{ text: string; messages: Message[] }> {
  const text = await response.text()
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
  const values = isStream
    ? text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [parse(line.slice(6))] : []))
    : [parse(text)].flat()
  return { text, messages: values.filter(isObject) }
}

/** How often each id is used, in bodies that are certainly a request or a batch of requests. */
function countIds(messages: readonly unknown[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const message of messages) {
    if (!isObject(message) || message.id === undefined || message.id === null) continue
    const key = JSON.stringify(message.id)
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return counts
}

async function runStep(step: string, deployment: Deployment): Promise<string> {
  const [server = '', caller = '', transport = '', ...rest] = step.split(' ')
  const body = rest.join(' ')
  const handler = transport === 'session' ? deployment.sessions : deployment.servers[server]
  if (handler === undefined || !CALLERS.includes(caller)) return 'none'
  const platform = { clientAddress: '192.0.2.1' }
  const more: Record<string, string> = {}
  if (transport === 'session') {
    const opening = toRequest(
      caller,
      `{"jsonrpc":"2.0","id":"open","method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"f","version":"1"}}}`,
    )
    const opened = await handler.handle(opening, platform)
    await opened.text()
    more['mcp-session-id'] = opened.headers.get('mcp-session-id') ?? 'none'
  }
  const response = await handler.handle(toRequest(caller, body, more), platform)
  const { text, messages } = await readMessages(response)
  promise(caller === 'root' || !text.includes(ADMIN), `${caller} sees what is for admins`)
  for (const other of CALLERS)
    promise(caller === other || !text.includes(ownedBy(other)), `${caller} sees what belongs to ${other}`)
  const asked = countIds([parse(body)].flat().filter((value) => isObject(value) && 'method' in value))
  const answers = messages.filter((message) => 'result' in message || 'error' in message)
  for (const [id, times] of countIds(answers))
    promise(times <= (asked.get(id) ?? 0) || id === '"open"', `${id} is answered ${times} times`)
  if (response.status === 200)
    for (const [id, times] of asked)
      promise(countIds(answers).get(id) === times, `${id} is asked ${times} times, and answered otherwise`)
  return `${server} ${caller} ${transport} ${response.status} ${answers.map((answer) => ('error' in answer ? 'e' : 'r')).join('')}`
}

/** Waits until all calls are over and none is counted any more. */
async function checkPlaces({ servers }: Deployment): Promise<void> {
  for (const server of Object.values(servers)) {
    const pings = Array.from({ length: PLACES }, (_, id) =>
      server.handle(toRequest('root', `{"jsonrpc":"2.0","id":${id},"method":"ping"}`), {}),
    )
    for (const response of await Promise.all(pings)) {
      promise(response.status === 200, 'a place is not given back')
      await response.text()
    }
  }
}

const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length

/** Timers that run on for a moment: the throttle of progress, a tool's own. */
async function checkTimers(before: number): Promise<void> {
  for (let turn = 0; turn < 100 && timers() > before; turn++)
    await new Promise((resolve) => setTimeout(resolve, 5))
  promise(timers() <= before, `${timers() - before} timers run on`)
}

async function run(steps: Input): Promise<string> {
  // The fuzzer's own timer is set meanwhile.
  await undefined
  const before = timers()
  const deployment = createDeployment()
  const outcomes = await Promise.all(steps.slice(0, MAX_STEPS).map((step) => runStep(step, deployment)))
  promise(deployment.faults.length === 0, `a server reports a fault of its own: ${deployment.faults[0]}`)
  await checkPlaces(deployment)
  await deployment.sessions.close()
  await checkTimers(before)
  return outcomes.sort().join(', ')
}

const CALLS: readonly (readonly [string, object])[] = [
  ['tools/call', { name: 'open', arguments: {} }],
  ['tools/call', { name: 'mine', arguments: {} }],
  ['tools/call', { name: 'admin', arguments: {} }],
  ['tools/call', { name: 'late', arguments: {} }],
  ['tools/call', { name: 'ask', arguments: {} }],
  ['tools/call', { name: 'hang', arguments: {} }],
  ['tools/list', {}],
  ['resources/list', {}],
  ['resources/read', { uri: 'vault://1' }],
  ['resources/read', { uri: 'VAULT://1' }],
  ['resources/read', { uri: 'open://1' }],
  ['resources/subscribe', { uri: 'vault://1' }],
  [
    'completion/complete',
    { ref: { type: 'ref/resource', uri: 'vault://{+path}' }, argument: { name: 'path', value: '' } },
  ],
  [
    'subscriptions/listen',
    { notifications: { resourceSubscriptions: ['vault://1'], toolsListChanged: true } },
  ],
  ['ping', {}],
]

const modern = ([method, params]: readonly [string, object], id: number): object => ({
  jsonrpc: '2.0',
  id,
  method,
  params: {
    ...params,
    _meta: {
      [`${META}protocolVersion`]: '2026-07-28',
      [`${META}clientCapabilities`]: { elicitation: { form: {} } },
    },
  },
})
const legacy = ([method, params]: readonly [string, object], id: number): object => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
})

function generateStep(random: Random): string {
  const make = random.chance(0.4) ? modern : legacy
  const one = () => make(random.pick(CALLS), random.int(3))
  const body = random.chance(0.3) ? Array.from({ length: 1 + random.int(4) }, one) : one()
  return [random.pick(SERVERS), random.pick(CALLERS), random.pick(TRANSPORTS), JSON.stringify(body)].join(' ')
}

const stepsOf = (server: string, transport: string): Input =>
  CALLERS.map((caller) => `${server} ${caller} ${transport} ${JSON.stringify(CALLS.slice(0, 5).map(legacy))}`)

export const crowd: Target = {
  name: 'crowd',
  seeds: [
    ...SERVERS.map((server) => stepsOf(server, 'call')),
    stepsOf('own', 'session'),
    ...SERVERS.map((server) => [
      `${server} ann call ${JSON.stringify(modern(CALLS[2]!, 1))}`,
      `${server} root call ${JSON.stringify(modern(CALLS[2]!, 1))}`,
    ]),
    ['own ann call {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hang"}}'],
  ],
  generate: (random) => Array.from({ length: 1 + random.int(MAX_STEPS) }, () => generateStep(random)),
  mutate(input, other, random) {
    const steps = [...input]
    const at = random.int(steps.length)
    const [server, caller, transport, ...rest] = (steps[at] ?? '').split(' ')
    const choice = random.int(4)
    if (choice === 0) return steps.toSpliced(at, 1, random.pick(other))
    if (choice === 1) return [...steps, generateStep(random)].slice(-MAX_STEPS)
    const body =
      choice === 2
        ? rest.join(' ')
        : mutateJson(rest.join(' '), random.pick(other).split(' ').slice(3).join(' '), random)
    const who = choice === 2 ? random.pick(CALLERS) : caller
    return steps.with(at, [server, who, transport, body.slice(0, 4000)].join(' '))
  },
  run,
}
