/** What is no message at all: bodies, media types, HTTP methods. */
import { type CorpusEntry, posted, URL_OF_ENDPOINT } from './_entry.ts'

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}'

const nested = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`

const of = (httpMethod: string, id: string, headers: CorpusEntry['headers'] = {}): CorpusEntry => ({
  id,
  httpMethod,
  url: URL_OF_ENDPOINT,
  headers,
})

export const malformedCorpus = [
  // not JSON
  posted('empty body', ''),
  posted('no body', undefined),
  posted('body of spaces', '   \n'),
  posted('text', 'hello'),
  posted('truncated', '{"jsonrpc":"2.0","id":1,'),
  posted('trailing comma', '{"jsonrpc":"2.0","id":1,"method":"ping",}'),
  posted('two documents', `${PING}\n${PING}`),
  posted('single quotes', "{'jsonrpc':'2.0','id':1,'method':'ping'}"),
  posted('NaN', '{"jsonrpc":"2.0","id":NaN,"method":"ping"}'),
  posted('a comment', '{"jsonrpc":"2.0",/* no */"id":1,"method":"ping"}'),
  posted('a lone surrogate escape', '{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}'),
  posted('a control character in a string', '{"jsonrpc":"2.0","id":"a\u0001","method":"ping"}'),
  posted('bytes that are no UTF-8', new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d])),
  posted('UTF-16', new Uint8Array(Buffer.from(PING, 'utf16le'))),
  posted('a byte order mark', `\ufeff${PING}`),
  posted('zero bytes', new Uint8Array(16)),
  posted('gzip magic', new Uint8Array([0x1f, 0x8b, 0x08, 0x00])),
  posted('XML', '<?xml version="1.0"?><methodCall/>'),
  posted('form data', 'jsonrpc=2.0&id=1&method=ping'),

  // JSON, but no message
  posted('null', 'null'),
  posted('true', 'true'),
  posted('a number', '42'),
  posted('a string', '"ping"'),
  posted('an empty object', '{}'),
  posted('jsonrpc missing', '{"id":1,"method":"ping"}'),
  posted('jsonrpc 1.0', '{"jsonrpc":"1.0","id":1,"method":"ping"}'),
  posted('jsonrpc is a number', '{"jsonrpc":2.0,"id":1,"method":"ping"}'),
  posted('id is null', '{"jsonrpc":"2.0","id":null,"method":"ping"}'),
  posted('id is true', '{"jsonrpc":"2.0","id":true,"method":"ping"}'),
  posted('id is an object', '{"jsonrpc":"2.0","id":{},"method":"ping"}'),
  posted('id is an array', '{"jsonrpc":"2.0","id":[1],"method":"ping"}'),
  posted('id is a fraction', '{"jsonrpc":"2.0","id":1.5,"method":"ping"}'),
  posted('id is beyond the safe integers', '{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}'),
  posted('id overflows', '{"jsonrpc":"2.0","id":1e400,"method":"ping"}'),
  posted('id is minus zero', '{"jsonrpc":"2.0","id":-0,"method":"ping"}'),
  posted('id is 1.0', '{"jsonrpc":"2.0","id":1.0,"method":"ping"}'),
  posted('method missing', '{"jsonrpc":"2.0","id":1}'),
  posted('method is a number', '{"jsonrpc":"2.0","id":1,"method":5}'),
  posted('method is null', '{"jsonrpc":"2.0","id":1,"method":null}'),
  posted('method is an array', '{"jsonrpc":"2.0","id":1,"method":["ping"]}'),
  posted('params are an array', '{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}'),
  posted('params are an empty array', '{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}'),
  posted('params are a string', '{"jsonrpc":"2.0","id":1,"method":"ping","params":"x"}'),
  posted('params are null', '{"jsonrpc":"2.0","id":1,"method":"ping","params":null}'),
  posted('members beyond the protocol', '{"jsonrpc":"2.0","id":1,"method":"ping","extra":true}'),
  posted('a request that is a response too', '{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}'),
  posted('the same member twice', '{"jsonrpc":"2.0","id":1,"method":"nope","method":"ping"}'),
  posted('method with other letters', '{"JSONRPC":"2.0","ID":1,"METHOD":"ping"}'),

  // depth, size, prototypes
  posted('nested 30 levels', `{"jsonrpc":"2.0","id":1,"method":"ping","params":${nested(30)}}`),
  posted('nested 100 levels', `{"jsonrpc":"2.0","id":1,"method":"ping","params":${nested(100)}}`),
  posted('nested 5000 levels', `{"jsonrpc":"2.0","id":1,"method":"ping","params":${nested(5000)}}`),
  posted('1000 arrays in arrays', `${'['.repeat(1000)}${']'.repeat(1000)}`),
  posted('100 000 unclosed brackets', '['.repeat(100_000)),
  posted('5 MiB', `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"${'x'.repeat(5 * 1024 * 1024)}"}}`),
  posted(
    'a key __proto__ in params',
    '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"__proto__":{"x":1}}}',
  ),
  posted('a key __proto__ at the top', '{"jsonrpc":"2.0","id":1,"method":"ping","__proto__":{"id":2}}'),
  posted(
    'a key constructor.prototype',
    '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"constructor":{"prototype":{"x":1}}}}',
  ),
  posted('a key constructor alone', '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"constructor":"x"}}'),
  posted('a message made of its prototype', '{"__proto__":{"jsonrpc":"2.0","id":1,"method":"ping"}}'),

  // media types
  posted('content type missing', new Uint8Array(Buffer.from(PING)), { 'content-type': undefined }),
  posted('content type text/plain', PING, { 'content-type': 'text/plain' }),
  posted('content type of a form', PING, { 'content-type': 'application/x-www-form-urlencoded' }),
  posted('content type JSON with charset', PING, { 'content-type': 'application/json; charset=utf-8' }),
  posted('content type JSON in capitals', PING, { 'content-type': 'Application/JSON' }),
  posted('content type JSON-RPC', PING, { 'content-type': 'application/json-rpc' }),
  posted('content type application/jsonx', PING, { 'content-type': 'application/jsonx' }),
  posted('content type with JSON as a parameter', PING, { 'content-type': 'text/plain; x=application/json' }),
  posted('content type problem+json', PING, { 'content-type': 'application/problem+json' }),
  posted('content type empty', PING, { 'content-type': '' }),
  posted('content type twice', PING, { 'content-type': 'application/json, text/plain' }),

  // HTTP methods
  of('GET', 'GET for a stream', { accept: 'text/event-stream' }),
  of('GET', 'GET for JSON', { accept: 'application/json' }),
  of('GET', 'GET for a stream of an old event', { accept: 'text/event-stream', 'last-event-id': '7' }),
  of('GET', 'GET under a modern header', {
    accept: 'text/event-stream',
    'mcp-protocol-version': '2026-07-28',
  }),
  of('DELETE', 'DELETE', { 'mcp-session-id': 'x' }),
  of('DELETE', 'DELETE under a modern header', { 'mcp-protocol-version': '2026-07-28' }),
  { ...posted('PUT', PING), httpMethod: 'PUT' },
  { ...posted('PATCH', PING), httpMethod: 'PATCH' },
  of('HEAD', 'HEAD', { accept: 'application/json' }),
  of('OPTIONS', 'preflight', {
    origin: 'https://app.example',
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'content-type,mcp-protocol-version',
  }),
]
