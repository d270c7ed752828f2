/** Servers that send more than anybody asked for, as fast as they can. */
import { HELLO, type HostileServer, startHostile } from './server.ts'

/** Messages by what they are; each gets a number of its own. */
export const FLOODS: { readonly [what: string]: (index: number) => object } = {
  'changes of the tools': () => ({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' }),
  'updates of a resource': () => ({
    jsonrpc: '2.0',
    method: 'notifications/resources/updated',
    params: { uri: 'news://today' },
  }),
  'updates of very many resources': (index) => ({
    jsonrpc: '2.0',
    method: 'notifications/resources/updated',
    params: { uri: `news://${index}` },
  }),
  logs: (index) => ({
    jsonrpc: '2.0',
    method: 'notifications/message',
    params: { level: 'info', data: `${index}` },
  }),
  'progress of no call': (index) => ({
    jsonrpc: '2.0',
    method: 'notifications/progress',
    params: { progressToken: `none${index}`, progress: index },
  }),
  'answers to no call': (index) => ({ jsonrpc: '2.0', id: 1_000_000 + index, result: {} }),
  pings: (index) => ({ jsonrpc: '2.0', id: `ping${index}`, method: 'ping' }),
  'requests of no known method': (index) => ({ jsonrpc: '2.0', id: `x${index}`, method: 'x/y' }),
  'messages of no kind': (index) => ({ index }),
}

const CAPABILITIES = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  logging: {},
}

export interface Flooding extends HostileServer {
  /** Sends `count` of them on the stream that a client opened with GET, once it has. */
  flood(count: number): Promise<void>
}

/** A legacy server that floods the stream of its own with messages of this kind; `call` is what it does when its tool is called. */
export async function flooding(
  make: (index: number) => object,
  call: (flood: Flooding['flood']) => Promise<void> = async () => {},
): Promise<Flooding> {
  let opened: (send: (message: object) => void) => void = () => {}
  const stream = new Promise<(message: object) => void>((resolve) => {
    opened = resolve
  })
  let sent = 0
  const flood = async (count: number): Promise<void> => {
    const send = await stream
    for (let index = 0; index < count; index++) {
      send(make(sent++))
      if (index % 500 === 499) await new Promise((resolve) => setImmediate(resolve))
    }
  }
  const server = await startHostile(
    async (exchange) => {
      if (exchange.message?.method === 'tools/call') await call(flood)
      if (exchange.method !== 'GET') return false
      const send = exchange.events()
      exchange.response.flushHeaders()
      opened(send)
      return true
    },
    { capabilities: CAPABILITIES, tools: [HELLO] },
  )
  return Object.assign(server, { flood })
}

/** A modern server that acknowledges a subscription and ends it at once. */
export const endingSubscriptions = (): Promise<HostileServer> =>
  startHostile(
    (exchange) => {
      if (exchange.message?.method !== 'subscriptions/listen') return false
      const send = exchange.events()
      const _meta = { 'io.modelcontextprotocol/subscriptionId': exchange.message.id }
      send({
        jsonrpc: '2.0',
        method: 'notifications/subscriptions/acknowledged',
        params: { notifications: exchange.message.params?.notifications, _meta },
      })
      exchange.response.end()
      return true
    },
    { era: 'modern', capabilities: CAPABILITIES },
  )

/** A server over HTTP+SSE that ends its stream as soon as somebody has subscribed. */
export function dropping(): Promise<HostileServer> {
  let send: (message: object) => void = () => {}
  let drop = (): void => {}
  return startHostile((exchange) => {
    const { method, path, message, response } = exchange
    if (method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('event: endpoint\ndata: /messages\n\n')
      send = (answer) => void response.write(`data: ${JSON.stringify(answer)}\n\n`)
      drop = () => response.destroy()
      return true
    }
    if (path !== '/messages') {
      response.writeHead(405).end()
      return true
    }
    response.writeHead(202).end()
    if (message?.method === 'initialize') {
      const serverInfo = { name: 'hostile', version: '1' }
      const result = { protocolVersion: '2024-11-05', capabilities: CAPABILITIES, serverInfo }
      send({ jsonrpc: '2.0', id: message.id, result })
    } else if (message?.method === 'resources/subscribe') {
      send({ jsonrpc: '2.0', id: message.id, result: {} })
      setTimeout(drop, 10)
    }
    return true
  })
}
