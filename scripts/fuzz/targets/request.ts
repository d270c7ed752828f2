/** Whole requests to whole servers: `[server, method, path, header lines, body]`; the last is bytes. */
import { checkAnswer } from '../answer.ts'
import { HEADERS, METHODS } from '../dictionary.ts'
import { JWTS, SEALED } from '../genuine.ts'
import { generateJson, mutateBytes, mutateJson, mutateText } from '../mutate.ts'
import type { Random } from '../random.ts'
import { createServers, type FuzzedServer } from '../servers.ts'
import { Finding, fromBytes, type Input, type Target, toBytes } from '../target.ts'

const META = 'io.modelcontextprotocol/'
const CAPABILITIES = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} }
const SERVERS = ['0', '1', '2']
const HTTP_METHODS = ['POST', 'GET', 'OPTIONS', 'HEAD', 'DELETE', 'PUT']

const COMMON = ['content-type: application/json', 'accept: application/json, text/event-stream']

type Params = { readonly [name: string]: unknown }

function modern(server: string, method: string, params: Params = {}, headers: readonly string[] = []): Input {
  const _meta = {
    [`${META}protocolVersion`]: '2026-07-28',
    [`${META}clientInfo`]: { name: 'fuzz', version: '1' },
    [`${META}clientCapabilities`]: CAPABILITIES,
    progressToken: 1,
  }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } })
  return synchronised([server, 'POST', '/mcp', [...COMMON, ...headers].join('\n'), toBytes(body)])
}

function legacy(server: string, method: string, params: Params = {}, headers: readonly string[] = []): Input {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 'a', method, params })
  const lines = [...COMMON, 'mcp-protocol-version: 2025-11-25', ...headers]
  return [server, 'POST', '/mcp', lines.join('\n'), toBytes(body)]
}

function get(server: string, path: string, headers: readonly string[] = []): Input {
  return [server, 'GET', path, headers.join('\n'), '']
}

const CALLS: readonly (readonly [string, Params])[] = [
  ['tools/call', { name: 'echo', arguments: { region: 'eu', count: 1, deep: [{ a: null }] } }],
  ['tools/call', { name: 'add', arguments: { a: 1, b: 2 } }],
  ['tools/call', { name: 'ask', arguments: { to: 'bob' } }],
  [
    'tools/call',
    {
      name: 'ask',
      arguments: { to: 'bob' },
      requestState: SEALED.small,
      inputResponses: { sure: { action: 'accept', content: { sure: true } } },
    },
  ],
  [
    'tools/call',
    { name: 'ask', arguments: { to: 'bob', _continue: { token: SEALED.continued, answers: {} } } },
  ],
  ['tools/call', { name: 'visit', arguments: {} }],
  ['tools/call', { name: 'sample', arguments: {} }],
  ['tools/call', { name: 'progress', arguments: { text: 'data: x\n\n' } }],
  ['tools/call', { name: 'fail' }],
  ['tools/call', { name: 'admin' }],
  ['tools/call', { name: 'ask_helper', arguments: { message: 'hi' } }],
  ['resources/read', { uri: 'note://fixed' }],
  ['resources/read', { uri: 'users://%41' }],
  ['resources/read', { uri: 'files://a/../b' }],
  ['resources/read', { uri: 'search://q?text=a%20b&limit=2#x' }],
  ['prompts/get', { name: 'review', arguments: { text: 'x' } }],
  [
    'completion/complete',
    { ref: { type: 'ref/prompt', name: 'review' }, argument: { name: 'tone', value: 'k' } },
  ],
  [
    'completion/complete',
    { ref: { type: 'ref/resource', uri: 'users://{id}' }, argument: { name: 'id', value: '' } },
  ],
  [
    'subscriptions/listen',
    { notifications: { toolsListChanged: true, resourceSubscriptions: ['users://1'] } },
  ],
  ['resources/subscribe', { uri: 'users://1' }],
  ['logging/setLevel', { level: 'info' }],
  [
    'initialize',
    { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'f', version: '1' } },
  ],
  ['tools/list', { cursor: 'p2' }],
  ...METHODS.map((method) => [method, {}] as const),
]

const SESSION = `mcp-session-id: mayfly2.${SEALED.session}`
const BEARER = `authorization: Bearer ${JWTS.ES256}`

const SEEDS: readonly Input[] = [
  ...CALLS.flatMap(([method, params]) => [
    modern('0', method, params, ['mcp-param-region: eu', 'mcp-param-count: 1']),
    modern('1', method, params, [BEARER, 'mcp-param-region: eu', 'mcp-param-count: 1']),
    modern('2', method, params, ['mcp-param-region: eu', 'mcp-param-count: 1']),
    ...SERVERS.map((server) => legacy(server, method, params, [SESSION])),
  ]),
  ...SERVERS.flatMap((server) => [
    get(server, '/', ['accept: text/html']),
    get(server, '/healthz'),
    get(server, '/.well-known/oauth-protected-resource/mcp'),
    get(server, '/functions/v1/shop/mcp', ['accept: text/html']),
    [
      server,
      'OPTIONS',
      '/mcp',
      'origin: https://app.example\naccess-control-request-headers: mcp-param-a',
      '',
    ],
    [
      server,
      'POST',
      '/mcp',
      COMMON.join('\n'),
      '[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/initialized"}]',
    ],
    [
      server,
      'POST',
      '/mcp',
      COMMON.join('\n'),
      '{"jsonrpc":"2.0","id":"mayfly-1","result":{"action":"decline"}}',
    ],
  ]),
]

