/**
 * The corpus: what an attacker can send. Each attack says which statuses are right; the runner adds that nothing is given away,
 * nothing hangs, and that the server goes on serving.
 */
import { expect } from 'vitest'
import { type Attack, http } from './_attack.ts'
import { request } from './_requests.ts'

export interface Material {
  /** A good token with the scope `shop`. */
  readonly good: string
  /** Tokens that must not be taken, by what is wrong with them. */
  readonly bad: { readonly [what: string]: string }
  /** Sealed states of other calls: another user's, another tool's arguments, an expired key's. */
  readonly states: { readonly [what: string]: string }
}

const REFUSED = Array.from({ length: 100 }, (_, index) => 400 + index)
const SERVED = [200]
const CLOSED = [...REFUSED, 'closed'] as const

export function createCorpus(material: Material): { readonly [group: string]: readonly Attack[] } {
  const { good } = material
  const right = (changes: Omit<Parameters<typeof request>[0], 'token'>): Uint8Array =>
    request({ token: good, ...changes })
  const post = (
    body: string | Uint8Array,
    headers: { [name: string]: string | undefined } = {},
  ): Uint8Array => right({ body, headers })
  return {
    'tokens that are not good': Object.entries(material.bad).flatMap(([what, token]) => [
      { name: what, bytes: request({ token }), expected: [401] },
      {
        name: `${what}, calling a tool`,
        bytes: request({ token, method: 'tools/call', params: { name: 'echo', arguments: { text: 'x' } } }),
        expected: [401],
      },
    ]),
    'the Authorization header': [
      ...AUTHORIZATIONS.map((authorization) => ({
        name: JSON.stringify(authorization.slice(0, 40)),
        bytes: right({ headers: { authorization } }),
        expected: [400, 401, 431, 'closed'] as const,
      })),
      { name: 'none', bytes: right({ headers: { authorization: undefined } }), expected: [401] },
      {
        name: 'two',
        bytes: right({ http: { headers: [['Authorization', `Bearer ${good}`]] } }),
        expected: [400, 401, 'closed'],
      },
      {
        name: 'in the query',
        bytes: right({ headers: { authorization: undefined }, http: { path: `/mcp?access_token=${good}` } }),
        expected: [401],
      },
      {
        name: 'in a form',
        bytes: right({
          headers: { authorization: undefined, 'content-type': 'application/x-www-form-urlencoded' },
          body: `access_token=${good}`,
        }),
        expected: [401, 415],
      },
      {
        name: 'a scope that the token lacks',
        bytes: right({ method: 'tools/call', params: { name: 'rule' } }),
        expected: [403],
      },
    ],
    'bodies that are no message': BODIES.map(([name, body]) => ({
      name,
      bytes: post(body),
      expected: [400],
    })),
    'messages that are wrong': MESSAGES.map((message) => ({
      name: JSON.stringify(message).slice(0, 80),
      bytes: post(JSON.stringify(message)),
      expected: [400, 404],
    })),
    'keys that would pollute': POLLUTION.map((members) => ({
      name: members.slice(0, 70),
      bytes: post(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{${members}}}`),
      expected: [400],
      check: () => expect(({} as { polluted?: unknown }).polluted).toBeUndefined(),
    })),
    'JSON bombs': BOMBS.map(([name, body]) => ({ name, bytes: post(body), expected: [400, 413] })),
    'content types': CONTENT_TYPES.map((type) => ({
      name: JSON.stringify(type),
      bytes: right({ headers: { 'content-type': type } }),
      expected: [415],
    })),
    'headers that contradict the body': CONTRADICTIONS.map((headers) => ({
      name: JSON.stringify(headers).slice(0, 80),
      bytes: right({ method: 'tools/call', params: { name: 'echo', arguments: { text: 'x' } }, headers }),
      expected: [400, 404],
    })),
    'hosts and origins': [
      ...HOSTS.map((host) => ({
        name: `Host: ${host}`,
        bytes: right({ http: { host } }),
        // An empty one names nobody else: the address of the connection counts.
        expected: host === '' ? ([200, ...CLOSED] as const) : ([400, 403, 404, 'closed'] as const),
      })),
      ...OWN_HOSTS.flatMap((host) => [
        { name: `Host: ${host}`, bytes: right({ http: { host } }), expected: [200, ...CLOSED] as const },
        {
          name: `Host: ${host}, read by a website`,
          bytes: right({ http: { host }, headers: { origin: 'https://evil.example' } }),
          expected: [400, 403, 404, 'closed'] as const,
          check: (answer: string) =>
            expect(answer.toLowerCase()).not.toContain('access-control-allow-origin'),
        },
      ]),
      ...ORIGINS.map((origin) => ({
        name: `Origin: ${origin}`,
        bytes: right({ headers: { origin } }),
        expected: [403],
      })),
      ...FORWARDED.map(([header, value]) => ({
        name: `${header}: ${value}`,
        bytes: right({ headers: { authorization: undefined, [header]: value } }),
        expected: [401],
        check: (answer: string) => expect(answer).not.toContain('evil'),
      })),
    ],
    preflights: PREFLIGHTS.map(([method, headers, origin]) => ({
      name: `${method} ${headers.slice(0, 40)} from ${origin}`,
      bytes: http({
        method: 'OPTIONS',
        headers: [
          ['Origin', origin],
          ['Access-Control-Request-Method', method],
          ['Access-Control-Request-Headers', headers],
        ],
      }),
      expected: [204, 403, 400, 431, 'closed'] as const,
      check: (answer: string) =>
        expect(answer.toLowerCase()).not.toMatch(/access-control-allow-credentials|x-evil/),
    })),
    paths: PATHS.map((path) => ({
      name: `GET ${path.slice(0, 60)}`,
      bytes: http({ method: 'GET', path, headers: [['Accept', 'application/json']] }),
      expected: [200, 204, 301, 307, 308, ...REFUSED, 'closed'] as const,
      check: (answer: string) => {
        // What an attacker chose is no host of ours, no header, and no markup.
        expect(answer).not.toMatch(/"(?:resource|authorization_servers)":\s*\[?"https?:\/\/evil/)
        expect(answer).not.toMatch(/^x-evil:/im)
        expect(answer).not.toContain('<script>alert')
        expect(answer).not.toMatch(/^location: (?:https?:)?\/\/evil/im)
      },
    })),
    // Whoever sends one is told of the host they named themselves, and nobody else is.
    'absolute targets': ABSOLUTE.map((path) => ({
      name: `GET ${path}`,
      bytes: http({ method: 'GET', path, headers: [['Accept', 'application/json']] }),
      expected: [200, ...CLOSED] as const,
    })),
    methods: METHODS.map((method) => ({
      name: method.slice(0, 20),
      bytes: http({ method, headers: [['Accept', 'application/json']] }),
      expected: [200, 204, 405, 501, ...REFUSED, 'closed'] as const,
    })),
    'text that would break out of an event': INJECTIONS.map((text) => ({
      name: JSON.stringify(text).slice(0, 60),
      bytes: right({
        method: 'tools/call',
        params: { name: 'echo', arguments: { text } },
        meta: { progressToken: text.length > 0 ? text : 'p', 'io.modelcontextprotocol/logLevel': 'debug' },
      }),
      expected: SERVED,
      check: (answer: string) => expectOwnEvents(answer, text),
    })),
    'names with control characters': NAMES.map((name) => ({
      name: JSON.stringify(name).slice(0, 60),
      bytes: right({
        method: 'tools/call',
        params: { name, arguments: {} },
        headers: { 'mcp-name': base64Header(name) },
      }),
      expected: [200, 400, 404],
      check: (answer: string) => expect(answer).not.toMatch(/^x-evil:/im),
    })),
    'resources that would leave their folder': URIS.map((uri) => ({
      name: uri.slice(0, 60),
      bytes: right({ method: 'resources/read', params: { uri }, headers: { 'mcp-name': base64Header(uri) } }),
      expected: [200, 400, 404],
    })),
    'sealed states': Object.entries(material.states).map(([what, requestState]) => ({
      name: what,
      bytes: right({
        method: 'tools/call',
        params: {
          name: 'transfer',
          arguments: { to: 'bob' },
          requestState,
          inputResponses: { 'elicitation-2': { action: 'accept', content: { sure: true } } },
        },
      }),
      expected: [200, 400],
      check: (answer: string) => {
        expect(answer).toContain('-32602')
        expect(answer).not.toContain('accept accept')
      },
    })),
    'what tells of the inside': [
      {
        name: 'a tool that throws',
        bytes: right({ method: 'tools/call', params: { name: 'fail' } }),
        expected: SERVED,
        check: (answer) => expect(answer).not.toContain('hunter2'),
      },
    ],
    'HTTP that is not quite HTTP': SMUGGLING.map(([name, bytes]) => ({
      name,
      bytes,
      expected: [200, 202, 204, 301, 405, 501, 505, ...CLOSED] as const,
    })),
    'bodies that stop': [
      {
        name: 'half of it',
        bytes: http({
          headers: [
            ['Content-Type', 'application/json'],
            ['Authorization', `Bearer ${good}`],
            ['Content-Length', '5000'],
          ],
          body: '{"jsonrpc"',
        }),
        expected: [400, 408, 'closed'],
      },
      {
        name: 'half a chunk',
        bytes: http({
          headers: [
            ['Content-Type', 'application/json'],
            ['Authorization', `Bearer ${good}`],
            ['Transfer-Encoding', 'chunked'],
          ],
          body: '400\r\n{"json',
        }),
        expected: [400, 408, 'closed'],
      },
    ],
  }
}

/** Every event of the stream is ours: the injected text is inside JSON strings, and only there. */
function expectOwnEvents(answer: string, text: string): void {
  const body = answer.slice(answer.indexOf('\r\n\r\n') + 4)
  const lines = body.split(/\r\n|\r|\n/).filter((line) => !/^[0-9a-f]+$/i.test(line) && line !== '')
  for (const line of lines) {
    if (line.startsWith('{')) continue
    expect(line).toMatch(/^(?:event: message|data: \{.*\}|: keep-alive)$/s)
  }
  const messages = lines.flatMap((line) => {
    const json = line.startsWith('data: ') ? line.slice(6) : line
    return json.startsWith('{')
      ? [JSON.parse(json) as { id?: number; result?: { content?: { text: string }[] } }]
      : []
  })
  const results = messages.filter(({ id }) => id === 1)
  expect(results).toHaveLength(1)
  expect(results[0]?.result?.content?.[0]?.text).toBe(text)
}

function base64Header(value: string): string {
  return /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(value)
    ? value
    : `=?base64?${Buffer.from(value).toString('base64')}?=`
}

const AUTHORIZATIONS = [
  '',
  'Bearer',
  'Bearer ',
  'bearer',
  'Basic YWRtaW46YWRtaW4=',
  'Bearer null',
  'Bearer undefined',
  'Bearer ..',
  'Bearer a.b.c',
  'Bearer a, Bearer b',
  'Bearer "quoted"',
  'Bearer a b',
  'Bearer\ta',
  'Bearer %00',
  'Bearer é',
  'Bearer <script>alert(1)</script>',
  'Bearer {"alg":"none"}',
  'Digest username="admin"',
  'Negotiate abc',
  `Bearer ${'a'.repeat(20_000)}`,
]

const deep = (open: string, close: string, levels: number): string =>
  open.repeat(levels) + close.repeat(levels)

const BODIES: readonly (readonly [string, string | Uint8Array])[] = [
  ['nothing', ''],
  ['a space', ' '],
  ['no JSON', 'hello'],
  ['half an object', '{"jsonrpc":"2.0"'],
  ['a trailing comma', '{"jsonrpc":"2.0",}'],
  ['a comment', '{"jsonrpc":"2.0"/* */}'],
  ['single quotes', "{'jsonrpc':'2.0'}"],
  ['two objects', '{}{}'],
  ['NaN', 'NaN'],
  ['Infinity', '{"id":Infinity}'],
  ['undefined', 'undefined'],
  ['null', 'null'],
  ['true', 'true'],
  ['a number', '42'],
  ['a string', '"tools/list"'],
  ['an empty object', '{}'],
  ['an empty array', '[]'],
  ['a list of nothing', '[null]'],
  ['a NUL', '\0'],
  ['a NUL in a string', '{"jsonrpc":"2.0\0"}'],
  ['a byte order mark and no JSON', '\uFEFFhello'],
  ['XML', '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY y SYSTEM "file:///etc/passwd">]><x>&y;</x>'],
  ['a form', 'jsonrpc=2.0&method=tools/list'],
  ['UTF-16', new Uint8Array(Buffer.from('\uFEFF{"jsonrpc":"2.0"}', 'utf16le'))],
  ['bytes that are no UTF-8', Uint8Array.of(0x7b, 0xff, 0xfe, 0x7d)],
  ['an overlong slash', Uint8Array.of(0x22, 0xc0, 0xaf, 0x22)],
  ['half a character', Uint8Array.of(0x22, 0xe6, 0xb0, 0x22)],
  ['gzip', Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3)],
  ['a lone surrogate as bytes', Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22)],
]

const base = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }
const MESSAGES: readonly unknown[] = [
  ...['1.0', 2, null, '2.0 ', ['2.0'], undefined].map((jsonrpc) => ({ ...base, jsonrpc })),
  ...[null, true, 1.5, {}, [], [1], Number.MAX_VALUE].map((id) => ({ ...base, id })),
  ...[null, 1, true, [], {}, ''].map((method) => ({ ...base, method })),
  ...[null, 1, 'x', true, [], [1]].map((params) => ({ ...base, params })),
  { ...base, params: { _meta: null } },
  { ...base, params: { _meta: 'x' } },
  { ...base, params: { _meta: [] } },
  { ...base, params: { _meta: { 'io.modelcontextprotocol/protocolVersion': 1 } } },
  { ...base, params: { _meta: { 'io.modelcontextprotocol/protocolVersion': '1999-01-01' } } },
  {
    ...base,
    params: {
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': 'all',
      },
    },
  },
  { ...base, result: {} },
  { ...base, error: { code: 1, message: 'x' } },
  { jsonrpc: '2.0', id: 1 },
  { jsonrpc: '2.0', id: 1, result: 1 },
  [base, base],
  [[base]],
  [base, { ...base, id: null }],
  Array(150).fill(base),
]

const POLLUTION = [
  '"__proto__":{"polluted":1}',
  '"\\u005f\\u005fproto\\u005f\\u005f":{"polluted":1}',
  '"arguments":{"__proto__":{"polluted":1}}',
  '"arguments":{"a":{"b":{"__proto__":{"polluted":1}}}}',
  '"arguments":[{"__proto__":null}]',
  '"constructor":{"prototype":{"polluted":1}}',
  '"arguments":{"constructor":{"prototype":{"polluted":1}}}',
  '"_meta":{"__proto__":{"polluted":1}}',
]

const BOMBS: readonly (readonly [string, string])[] = [
  ['arrays in arrays', deep('[', ']', 5000)],
  ['objects in objects', `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`],
  [
    'a little too deep',
    JSON.stringify({ ...base, params: { a: JSON.parse(deep('[', ']', 70)) as unknown } }),
  ],
  ['a number of a thousand digits as id', `{"jsonrpc":"2.0","id":${'9'.repeat(1000)},"method":"tools/list"}`],
  [
    'more members than are taken',
    JSON.stringify({
      ...base,
      params: Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`k${index}`, 0])),
    }),
  ],
  ['more items than are taken', JSON.stringify({ ...base, params: { list: Array(3000).fill(0) } })],
  ['a string that is too long', JSON.stringify({ ...base, params: { text: 'x'.repeat(50_001) } })],
  [
    'a body that is too large',
    JSON.stringify({ ...base, params: { a: 'x'.repeat(40_000), b: 'x'.repeat(40_000) } }),
  ],
  ['a key that is too large', JSON.stringify({ ...base, params: { ['x'.repeat(70_000)]: 1 } })],
]

const CONTENT_TYPES = [
  '',
  'text/plain',
  'text/html',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/jsonp',
  'application/json5',
  'application/ld+json',
  'text/json',
  'application/octet-stream',
  'image/png',
  'json',
  'application/xml; application/json',
  '*/*',
  'application/*',
]

const CONTRADICTIONS: readonly { readonly [name: string]: string | undefined }[] = [
  { 'mcp-method': 'tools/list' },
  { 'mcp-method': undefined },
  { 'mcp-method': '' },
  { 'mcp-method': 'tools/call, tools/list' },
  { 'mcp-method': 'TOOLS/CALL' },
  { 'mcp-name': 'rule' },
  { 'mcp-name': undefined },
  { 'mcp-name': '' },
  { 'mcp-name': 'echo, rule' },
  { 'mcp-name': '=?base64?!!!?=' },
  { 'mcp-name': '=?base64?cnVsZQ==?=' },
  { 'mcp-name': '=?base64??=' },
  { 'mcp-protocol-version': undefined },
  { 'mcp-protocol-version': '' },
  { 'mcp-protocol-version': '2025-11-25' },
  { 'mcp-protocol-version': '2026-07-28, 2025-11-25' },
  { 'mcp-protocol-version': '9999-99-99' },
  { 'mcp-protocol-version': 'x'.repeat(500) },
]

const HOSTS = [
  'evil.example',
  'localhost.evil.example',
  '127.0.0.1.evil.example',
  'evil.example:80',
  '0.0.0.0',
  '10.0.0.1',
  'localhost@evil.example',
  'localhost/evil.example',
  '%6cocalhost',
  '192.168.0.1',
  'app.localhost',
  'nas.local',
  '',
]

/** No attacker's names: this machine, as hardly anybody writes it. */
const OWN_HOSTS = [
  'LOCALHOST',
  'localhost.',
  '127.0.0.1.',
  '2130706433',
  '0x7f000001',
  '0177.1',
  '[0:0:0:0:0:0:0:1]',
  '[::ffff:127.0.0.1]',
]

const ORIGINS = [
  'https://evil.example',
  'http://localhost.evil.example',
  'http://127.0.0.1.evil.example',
  'null',
  'file://',
  'http://127.0.0.1@evil.example',
  'chrome-extension://abc',
  'http://[::1].evil.example',
  'https://localhost:evil',
]

const FORWARDED = [
  ['x-forwarded-host', 'evil.example'],
  ['x-forwarded-proto', 'javascript'],
  ['x-forwarded-prefix', '/evil'],
  ['x-forwarded-for', '127.0.0.1, evil'],
  ['forwarded', 'host=evil.example;proto=https'],
  ['x-original-url', '/evil'],
  ['x-rewrite-url', '/evil'],
  ['x-http-method-override', 'DELETE'],
] as const

const PREFLIGHTS = [
  ['POST', 'authorization, content-type', 'https://evil.example'],
  ['POST', 'x-evil', 'http://localhost'],
  ['DELETE', 'x-evil, cookie', 'null'],
  ['TRACE', 'mcp-param-\u00e9', 'http://localhost'],
  ['POST', 'mcp-param-a: b', 'http://localhost'],
  ['POST', 'mcp-param-x,'.repeat(500), 'http://localhost'],
  ['*', '*', '*'],
] as const

const PATHS = [
  '/.well-known/oauth-protected-resource//evil.example/mcp',
  '/.well-known/oauth-protected-resource/https://evil.example',
  '/.well-known/oauth-protected-resource/%2f%2fevil.example',
  '/.well-known/oauth-protected-resource/../../etc/passwd',
  '/.well-known/oauth-protected-resource/..%2f..%2fetc',
  '/.well-known/oauth-protected-resource/\\evil.example',
  '/.well-known/oauth-protected-resource?resource=https://evil.example',
  '/.well-known/oauth-protected-resource/%0d%0aX-Evil:%201',
  '/.well-known/oauth-protected-resource/"><script>alert(1)</script>',
  '/.well-known/oauth-protected-resource@evil.example',
  '/.well-known/oauth-protected-resourceful',
  '/.well-known/oauth-authorization-server',
  '/.well-known/openid-configuration',
  '/.well-known/../mcp',
  '//evil.example/mcp',
  '///evil.example',
  '/\\evil.example',
  '/mcp/../../../etc/passwd',
  '/mcp/%2e%2e/%2e%2e/etc/passwd',
  '/mcp%00',
  '/mcp%0d%0aX-Evil:%201',
  '/mcp;jsessionid=1',
  '/mcp?a=<script>alert(1)</script>',
  '/<script>alert(1)</script>',
  '/healthz/../mcp',
  '/healthz%00',
  '/%',
  '/%zz',
  '/%ff%fe',
  '/favicon.ico',
  '/.env',
  '/.git/config',
  '/server.js',
  '/package.json',
  `/${'a'.repeat(8000)}`,
  `/${'../'.repeat(500)}`,
  '*',
  'mcp',
  '?',
]

const ABSOLUTE = [
  'http://evil.example/mcp',
  'https://evil.example/.well-known/oauth-protected-resource',
  'ftp://evil.example/',
  'http://user:password@evil.example/',
]

const METHODS = [
  'GET',
  'HEAD',
  'PUT',
  'DELETE',
  'PATCH',
  'OPTIONS',
  'TRACE',
  'CONNECT',
  'PROPFIND',
  'get',
  'post',
  'POST\t',
  'P\0ST',
  'A'.repeat(300),
  'M-SEARCH',
]

const INJECTIONS = [
  '\n\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\n\n',
  '\r\n\r\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\r\n\r\n',
  '\rdata: evil\r\r',
  'x\n\nevent: evil\n\n',
  'x\n\nid: 7\nretry: 1\n\n',
  '\u2028data: evil\u2029',
  '\0\u0001\u001b[31m',
  '</script><script>alert(1)</script>',
  '": "evil", "id": 1, "result": {',
  '\ud800',
  '\n: comment\n\n',
  'HTTP/1.1 200 OK\r\nX-Evil: 1\r\n\r\n',
].filter((text) => text !== '\ud800')

const NAMES = [
  'echo\r\nX-Evil: 1',
  'echo\n\ndata: evil',
  'echo\0',
  ' echo',
  'echo ',
  '__proto__',
  'constructor',
  'hasOwnProperty',
  'toString',
  'prototype',
  '../echo',
  'echo/../rule',
  'écho',
  'e'.repeat(5000),
  '<script>alert(1)</script>',
  'dollar {7*7}',
  '{{7*7}}',
]

const URIS = [
  'files://../../etc/passwd',
  'files://%2e%2e/%2e%2e/etc/passwd',
  'files://a\r\nX-Evil: 1',
  'files://\0',
  'file:///etc/passwd',
  'javascript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  'http://169.254.169.254/latest/meta-data/',
  'files://{path}',
  'files://%',
  'files://%zz',
  `files://${'a/'.repeat(2000)}`,
  '',
  ' ',
  '__proto__',
]

const raw = (...lines: string[]): string => lines.join('\r\n')
const JSON_TYPE = 'Content-Type: application/json'
const SMUGGLING: readonly (readonly [string, string])[] = [
  [
    'a length and chunks',
    raw(
      'POST /mcp HTTP/1.1',
      'Host: HOST',
      JSON_TYPE,
      'Content-Length: 4',
      'Transfer-Encoding: chunked',
      'Connection: close',
      '',
      '0',
      '',
      'GET /healthz HTTP/1.1',
      'Host: HOST',
      '',
      '',
    ),
  ],
  [
    'chunks and a length',
    raw(
      'POST /mcp HTTP/1.1',
      'Host: HOST',
      JSON_TYPE,
      'Transfer-Encoding: chunked',
      'Content-Length: 100',
      'Connection: close',
      '',
      '0',
      '',
      '',
    ),
  ],
  [
    'two lengths',
    raw(
      'POST /mcp HTTP/1.1',
      'Host: HOST',
      JSON_TYPE,
      'Content-Length: 2',
      'Content-Length: 30',
      'Connection: close',
      '',
      '{}',
    ),
  ],
  [
    'two lengths in one',
    raw('POST /mcp HTTP/1.1', 'Host: HOST', JSON_TYPE, 'Content-Length: 2, 2', 'Connection: close', '', '{}'),
  ],
  [
    'a negative length',
    raw('POST /mcp HTTP/1.1', 'Host: HOST', JSON_TYPE, 'Content-Length: -1', 'Connection: close', '', '{}'),
  ],
  [
    'a signed length',
    raw('POST /mcp HTTP/1.1', 'Host: HOST', JSON_TYPE, 'Content-Length: +2', 'Connection: close', '', '{}'),
  ],
  [
    'a hexadecimal length',
    raw('POST /mcp HTTP/1.1', 'Host: HOST', JSON_TYPE, 'Content-Length: 0x2', 'Connection: close', '', '{}'),
  ],
  [
    'a length beyond all numbers',
    raw(
      'POST /mcp HTTP/1.1',
      'Host: HOST',
      JSON_TYPE,
      'Content-Length: 99999999999999999999',
      'Connection: close',
      '',
      '{}',
    ),
  ],
  [
    'an obfuscated encoding',
    raw(
      'POST /mcp HTTP/1.1',
      'Host: HOST',
      JSON_TYPE,
      'Transfer-Encoding: xchunked',
      'Connection: close',
      '',
      '0',
      '',
      '',
    ),
  ],
  [
    'an encoding twice',
    raw(
      'POST /mcp HTTP/1.1',
      'Host: HOST',
      JSON_TYPE,
      'Transfer-Encoding: chunked, identity',
      'Connection: close',
      '',
      '0',
      '',
      '',
    ),
  ],
  [
    'a space before the colon',
    raw('POST /mcp HTTP/1.1', 'Host: HOST', 'Content-Length : 2', JSON_TYPE, 'Connection: close', '', '{}'),
  ],
  [
    'a folded header',
    raw(
      'POST /mcp HTTP/1.1',
      'Host: HOST',
      'X-A: b',
      ' c',
      JSON_TYPE,
      'Content-Length: 2',
      'Connection: close',
      '',
      '{}',
    ),
  ],
  ['bare line feeds', 'POST /mcp HTTP/1.1\nHost: HOST\nContent-Length: 2\nConnection: close\n\n{}'],
  [
    'a header without a colon',
    raw('POST /mcp HTTP/1.1', 'Host: HOST', 'garbage', 'Content-Length: 2', 'Connection: close', '', '{}'),
  ],
  [
    'a header without a name',
    raw('POST /mcp HTTP/1.1', 'Host: HOST', ': x', 'Content-Length: 2', 'Connection: close', '', '{}'),
  ],
  [
    'a NUL in a header',
    raw('POST /mcp HTTP/1.1', 'Host: HOST', 'X-A: a\0b', 'Content-Length: 2', 'Connection: close', '', '{}'),
  ],
  [
    'two hosts',
    raw(
      'POST /mcp HTTP/1.1',
      'Host: HOST',
      'Host: evil.example',
      'Content-Length: 2',
      'Connection: close',
      '',
      '{}',
    ),
  ],
  ['no host', raw('POST /mcp HTTP/1.1', 'Content-Length: 2', 'Connection: close', '', '{}')],
  ['HTTP/0.9', 'GET /\r\n\r\n'],
  ['HTTP/1.0', raw('GET /healthz HTTP/1.0', '', '')],
  ['HTTP/2 in the clear, and then not', `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${'x'.repeat(100)}`],
  ['HTTP/9.9', raw('GET / HTTP/9.9', 'Host: HOST', '', '')],
  ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'.padEnd(64, 'x').concat('\r\n\r\n')],
  [
    'a bad chunk size',
    raw(
      'POST /mcp HTTP/1.1',
      'Host: HOST',
      JSON_TYPE,
      'Transfer-Encoding: chunked',
      'Connection: close',
      '',
      'zz',
      '{}',
      '0',
      '',
      '',
    ),
  ],
  [
    'a chunk size beyond all numbers',
    raw(
      'POST /mcp HTTP/1.1',
      'Host: HOST',
      JSON_TYPE,
      'Transfer-Encoding: chunked',
      'Connection: close',
      '',
      'ffffffffffffffffff',
      '{}',
      '0',
      '',
      '',
    ),
  ],
  [
    'a header of 100 KB',
    raw(
      'POST /mcp HTTP/1.1',
      'Host: HOST',
      `X-A: ${'a'.repeat(100_000)}`,
      JSON_TYPE,
      'Content-Length: 2',
      'Connection: close',
      '',
      '{}',
    ),
  ],
  [
    '2000 headers',
    raw(
      'POST /mcp HTTP/1.1',
      'Host: HOST',
      ...Array.from({ length: 2000 }, (_, index) => `X-${index}: a`),
      JSON_TYPE,
      'Content-Length: 2',
      'Connection: close',
      '',
      '{}',
    ),
  ],
  [
    'an upgrade',
    raw(
      'GET /mcp HTTP/1.1',
      'Host: HOST',
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
      'Sec-WebSocket-Version: 13',
      '',
      '',
    ),
  ],
  [
    'an expectation',
    raw(
      'POST /mcp HTTP/1.1',
      'Host: HOST',
      'Expect: 200-ok',
      JSON_TYPE,
      'Content-Length: 2',
      'Connection: close',
      '',
      '{}',
    ),
  ],
]
