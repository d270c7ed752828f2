/** Answers to a call that are too large, too slow, without end, or no answers. */
import type { ServerResponse } from 'node:http'
import { createGzip } from 'node:zlib'
import { type Answer, type Era, type Exchange, HELLO, type HostileServer, startHostile } from './server.ts'

/** What goes out at once where there is no end of it. */
const BLOCK = 'a'.repeat(64 * 1024)

/** Harmless until a tool is called. */
export function onCall(attack: (exchange: Exchange) => unknown, era: Era = 'legacy'): Promise<HostileServer> {
  const answer: Answer = async (exchange) => {
    if (exchange.message?.method !== 'tools/call') return false
    await attack(exchange)
    return true
  }
  return startHostile(answer, { era })
}

/** Writes `block` until the client goes away, as fast as it reads. */
async function flood(
  response: ServerResponse,
  block = BLOCK,
  blocks = Number.POSITIVE_INFINITY,
): Promise<void> {
  for (let sent = 0; sent < blocks && !response.destroyed; sent++) {
    if (response.write(block)) await new Promise((resolve) => setImmediate(resolve))
    else {
      await new Promise<void>((resolve) => {
        const goOn = (): void => {
          response.off('drain', goOn).off('close', goOn)
          resolve()
        }
        response.on('drain', goOn).on('close', goOn)
      })
    }
  }
}

const opening = ({ message }: Exchange): string =>
  `{"jsonrpc":"2.0","id":${JSON.stringify(message?.id)},"result":{"resultType":"complete","content":[{"type":"text","text":"`

const JSON_TYPE = { 'content-type': 'application/json' }
const EVENTS_TYPE = { 'content-type': 'text/event-stream' }

/** A body of JSON without end. */
export const endlessJson = (era?: Era): Promise<HostileServer> =>
  onCall((exchange) => {
    exchange.response.writeHead(200, JSON_TYPE).write(opening(exchange))
    return flood(exchange.response)
  }, era)

/** A whole answer of about this many bytes. */
export const hugeJson = (bytes: number): Promise<HostileServer> =>
  onCall((exchange) => {
    exchange.response.writeHead(200, JSON_TYPE).end(`${opening(exchange)}${'a'.repeat(bytes)}"}]}}`)
  })

/** A few bytes that unpack to JSON without end. */
export const gzipBomb = (): Promise<HostileServer> =>
  onCall(async (exchange) => {
    const { response } = exchange
    response.writeHead(200, { ...JSON_TYPE, 'content-encoding': 'gzip' })
    const gzip = createGzip({ level: 9 })
    gzip.on('error', () => {})
    gzip.pipe(response)
    gzip.write(opening(exchange))
    const block = 'a'.repeat(4 * 1024 * 1024)
    // A gigabyte of it is a megabyte on the wire.
    for (let sent = 0; sent < 256 && !response.destroyed; sent++) {
      await new Promise<void>((resolve) => gzip.write(block, () => resolve()))
    }
    gzip.end()
  })

/** An event whose one line has no end. */
export const endlessEvent = (era?: Era): Promise<HostileServer> =>
  onCall((exchange) => {
    exchange.response.writeHead(200, EVENTS_TYPE).write(`data: ${opening(exchange)}`)
    return flood(exchange.response)
  }, era)

/** Short lines without the empty one that ends an event. */
export const endlessLines = (line = 'data: aaaaaaaa'): Promise<HostileServer> =>
  onCall((exchange) => {
    exchange.response.writeHead(200, EVENTS_TYPE)
    return flood(exchange.response, `${line}\n`.repeat(4000))
  })

/** Short events without end, with a status or a type with which nobody reads events. */
export const endlessEvents = (status: number, type = 'text/event-stream'): Promise<HostileServer> =>
  onCall(({ response }) => {
    response.writeHead(status, { 'content-type': type })
    return flood(response, 'data: {}\n\n'.repeat(4000))
  })