function generate(random: Random): Input {
  const [method, params] = random.pick(CALLS)
  const server = random.pick(SERVERS)
  const headers = random.chance(0.5) ? [random.pick(HEADERS)] : []
  const make = random.chance(0.5) ? modern : legacy
  const extra = random.chance(0.3)
    ? { [random.pick(['arguments', 'ref', 'x'])]: JSON.parse(generateJson(random)) }
    : {}
  return make(server, method, { ...params, ...extra }, [...headers, random.pick([BEARER, SESSION])])
}

function mutate(input: Input, other: Input, random: Random): Input {
  let [server, method, path, headers, body] = input as [string, string, string, string, string]
  const choice = random.int(20)
  if (choice === 0) server = random.pick(SERVERS)
  else if (choice === 1) method = random.pick(HTTP_METHODS)
  else if (choice === 2) path = `/${mutateText(path, other[2]!, random).replace(/^\//, '')}`
  else if (choice < 7) headers = mutateHeaders(headers, other[3]!, random)
  else if (choice < 9) body = mutateBytes(body, other[4]!, random)
  else body = toBytes(mutateJson(fromBytes(body), fromBytes(other[4]!), random).slice(0, 8000))
  const changed = [server, method, path, headers, body]
  // Otherwise few inputs pass the headers, which must match the body.
  return choice >= 9 && random.chance(0.7) ? synchronised(changed) : changed
}

function mutateHeaders(lines: string, others: string, random: Random): string {
  const list = lines.split('\n')
  const at = random.int(list.length)
  const [name = ''] = list[at]!.split(':')
  const replacement = random.pick([
    () => random.pick(HEADERS),
    () => random.pick(others.split('\n')),
    () => `${name}: ${mutateText(list[at]!.slice(name.length + 2), others, random)}`,
    () => '',
  ])()
  return list.toSpliced(at, random.int(2), replacement).join('\n')
}

/** Makes the headers of a modern request match its body, if the body can be read. */
function synchronised(input: Input): Input {
  const [server, method, path, headers, body] = input as [string, string, string, string, string]
  try {
    const message = JSON.parse(fromBytes(body)) as { method: unknown; params: Params & { _meta: Params } }
    const version = message.params._meta[`${META}protocolVersion`]
    const { name, uri, arguments: args } = message.params
    const named = message.method === 'resources/read' ? uri : name
    const { region, count } = (args ?? {}) as Params
    const said = Object.entries({
      'mcp-protocol-version': version,
      'mcp-method': message.method,
      'mcp-name': named,
      'mcp-param-region': region,
      'mcp-param-count': count,
    }).filter(([, value]) => ['string', 'number'].includes(typeof value))
    const lines = said.map(
      ([key, value]) => `${key}: ${key === 'mcp-name' ? inBase64(value as string) : value}`,
    )
    const kept = headers.split('\n').filter((line) => !said.some(([key]) => line.startsWith(`${key}:`)))
    return [server, method, path, [...kept, ...lines].join('\n'), body]
  } catch {
    return input
  }
}

function inBase64(value: string): string {
  return `=?base64?${Buffer.from(value, 'utf8').toString('base64')}?=`
}

/** Undefined for a request that the platform itself would refuse. */
function toRequest([, method, path, lines, body]: Input): Request | undefined {
  const headers = new Headers()
  for (const line of lines!.split('\n')) {
    const colon = line.indexOf(':')
    try {
      headers.append(line.slice(0, colon), line.slice(colon + 1))
    } catch {
      // Not a valid header: platforms drop it, or the request.
    }
  }
  const hasBody = method !== 'GET' && method !== 'HEAD'
  try {
    return new Request(`https://mcp.example${path}`, {
      method: method!,
      headers,
      ...(hasBody && { body: Buffer.from(body!, 'latin1') }),
    })
  } catch {
    return undefined
  }
}

function createRun(): Target['run'] {
  let faults: unknown[] = []
  let servers: readonly FuzzedServer[] | undefined
  return async (input) => {
    servers ??= createServers((fault) => faults.push(fault))
    const request = toRequest(input)
    const served = servers[Number(input[0])]
    if (request === undefined || served === undefined) return 'no request'
    const { headers, method } = request
    faults = []
    const response = await served.server.handle(request, served.platform)
    const cause = faults[0]
    if (cause !== undefined) throw new Finding(`the server reports a fault of its own: ${cause}`, { cause })
    const outcome = await checkAnswer(response, { method, headers, body: input[4]! })
    return `${input[0]} ${method} ${outcome}`
  }
}

export const request: Target = { name: 'request', seeds: SEEDS, generate, mutate, run: createRun() }
