/** The envelope of 2026-07-28: versions, `_meta`, methods, ids, and `server/discover`. */
import { KEY, modern, posted } from './_entry.ts'

const DISCOVER = 'server/discover'

export const modernCorpus = [
  modern('discover', DISCOVER),
  modern('discover with unknown params', DISCOVER, { anything: [1, { two: 3 }] }),
  modern('discover without clientInfo', DISCOVER, {}, { meta: { [KEY.client]: undefined } }),
  modern(
    'discover with every capability',
    DISCOVER,
    {},
    {
      meta: {
        [KEY.capabilities]: {
          elicitation: { form: {}, url: {} },
          sampling: { tools: {} },
          roots: {},
          extensions: { 'example.com/x': {} },
          experimental: { y: {} },
        },
      },
    },
  ),
  modern('discover with unknown capabilities', DISCOVER, {}, { meta: { [KEY.capabilities]: { soon: {} } } }),
  modern(
    'discover with foreign _meta',
    DISCOVER,
    {},
    { meta: { 'example.com/x': null, traceparent: '00-1' } },
  ),

  // ids
  modern('id is a string', 'tools/list', {}, { rpcId: 'a-b' }),
  modern('id is the empty string', 'tools/list', {}, { rpcId: '' }),
  modern('id is zero', 'tools/list', {}, { rpcId: 0 }),
  modern('id is negative', 'tools/list', {}, { rpcId: -5 }),
  modern('id is the largest safe integer', 'tools/list', {}, { rpcId: Number.MAX_SAFE_INTEGER }),
  modern('id is a long string', 'tools/list', {}, { rpcId: 'x'.repeat(4096) }),
  modern('id is not ASCII', 'tools/list', {}, { rpcId: 'ü☃' }),

  // versions
  modern('version of the future', 'tools/list', {}, { version: '2099-01-01' }),
  modern(
    'version of the future, header missing',
    'tools/list',
    {},
    {
      version: '2099-01-01',
      headers: { 'mcp-protocol-version': undefined },
    },
  ),
  modern('legacy version in the envelope', 'tools/list', {}, { version: '2025-11-25' }),
  modern('version is no date', 'tools/list', {}, { version: 'latest' }),
  modern('version is the empty string', 'tools/list', {}, { version: '' }),
  modern('version header missing', 'tools/list', {}, { headers: { 'mcp-protocol-version': undefined } }),
  modern(
    'version header is legacy, body modern',
    'tools/list',
    {},
    {
      headers: { 'mcp-protocol-version': '2025-11-25' },
    },
  ),
  modern(
    'version header is of the future, body modern',
    'tools/list',
    {},
    {
      headers: { 'mcp-protocol-version': '2099-01-01' },
    },
  ),
  modern(
    'version header is empty, body modern',
    'tools/list',
    {},
    { headers: { 'mcp-protocol-version': '' } },
  ),
  modern(
    'version header has spaces around it',
    'tools/list',
    {},
    {
      headers: { 'mcp-protocol-version': '  2026-07-28  ' },
    },
  ),

  // _meta
  modern('version is a number in _meta', 'tools/list', {}, { meta: { [KEY.version]: 20260728 } }),
  modern('version is null in _meta', 'tools/list', {}, { meta: { [KEY.version]: null } }),
  modern('version missing in _meta', 'tools/list', {}, { meta: { [KEY.version]: undefined } }),
  modern('capabilities missing', 'tools/list', {}, { meta: { [KEY.capabilities]: undefined } }),
  modern('capabilities are null', 'tools/list', {}, { meta: { [KEY.capabilities]: null } }),
  modern('capabilities are an array', 'tools/list', {}, { meta: { [KEY.capabilities]: [] } }),
  modern('capabilities are a string', 'tools/list', {}, { meta: { [KEY.capabilities]: 'all' } }),
  modern('a capability is a boolean', 'tools/list', {}, { meta: { [KEY.capabilities]: { sampling: true } } }),
  modern('clientInfo without version', 'tools/list', {}, { meta: { [KEY.client]: { name: 'x' } } }),
  modern('clientInfo is a string', 'tools/list', {}, { meta: { [KEY.client]: 'corpus' } }),
  modern('clientInfo is null', 'tools/list', {}, { meta: { [KEY.client]: null } }),
  modern(
    'clientInfo has everything',
    'tools/list',
    {},
    {
      meta: {
        [KEY.client]: {
          name: 'x',
          version: '1',
          title: 'X',
          description: 'A client',
          websiteUrl: 'https://example.com',
          icons: [{ src: 'https://example.com/x.png' }],
        },
      },
    },
  ),
  modern('log level unknown', 'tools/list', {}, { meta: { [KEY.logLevel]: 'loud' } }),
  modern('log level is a number', 'tools/list', {}, { meta: { [KEY.logLevel]: 3 } }),
  modern('log level debug', 'tools/list', {}, { meta: { [KEY.logLevel]: 'debug' } }),
  modern('progress token is a string', 'tools/list', {}, { meta: { progressToken: 'p' } }),
  modern('progress token is zero', 'tools/list', {}, { meta: { progressToken: 0 } }),
  modern('progress token is an object', 'tools/list', {}, { meta: { progressToken: {} } }),
  modern('progress token is a fraction', 'tools/list', {}, { meta: { progressToken: 1.5 } }),
  modern('progress token is null', 'tools/list', {}, { meta: { progressToken: null } }),
  posted(
    '_meta is missing under a modern header',
    '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}',
    { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' },
  ),
  posted('params are missing under a modern header', '{"jsonrpc":"2.0","id":1,"method":"tools/list"}', {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/list',
  }),
  posted(
    '_meta is an array under a modern header',
    '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":[]}}',
    { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' },
  ),

  // methods
  modern('unknown method', 'tools/destroy'),
  modern('method is the empty string', ''),
  modern('method of another case', 'Tools/List'),
  modern('method is constructor', 'constructor'),
  modern('method is __proto__', '__proto__'),
  modern('method is toString', 'toString'),
  modern('initialize with a modern envelope', 'initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'x', version: '1' },
  }),
  modern('ping with a modern envelope', 'ping'),
  modern('logging/setLevel with a modern envelope', 'logging/setLevel', { level: 'info' }),
  modern('resources/subscribe with a modern envelope', 'resources/subscribe', { uri: 'doc://readme' }),
  modern('tasks/get with a modern envelope', 'tasks/get', { taskId: '1' }),
  modern('sampling/createMessage sent to the server', 'sampling/createMessage', {
    messages: [],
    maxTokens: 1,
  }),

  // notifications and responses
  posted('modern notification', '{"jsonrpc":"2.0","method":"notifications/progress","params":{}}', {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'notifications/progress',
  }),
  posted('modern notification of an unknown method', '{"jsonrpc":"2.0","method":"notifications/x"}', {
    'mcp-protocol-version': '2026-07-28',
  }),
  posted(
    'modern cancellation of nothing',
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}',
    { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'notifications/cancelled' },
  ),
  posted(
    'modern notification whose header says another method',
    '{"jsonrpc":"2.0","method":"notifications/x"}',
    {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'notifications/y',
    },
  ),
  posted('modern notification of a version of the future', '{"jsonrpc":"2.0","method":"notifications/x"}', {
    'mcp-protocol-version': '2099-01-01',
  }),
  posted(
    'modern notification whose envelope says another version',
    JSON.stringify({
      jsonrpc: '2.0',
      method: 'notifications/x',
      params: { _meta: { [KEY.version]: '2026-07-28', [KEY.capabilities]: {} } },
    }),
    { 'mcp-protocol-version': '2025-11-25' },
  ),
  posted('error posted under a modern header', '{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}', {
    'mcp-protocol-version': '2026-07-28',
  }),
  posted('response posted under a modern header', '{"jsonrpc":"2.0","id":1,"result":{}}', {
    'mcp-protocol-version': '2026-07-28',
  }),
]
