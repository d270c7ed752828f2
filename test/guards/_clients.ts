/** The clients of every entry: they send calls as theirs are sent, and may change what is sent. */
import { Exchange, type WireMessage } from './_http.ts'

export interface Call {
  readonly method: string
  readonly params?: { readonly [name: string]: unknown }
}

/** What is sent otherwise than by a client that means well. */
export interface Change {
  readonly headers?: { readonly [name: string]: string | undefined }
  /** The body, made of the one that would be sent. */
  readonly body?: (text: string) => string
  readonly holdsBody?: boolean
}

export interface Reply {
  /** Of the HTTP request that the call came in; undefined on stdio. */
  readonly status: number | undefined
  readonly headers: { readonly [name: string]: unknown }
  /** The answer to the call, or to all that it came with. */
  readonly message: WireMessage | undefined
}

export interface Running {
  /** What has come on its stream so far, where it has one. */
  readonly heard: readonly WireMessage[]
  readonly reply: Promise<Reply>
  /** The ways in which its client can go. Resolves when it is gone. */
  readonly leave: { readonly [way: string]: () => Promise<unknown> }
}

export interface Client {
  /** Sends calls, in one request where this entry can. */
  send(calls: readonly Call[], change?: Change): Promise<Reply[]>
  /** Sends a call that goes on. */
  begin(call: Call): Running
  /** Lets go of the connection, where there is one. */
  close(): void
}

export interface Target {
  readonly port: number
  readonly path: string
  readonly token: string | undefined
}

export const MODERN = '2026-07-28'
export const LEGACY = '2025-11-25'
export const BATCHING = '2025-03-26'
export const META = 'io.modelcontextprotocol/'

const CLIENT = { name: 'guards', version: '1.0.0' }

let nextId = 1

const asMessage = ({ method, params = {} }: Call) => ({
  jsonrpc: '2.0' as const,
  id: nextId++,
  method,
  params,
})

type Sent = ReturnType<typeof asMessage>

function modernMessage({ method, params }: Call): Sent {
  const _meta = {
    [`${META}protocolVersion`]: MODERN,
    [`${META}clientInfo`]: CLIENT,
    [`${META}clientCapabilities`]: {},
  }
  return asMessage({ method, params: { ...params, _meta } })
}

const legacyHeaders = (version: string) => ({ 'mcp-protocol-version': version })

function modernHeaders({ method, params }: Sent): { [name: string]: string | undefined } {
  const name = (params.name ?? params.uri) as string | undefined
  return { 'mcp-protocol-version': MODERN, 'mcp-method': method, 'mcp-name': name }
}

/** Posts one or more messages. */
function post(
  { port, path, token }: Target,
  messages: Sent | readonly Sent[],
  own: { readonly [name: string]: string | undefined },
  { headers, body = (text) => text, holdsBody = false }: Change = {},
): Exchange {
  return new Exchange({
    port,
    path,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: token && `Bearer ${token}`,
      ...own,
      ...headers,
    },
    body: body(JSON.stringify(messages)),
    holdsBody,
  })
}

const isAnswerTo = (id: number) => (message: WireMessage) => message.id === id && message.method === undefined

/** The reply to a message of an answer that has ended. */
async function replyIn(exchange: Exchange, { id }: Sent): Promise<Reply> {
  await exchange.done
  const { status, headers, messages } = exchange
  return { status, headers, message: messages.find(isAnswerTo(id)) ?? messages.at(-1) }
}

const dropping = (exchange: Exchange) => ({
  'drops the connection': () => {
    exchange.destroy()
    return exchange.done
  },
})

/** A request for each call, answered by its response. */
const single =
  (toMessage: (call: Call) => Sent, headersOf: (message: Sent) => { [name: string]: string | undefined }) =>
  async (target: Target): Promise<Client> => {
    const send = async (call: Call, change?: Change): Promise<Reply> => {
      const message = toMessage(call)
      const exchange = post(target, message, headersOf(message), change)
      const reply = await replyIn(exchange, message)
      exchange.destroy()
      return reply
    }
    return {
      send: (calls, change) => Promise.all(calls.map((call) => send(call, change))),
      begin: (call) => {
        const message = toMessage(call)
        const exchange = post(target, message, headersOf(message))
        return { heard: exchange.messages, reply: replyIn(exchange, message), leave: dropping(exchange) }
      },
      close: () => {},
    }
  }

export const modern = single(modernMessage, modernHeaders)
export const legacy = single(asMessage, () => legacyHeaders(LEGACY))

/** All calls in one batch, whose version allows that. */
export const batch = async (target: Target): Promise<Client> => batchClient(target, legacyHeaders(BATCHING))