/** A byte at a time, and the last one never. */
export const dripping = (era?: Era): Promise<HostileServer> =>
  onCall(async (exchange) => {
    const { response } = exchange
    response.writeHead(200, JSON_TYPE).write(opening(exchange))
    await drip(response)
  }, era)

/** Nothing at all. */
export const silent = (era?: Era): Promise<HostileServer> => onCall(() => {}, era)

/** Nothing to a call, nor to the message that it is given up. */
export const deaf = (): Promise<HostileServer> =>
  startHostile(({ message }) => message?.method === 'tools/call' || message?.method === CANCELLED)

const CANCELLED = 'notifications/cancelled'

/** The same over HTTP+SSE. With `isDripping`, it sends a byte at a time. */
export function deafOverSse(isDripping: boolean): Promise<HostileServer> {
  let send = (_message: object): void => {}
  return startHostile((exchange) => {
    const { method, path, message, response } = exchange
    if (method === 'GET') {
      response.writeHead(200, EVENTS_TYPE).write('event: endpoint\ndata: /messages\n\n')
      send = (answer) => void response.write(`data: ${JSON.stringify(answer)}\n\n`)
    } else if (path !== '/messages') response.writeHead(405).end()
    else if (message?.method === 'tools/call' || message?.method === CANCELLED) {
      if (isDripping) return drip(response.writeHead(200))
    } else {
      response.writeHead(202).end()
      const serverInfo = { name: 'hostile', version: '1' }
      const result = { protocolVersion: '2024-11-05', capabilities: { tools: {} }, serverInfo }
      if (message?.method === 'initialize') send({ jsonrpc: '2.0', id: message.id, result })
    }
    return true
  })
}

/** No POST, and for a GET something that is no stream of events, a byte at a time. */
export const drippingPage = (status: number): Promise<HostileServer> =>
  startHostile(({ method, response }) => {
    if (method === 'GET') return drip(response.writeHead(status, { 'content-type': 'text/html' }))
    response.writeHead(405).end()
    return true
  })

