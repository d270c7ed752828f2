/** The handshake of 2025-11-25 and before, and the methods only it has. */
import { LEGACY, legacy, posted } from './_entry.ts'

const client = { name: 'corpus', version: '1.0.0' }

const initialize = (id: string, params: { readonly [name: string]: unknown }, version?: string) =>
  legacy(id, 'initialize', params, { headers: { 'mcp-protocol-version': version } })

export const legacyCorpus = [
  ...['2025-11-25', '2025-06-18', '2025-03-26'].map((protocolVersion) =>
    initialize(`initialize in ${protocolVersion}`, { protocolVersion, capabilities: {}, clientInfo: client }),
  ),
  initialize('initialize in 2024-11-05', {
    protocolVersion: '2024-11-05',
    capabilities: {},
    clientInfo: client,
  }),
  initialize('initialize in a version of the future', {
    protocolVersion: '2099-01-01',
    capabilities: {},
    clientInfo: client,
  }),
  initialize('initialize in no date', { protocolVersion: 'newest', capabilities: {}, clientInfo: client }),
  initialize('initialize in the modern version', {
    protocolVersion: '2026-07-28',
    capabilities: {},
    clientInfo: client,
  }),
  initialize('initialize with every capability', {
    protocolVersion: LEGACY,
    capabilities: { roots: { listChanged: true }, sampling: {}, elicitation: {}, experimental: { x: {} } },
    clientInfo: { ...client, title: 'Corpus', websiteUrl: 'https://example.com' },
  }),
  initialize('initialize without params', {}),
  initialize('initialize without protocolVersion', { capabilities: {}, clientInfo: client }),
  initialize('initialize without capabilities', { protocolVersion: LEGACY, clientInfo: client }),
  initialize('initialize without clientInfo', { protocolVersion: LEGACY, capabilities: {} }),
  initialize('initialize with a numeric version', {
    protocolVersion: 20251125,
    capabilities: {},
    clientInfo: client,
  }),
  initialize('initialize with capabilities as an array', {
    protocolVersion: LEGACY,
    capabilities: [],
    clientInfo: client,
  }),
  initialize('initialize with a boolean capability', {
    protocolVersion: LEGACY,
    capabilities: { sampling: true },
    clientInfo: client,
  }),
  initialize('initialize with a nameless client', {
    protocolVersion: LEGACY,
    capabilities: {},
    clientInfo: { version: '1' },
  }),
  initialize(
    'initialize under a legacy header',
    { protocolVersion: LEGACY, capabilities: {}, clientInfo: client },
    '2025-06-18',
  ),
  initialize(
    'initialize under a modern header',
    { protocolVersion: LEGACY, capabilities: {}, clientInfo: client },
    '2026-07-28',
  ),
  initialize(
    'initialize under a header of no date',
    { protocolVersion: LEGACY, capabilities: {}, clientInfo: client },
    'newest',
  ),

  legacy('ping', 'ping'),
  legacy('ping with params', 'ping', { anything: true }),
  legacy('ping without a version header', 'ping', {}, { headers: { 'mcp-protocol-version': undefined } }),
  legacy('ping in 2025-06-18', 'ping', {}, { version: '2025-06-18' }),
  legacy('ping in 2025-03-26', 'ping', {}, { version: '2025-03-26' }),
  legacy('ping in 2024-11-05', 'ping', {}, { version: '2024-11-05' }),
  legacy('ping in an unknown legacy version', 'ping', {}, { version: '2025-01-01' }),
  legacy('ping in no date', 'ping', {}, { version: 'newest' }),
  legacy('ping under an empty version header', 'ping', {}, { version: '' }),
  legacy('ping in a version of the future', 'ping', {}, { version: '2099-01-01' }),
  legacy(
    'ping with a session id that is not ours',
    'ping',
    {},
    {
      headers: { 'mcp-session-id': '3f2504e0-4f89-11d3-9a0c-0305e82c3301' },
    },
  ),
  legacy(
    'ping with a session id that looks like ours',
    'ping',
    {},
    {
      headers: { 'mcp-session-id': 'mayfly1.AAAA' },
    },
  ),
  legacy('ping with a string id', 'ping', {}, { rpcId: 'one' }),
  legacy('ping with id zero', 'ping', {}, { rpcId: 0 }),
  legacy('ping with _meta', 'ping', {}, { meta: { progressToken: 1, 'example.com/x': {} } }),
  legacy('ping with _meta as a string', 'ping', { _meta: 'no' }),
  legacy('ping with a wrong progress token', 'ping', {}, { meta: { progressToken: [] } }),

  ...['debug', 'info', 'emergency'].map((level) =>
    legacy(`setLevel ${level}`, 'logging/setLevel', { level }),
  ),
  legacy('setLevel to an unknown level', 'logging/setLevel', { level: 'loud' }),
  legacy('setLevel without a level', 'logging/setLevel', {}),
  legacy('setLevel to a number', 'logging/setLevel', { level: 7 }),
  legacy('subscribe', 'resources/subscribe', { uri: 'doc://readme' }),
  legacy('subscribe without a uri', 'resources/subscribe', {}),
  legacy('unsubscribe', 'resources/unsubscribe', { uri: 'doc://readme' }),
  legacy('unknown legacy method', 'tools/destroy'),
  legacy('legacy method constructor', 'constructor'),
  legacy('legacy method __proto__', '__proto__'),
  legacy('server/discover without an envelope', 'server/discover'),
  legacy('subscriptions/listen without an envelope', 'subscriptions/listen', { notifications: {} }),
  legacy('roots/list sent to the server', 'roots/list'),
  legacy('elicitation/create sent to the server', 'elicitation/create', { message: 'x' }),

  posted('initialized', '{"jsonrpc":"2.0","method":"notifications/initialized"}', {
    'mcp-protocol-version': LEGACY,
  }),
  posted('initialized without a version header', '{"jsonrpc":"2.0","method":"notifications/initialized"}'),
  posted(
    'cancellation of nothing',
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}',
    { 'mcp-protocol-version': LEGACY },
  ),
  posted(
    'notification of an unknown method',
    '{"jsonrpc":"2.0","method":"notifications/x","params":{"y":1}}',
  ),
  posted('notification that names a request method', '{"jsonrpc":"2.0","method":"tools/list"}'),
  posted('notification in an unknown version', '{"jsonrpc":"2.0","method":"notifications/initialized"}', {
    'mcp-protocol-version': '2020-01-01',
  }),
  posted('result posted', '{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}', {
    'mcp-protocol-version': LEGACY,
  }),
  posted('error posted', '{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"x"}}'),
  posted('error posted without an id', '{"jsonrpc":"2.0","error":{"code":-32603,"message":"x"}}'),
  posted('error posted without a code', '{"jsonrpc":"2.0","id":1,"error":{"message":"x"}}'),
  posted('result posted that is no object', '{"jsonrpc":"2.0","id":1,"result":5}'),
  posted('result posted without an id', '{"jsonrpc":"2.0","result":{}}'),
  posted('result and error posted', '{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"x"}}'),
]