function batchClient(
  target: Target,
  headers: { readonly [name: string]: string },
  leave: (exchange: Exchange, id: number) => Running['leave'] = dropping,
): Client {
  return {
    send: async (calls, change) => {
      const messages = calls.map(asMessage)
      const exchange = post(target, messages, headers, change)
      const replies = await Promise.all(messages.map((message) => replyIn(exchange, message)))
      exchange.destroy()
      return replies
    },
    begin: (call) => {
      const message = asMessage(call)
      const exchange = post(target, [message], headers)
      return {
        heard: exchange.messages,
        reply: replyIn(exchange, message),
        leave: leave(exchange, message.id),
      }
    },
    close: () => {},
  }
}

/** Every call opens a stream. It is left once it is acknowledged, unless it is begun. */
export async function listen(target: Target): Promise<Client> {
  const open = (call: Call, change?: Change) => {
    const message = modernMessage(call)
    return { message, exchange: post(target, message, modernHeaders(message), change) }
  }
  return {
    send: (calls, change) =>
      Promise.all(
        calls.map(async (call) => {
          const { exchange } = open(call, change)
          const message = await exchange.find(() => true)
          const { status, headers } = exchange
          exchange.destroy()
          await exchange.done
          return { status, headers, message }
        }),
      ),
    begin: (call) => {
      const { exchange, message } = open(call)
      return { heard: exchange.messages, reply: replyIn(exchange, message), leave: dropping(exchange) }
    },
    close: () => {},
  }
}

const initialize = (version: string) =>
  asMessage({
    method: 'initialize',
    params: { protocolVersion: version, capabilities: {}, clientInfo: CLIENT },
  })

const cancelled = (requestId: number) => ({
  jsonrpc: '2.0' as const,
  method: 'notifications/cancelled',
  params: { requestId },
})

/** Streamable HTTP with a session. */
const inSession =
  (version: string, isBatch: boolean) =>
  async (target: Target): Promise<Client> => {
    const opening = initialize(version)
    const opened = post(target, opening, {})
    const { status, message } = await replyIn(opened, opening)
    if (message?.result === undefined) throw new Error(`initialize: ${status} ${JSON.stringify(message)}`)
    const headers = { ...legacyHeaders(version), 'mcp-session-id': String(opened.headers['mcp-session-id']) }
    const leave = (exchange: Exchange, id: number): Running['leave'] => ({
      'notifications/cancelled': async () => {
        await post(target, cancelled(id) as never, headers).done
        exchange.destroy()
      },
      'DELETE of the session': () => {
        const { port, path, token } = target
        const authorization = token && `Bearer ${token}`
        return new Exchange({ port, path, method: 'DELETE', headers: { ...headers, authorization } }).done
      },
    })
    if (isBatch) return batchClient(target, headers, leave)
    const { send, close } = await single(asMessage, () => headers)(target)
    return {
      send,
      close,
      begin: (call) => {
        const message = asMessage(call)
        const exchange = post(target, message, headers)
        return {
          heard: exchange.messages,
          reply: replyIn(exchange, message),
          leave: leave(exchange, message.id),
        }
      },
    }
  }

export const session = inSession(LEGACY, false)
export const sessionBatch = inSession(BATCHING, true)

/** The deprecated transport of 2024-11-05: messages are posted, and answered on a stream. */
export async function sse(target: Target): Promise<Client> {
  const authorization = target.token && `Bearer ${target.token}`
  const stream = new Exchange({ ...target, method: 'GET', headers: { authorization } })
  await stream.until(() => stream.endpoint !== undefined)
  if (stream.endpoint === undefined) throw new Error(`The stream: ${stream.status} ${stream.text}`)
  const messages = { ...target, path: stream.endpoint }

  const replyTo = async (posted: Exchange, { id }: Sent): Promise<Reply> => {
    await posted.done
    const { status, headers } = posted
    const message = status === 202 ? await stream.find(isAnswerTo(id)) : posted.messages.at(-1)
    return { status, headers, message }
  }
  const send = (call: Call, change?: Change): Promise<Reply> => {
    const message = asMessage(call)
    const posted = post(messages, message, {}, change)
    return replyTo(posted, message).finally(() => posted.destroy())
  }
  const opening = initialize('2024-11-05')
  await replyTo(post(messages, opening, {}), opening)
  return {
    send: (calls, change) => Promise.all(calls.map((call) => send(call, change))),
    begin: (call) => {
      const message = asMessage(call)
      return {
        heard: stream.messages,
        reply: replyTo(post(messages, message, {}), message),
        leave: {
          'notifications/cancelled': () => post(messages, cancelled(message.id) as never, {}).done,
          'closes its stream': () => {
            stream.destroy()
            return stream.done
          },
        },
      }
    },
    close: () => stream.destroy(),
  }
}
