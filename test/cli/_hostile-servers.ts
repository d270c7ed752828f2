/** Servers that attack `mayfly check`: each answers with what a careless client would choke on. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { nodeListener } from '../../adapters/node.ts'
import { createMayfly, listen, type Running } from './_check-servers.ts'

/** How one request is answered. */
export type Attack = (request: IncomingMessage, response: ServerResponse, body: string) => void

/** Attacks at once, or only once it has shown itself to be an MCP server. */
export type From = 'the first answer' | 'the fourth answer'

export async function hostile(
  attack: Attack,
  from: From,
): Promise<Running & { readonly askedAt: () => number | undefined }> {
  let askedAt: number | undefined
  const good = nodeListener(createMayfly(), { hostname: '127.0.0.1' })
  let count = 0
  const running = await listen((request, response) => {
    if (count === 0) askedAt = performance.now()
    count += 1
    if (from === 'the fourth answer' && count <= 3) return good(request, response)
    read(request, (body) => attack(request, response, body))
  })
  return { ...running, askedAt: () => askedAt }
}

function read(request: IncomingMessage, take: (body: string) => void): void {
  let body = ''
  request.setEncoding('utf8').on('data', (text: string) => {
    body += text
  })
  request.once('end', () => take(body))
}

const STREAM = { 'content-type': 'text/event-stream' }
const JSON_TYPE = { 'content-type': 'application/json' }
const MIB = 1_048_576

/** Writes as fast as it is read, until the other side has had enough. */
function flood(response: ServerResponse | Socket, piece: string | Buffer): void {
  const write = (): void => {
    while (!response.destroyed && response.write(piece));
    if (!response.destroyed) response.once('drain', write)
  }
  response.on('error', () => {})
  write()
}

/** One piece at a time, for as long as the connection is open. */
function drip(socket: Socket, pieces: Iterable<string>, everyMs: number): void {
  const iterator = pieces[Symbol.iterator]()
  const timer = setInterval(() => {
    const next = iterator.next()
    if (next.done || socket.destroyed) clearInterval(timer)
    else socket.write(next.value)
  }, everyMs)
  socket.once('close', () => clearInterval(timer))
}

function* forever(piece: string): Generator<string> {
  for (;;) yield piece
}

function raw(response: ServerResponse, text: string | Buffer): Socket {
  const socket = response.socket!
  socket.on('error', () => {})
  socket.write(text)
  return socket
}

function answerJson(response: ServerResponse, text: string): void {
  response.writeHead(200, JSON_TYPE).end(text)
}

const idIn = (body: string): string => /"id":("[^"]*"|\d+)/.exec(body)?.[1] ?? 'null'

/** What names, messages and headers hold that is to steer a terminal. */
export const ESCAPES =
  '\u001b]0;owned\u0007\u001b[2J\u001b[1;31m\u009b31m\u202e\u2066\u200b\r\nmayfly: all is well\u0000'

/** Deeper than the stack of a recursive function. */
const DEEP = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
/** Cannot be made a string: `join` and template literals throw. */
const UNPRINTABLE = '{"toString":1,"valueOf":1}'

/** Of an answer to anything, in which a hostile value is everywhere that a value can be. */
function messageOf(id: string, value: string): string {
  const result = `{"resultType":${value},"supportedVersions":["2026-07-28",${value}],"protocolVersion":${value},
    "capabilities":{"tools":{"listChanged":${value}},"prompts":{},"resources":{}},"serverInfo":${value},"ttlMs":${value},
    "cacheScope":${value},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":${value},"version":${value}}},
    "tools":[{"name":${value},"description":${value},"inputSchema":{"type":"object","properties":{"a":${value}}}}],
    "prompts":[{"name":${value}}],"resources":[{"uri":${value},"name":${value}}],"resourceTemplates":[${value}],
    "nextCursor":${value}}`
  return `{"jsonrpc":"2.0","id":${id},"result":${result}}`
}