/** A byte at a time, until the client goes away. */
async function drip(response: ServerResponse): Promise<true> {
  while (!response.destroyed) {
    response.write('a')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return true
}

/** An answer, and a stream that goes on after it. */
export const lingering = (): Promise<HostileServer> =>
  onCall((exchange) => {
    exchange.events()({
      jsonrpc: '2.0',
      id: exchange.message?.id,
      result: { content: [{ type: 'text', text: 'Hello' }] },
    })
  })

/** A stream that ends before it has said anything. */
export const unfinished = (era?: Era): Promise<HostileServer> =>
  onCall(({ response }) => response.writeHead(200, EVENTS_TYPE).end(': nothing\n\n'), era)

/** A stream that ends at once and asks to be opened again, at once; so does the next. */
export function reopening(retryMs = 0): Promise<HostileServer> {
  const end = ({ response }: Exchange): boolean => {
    response.writeHead(200, EVENTS_TYPE).end(`id: 1\nretry: ${retryMs}\ndata:\n\n`)
    return true
  }
  return startHostile((exchange) =>
    exchange.method === 'GET' || exchange.message?.method === 'tools/call' ? end(exchange) : false,
  )
}

/** Bodies that are no answer, by what they are. */
export const NO_ANSWERS: { readonly [what: string]: (exchange: Exchange) => unknown } = {
  'a page': ({ response }) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Hello'),
  'a page that says it is JSON': ({ response }) => response.writeHead(200, JSON_TYPE).end('<p>Hello'),
  'no type': ({ response }) => response.writeHead(200).end('{}'),
  'an empty body': ({ response }) => response.writeHead(200, JSON_TYPE).end(),
  'no content': ({ response }) => response.writeHead(204).end(),
  null: ({ json }) => json(null),
  'a list of nothing': ({ json }) => json([]),
  'a message of no kind': ({ json, message }) => json({ jsonrpc: '2.0', id: message?.id }),
  'a result that is text': ({ json, message }) => json({ jsonrpc: '2.0', id: message?.id, result: 'Hello' }),
  'content that is no list': ({ result }) => result({ content: 'Hello' }),
  'somebody else’s answer': ({ json }) => json({ jsonrpc: '2.0', id: 'other', result: { content: [] } }),
  'an answer to no id': ({ json }) => json({ jsonrpc: '2.0', id: null, error: { code: -1, message: 'x' } }),
  'bytes that are no text': ({ response }) =>
    response.writeHead(200, JSON_TYPE).end(Buffer.from([0xff, 0xfe, 0x00, 0xc3, 0x28])),
  'half an answer': (exchange) => {
    const { response } = exchange
    response.writeHead(200, { ...JSON_TYPE, 'content-length': '1000' })
    response.write(opening(exchange), () => response.destroy())
  },
  'gzip that is none': ({ response }) =>
    response.writeHead(200, { ...JSON_TYPE, 'content-encoding': 'gzip' }).end('{"jsonrpc":"2.0"}'),
  'a thousand levels, ten times': ({ response, message }) => {
    const nested = '['.repeat(10_000) + ']'.repeat(10_000)
    response
      .writeHead(200, JSON_TYPE)
      .end(`{"jsonrpc":"2.0","id":${JSON.stringify(message?.id)},"result":{"content":${nested}}}`)
  },
  'keys that would pollute': ({ response, message }) => {
    const polluted = '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}'
    response
      .writeHead(200, JSON_TYPE)
      .end(
        `{"jsonrpc":"2.0","id":${JSON.stringify(message?.id)},"result":${polluted},"__proto__":{"polluted":true}}`,
      )
  },
}

/** A stranger's answer first, then the right one, then the right one's id once more with another. */
export const crossed = (): Promise<HostileServer> =>
  onCall((exchange) => {
    const send = exchange.events()
    const say = (id: unknown, text: string) =>
      send({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text }] } })
    say('other', 'of somebody else')
    say(10_000, 'of nobody')
    say(exchange.message?.id, 'Hello')
    say(exchange.message?.id, 'again')
    exchange.response.end()
  })

/** An error of this status, whose text is `text`. */
export const failing = (status: number, text: string, headers: { readonly [name: string]: string } = {}) =>
  onCall(({ response }) => response.writeHead(status, { 'content-type': 'text/plain', ...headers }).end(text))

/** Sends every request about a call on to `target`, with this status. */
export const redirecting = (status: number, target: string): Promise<HostileServer> =>
  startHostile(({ response }) => {
    response.writeHead(status, { location: target }).end()
    return true
  })

/** Opens sessions of this id, which may be any text that a header can hold. */
export const withSessionId = (id: string): Promise<HostileServer> =>
  startHostile(({ message, json }) => {
    if (message?.method !== 'initialize') return false
    const result = {
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: 'hostile', version: '1' },
    }
    json({ jsonrpc: '2.0', id: message.id, result }, 200, { 'mcp-session-id': id })
    return true
  })

/** Resources of this size, which may all be kept for this time. */
export const keeping = (characters: number, ttlMs: number): Promise<HostileServer> =>
  startHostile(
    ({ message, result }) => {
      if (message?.method !== 'resources/read') return false
      const contents = [{ uri: message.params?.uri, text: 'a'.repeat(characters) }]
      result({ resultType: 'complete', ttlMs, cacheScope: 'private', contents })
      return true
    },
    { era: 'modern', capabilities: { resources: {} } },
  )

/** Pages without end, each with a cursor that was not there before and `perPage` tools. */
export function endlessList(perPage: number, description = ''): Promise<HostileServer> {
  let page = 0
  return startHostile(({ message, result }) => {
    if (message?.method !== 'tools/list') return false
    page++
    const tools = Array.from({ length: perPage }, (_, index) => ({
      ...HELLO,
      name: `t${page}-${index}`,
      description,
    }))
    result({ tools, nextCursor: `${page}` })
    return true
  })
}