export const ATTACKS: { readonly [name: string]: Attack } = {
  'a body without end': (_request, response) => flood(response.writeHead(200, JSON_TYPE), ' '.repeat(65_536)),

  'events without end, many to a piece': (_request, response) =>
    flood(response.writeHead(200, STREAM), 'data: {}\n\n'.repeat(1000)),

  'small events without end, one to a piece': (_request, response) => {
    response.socket!.setNoDelay(true)
    flood(response.writeHead(200, STREAM), 'data:1\n\n')
  },

  'comments without end': (_request, response) =>
    flood(response.writeHead(200, STREAM), ':\n'.repeat(10_000)),

  'a line without end, in single characters': (_request, response) => {
    response.writeHead(200, STREAM).write('data: ')
    flood(response, 'x')
  },

  'a body that drips': (_request, response) => {
    response.writeHead(200, JSON_TYPE).flushHeaders()
    drip(response.socket!, forever('1\r\n \r\n'), 20)
  },

  'headers that drip': (_request, response) =>
    drip(raw(response, 'HTTP/1.1 200 OK\r\n'), forever('X-A: b\r\n'), 20),

  'a header of 1 MiB': (_request, response) =>
    void raw(response, `HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(MIB)}\r\n\r\n`),

  'headers without end': (_request, response) =>
    flood(raw(response, 'HTTP/1.1 200 OK\r\n'), 'X-A: b\r\n'.repeat(1000)),

  'interim answers without end': (_request, response) =>
    flood(response.socket!, 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(100)),

  'a redirect to itself': (request, response) =>
    void response.writeHead(307, { location: request.url }).end(),

  '1 GB that is announced and never comes': (_request, response) => {
    response.writeHead(200, { ...JSON_TYPE, 'content-length': 1e9 }).flushHeaders()
  },

  '1 GB that is announced and comes': (_request, response) =>
    flood(response.writeHead(200, { ...JSON_TYPE, 'content-length': 1e9 }), ' '.repeat(65_536)),

  'a reset before the answer': (_request, response) => void response.socket!.resetAndDestroy(),

  'a reset after the headers': (_request, response) => {
    response.writeHead(200, { ...JSON_TYPE, 'content-length': 100 }).write('{"jsonrpc"', () => {
      response.socket?.resetAndDestroy()
    })
  },

  'a switch of protocols': (_request, response) =>
    void raw(
      response,
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nabc',
    ),

  'a switch to TLS that is demanded': (_request, response) =>
    void raw(
      response,
      'HTTP/1.1 426 Upgrade Required\r\nConnection: Upgrade\r\nUpgrade: TLS/1.3, HTTP/1.1\r\nContent-Length: 0\r\n\r\n',
    ),

  'a switch of protocols that names none': (_request, response) =>
    void raw(response, 'HTTP/1.1 101 Switching Protocols\r\n\r\n'),

  'two answers at once': (_request, response, body) => {
    const text = messageOf(idIn(body), '"2025-11-25"')
    const head = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n`
    raw(response, `${head}${text}${head}${text}`)
  },

  'extensions of chunks without end': (_request, response) => {
    const socket = raw(response, 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;')
    flood(socket, 'a=b;'.repeat(1000))
  },

  'trailers without end': (_request, response) => {
    const socket = raw(response, 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n')
    flood(socket, 'X-A: b\r\n'.repeat(1000))
  },

  'no HTTP': (_request, response) => void raw(response, '\u0000\u0001\u0002 mcp\r\n\r\n').end(),

  'an invalid chunk size': (_request, response) =>
    void raw(response, 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n{}'),

  'status 999': (_request, response) => void raw(response, 'HTTP/1.1 999 \r\nContent-Length: 0\r\n\r\n'),

  'never an answer': () => {},

  'UTF-16': (_request, response, body) =>
    void response
      .writeHead(200, { 'content-type': 'application/json; charset=utf-16le' })
      .end(Buffer.from(messageOf(idIn(body), '"é"'), 'utf16le')),

  'bytes that are no UTF-8': (_request, response, body) =>
    void response.writeHead(200, JSON_TYPE).end(Buffer.from(messageOf(idIn(body), '"é"'), 'latin1')),

  'plain bytes that are called gzip': (_request, response, body) =>
    void response
      .writeHead(200, { ...JSON_TYPE, 'content-encoding': 'gzip' })
      .end(messageOf(idIn(body), '1')),

  'a bomb of gzip': (_request, response) =>
    void response.writeHead(200, { ...JSON_TYPE, 'content-encoding': 'gzip' }).end(GZIP_BOMB),

  'a bomb of brotli': (_request, response) =>
    void response.writeHead(200, { ...JSON_TYPE, 'content-encoding': 'br' }).end(BROTLI_BOMB),

  'JSON nested without end': (_request, response, body) => answerJson(response, nested(idIn(body))),

  'an id that is nested': (_request, response) =>
    answerJson(response, `{"jsonrpc":"2.0","id":${DEEP},"result":{"resultType":"complete"}}`),

  'an error that is nested': (_request, response, body) =>
    answerJson(response, `{"jsonrpc":"2.0","id":${idIn(body)},"error":{"code":1,"message":${DEEP}}}`),

  'values that cannot be made text': (_request, response, body) =>
    answerJson(response, messageOf(idIn(body), UNPRINTABLE)),

  'a code that cannot be made a number': (_request, response, body) =>
    answerJson(
      response,
      `{"jsonrpc":"2.0","id":${idIn(body)},"error":{"code":${UNPRINTABLE},"message":${UNPRINTABLE},"data":{"supported":[${UNPRINTABLE}]}}}`,
    ),

  'null everywhere': (_request, response, body) => answerJson(response, messageOf(idIn(body), 'null')),

  'what steers a terminal, everywhere': (_request, response, body) => {
    const header = 'Bearer resource_metadata="x\u001b[2J\u009b31m"'.replaceAll(/[^\t\x20-\xff]/g, '\u009b')
    response.setHeader('www-authenticate', header)
    response.setHeader('allow', 'POST, \u009b31m')
    response.setHeader('access-control-allow-origin', '\u009b2J')
    response.setHeader('mcp-session-id', '\u009b2J')
    response.setHeader('content-type', 'application/json')
    response.writeHead(200).end(messageOf(idIn(body), JSON.stringify(ESCAPES)))
  },

  'errors that steer a terminal': (_request, response, body) => {
    const error = { code: -32000, message: ESCAPES, data: ESCAPES }
    answerJson(response, `{"jsonrpc":"2.0","id":${idIn(body)},"error":${JSON.stringify(error)}}`)
  },

  'another session with each answer': (_request, response, body) => {
    response.setHeader('mcp-session-id', `session-${Math.random()}`)
    answerJson(response, messageOf(idIn(body), '"2025-11-25"'))
  },

  'a list without end': (_request, response, body) => {
    const tools = `[{"name":"${Math.random()}","description":"","inputSchema":{"type":"object"}}]`
    const result = `{"resultType":"complete","ttlMs":0,"cacheScope":"public","supportedVersions":["2026-07-28"],
      "protocolVersion":"2025-11-25","capabilities":{"tools":{},"prompts":{},"resources":{}},
      "serverInfo":{"name":"a","version":"1"},"tools":${tools},"prompts":${tools},"resources":[],"resourceTemplates":[],
      "nextCursor":"${Math.random()}"}`
    answerJson(response, `{"jsonrpc":"2.0","id":${idIn(body)},"result":${result}}`)
  },

  'responses to other requests': (_request, response) =>
    flood(response.writeHead(200, STREAM), 'data: {"jsonrpc":"2.0","id":"other","result":{}}\n\n'),

  '401 with thousands of places to look at': (request, response) => {
    const servers = Array.from({ length: 20_000 }, (_, index) => `https://127.0.0.1:${index + 1}/`)
    if (request.method === 'GET')
      return answerJson(response, JSON.stringify({ authorization_servers: servers }))
    const named = servers.slice(0, 100).map((url) => `resource_metadata="${url}"`)
    response.writeHead(401, { 'www-authenticate': `Bearer ${named.join(', ')}` }).end()
  },
}

const GZIP_BOMB = gzipSync(Buffer.alloc(200 * MIB))
const BROTLI_BOMB = brotliCompressSync(Buffer.alloc(20 * MIB))

function nested(id: string): string {
  return `{"jsonrpc":"2.0","id":${id},"result":{"resultType":"complete","supportedVersions":["2026-07-28"],
    "protocolVersion":"2025-11-25","capabilities":{"tools":{}},"ttlMs":${DEEP},"cacheScope":${DEEP},"serverInfo":${DEEP},
    "tools":[{"name":"a","inputSchema":{"type":"object","not":${DEEP}}},{"description":${DEEP}}],"nextCursor":${DEEP}}}`
}
