/**
 * A server whose bus is a Durable Object that counts what reaches it, and objects that are broken. Besides `/mcp`, it answers what the
 * object has seen, and what a publisher and a subscriber of any object get.
 */
import type { DurableObjectNamespace, SocketState } from '../../../../adapters/_cloudflare/durable-object.ts'
import { durableObjectBus, MayflyBus } from '../../../../adapters/cloudflare-bus.ts'
import type { ChangeEvent } from '../../../../src/index.ts'
import { createTool, MCPServer } from '../../../../src/index.ts'

const HOUR_MS = 3_600_000
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

interface ObjectState extends SocketState {
  abort(reason: string): void
  getWebSocketAutoResponseTimestamp(socket: WebSocket): Date | null
}

/** Of the isolate, which outlives its objects. */
const seen = { constructed: 0, fetch: 0, message: 0, close: 0, alarm: 0 }

/** Counts everything that is billed. */
export class Counting extends MayflyBus {
  readonly #state: ObjectState

  constructor(state: ObjectState) {
    super(state)
    this.#state = state
    seen.constructed++
  }

  override async fetch(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url)
    if (pathname === '/abort') this.#state.abort('as after a new deployment')
    if (pathname === '/sockets') {
      const sockets = this.#state.getWebSockets()
      const answered = sockets.map((socket) => this.#state.getWebSocketAutoResponseTimestamp(socket))
      return Response.json({ count: sockets.length, answered })
    }
    seen.fetch++
    return super.fetch(request)
  }

  override webSocketMessage(socket: WebSocket): void {
    seen.message++
    super.webSocketMessage(socket)
  }

  override webSocketClose(socket: WebSocket): void {
    seen.close++
    super.webSocketClose(socket)
  }

  alarm(): void {
    seen.alarm++
  }
}

/** As an object whose code throws, or whose class is another. */
export class Throwing {
  fetch(): Response {
    throw new Error('broken')
  }
}

export class Other {
  fetch(): Response {
    return new Response('another class')
  }
}

/** Never answers. */
export class Silent {
  async fetch(): Promise<Response> {
    await pause(HOUR_MS)
    return new Response('late')
  }
}

/** Its state is at hand for the classes below. */
class Broken extends MayflyBus {
  readonly state: SocketState

  constructor(state: SocketState) {
    super(state)
    this.state = state
  }
}

/** Answers later than its callers wait. */
export class Slow extends Broken {
  override async fetch(request: Request): Promise<Response> {
    if (new URL(request.url).pathname === '/sockets')
      return Response.json({ count: this.state.getWebSockets().length })
    await pause(1000)
    return super.fetch(request)
  }
}

/** Answers no ping, as a connection that is half open. */
export class Deaf extends Broken {
  constructor(state: SocketState) {
    super({
      acceptWebSocket: (socket) => state.acceptWebSocket(socket),
      getWebSockets: () => state.getWebSockets(),
      setWebSocketAutoResponse: () => {},
    })
  }

  override webSocketMessage(): void {}
}

/** Sends what is no event. */
export class Babbling extends Broken {
  override async fetch(request: Request): Promise<Response> {
    const response = await super.fetch(request)
    for (const socket of this.state.getWebSockets()) socket.send('not { json')
    return response
  }
}

/** Closes each connection at once. */
export class Closing extends Broken {
  override async fetch(request: Request): Promise<Response> {
    const response = await super.fetch(request)
    for (const socket of this.state.getWebSockets()) socket.close(1012)
    return response
  }
}

interface Env {
  readonly [object: string]: DurableObjectNamespace
}

const NAME = 'news'
const reports: string[] = []
let server: MCPServer | undefined

/** On the first request: modules have no bindings here. */
function createServer(env: Env): MCPServer {
  const bus = durableObjectBus(env.Counting!, {
    name: NAME,
    pingMs: 25,
    onError: (error) => reports.push(String(error)),
  })
  const created: MCPServer = new MCPServer({
    id: NAME,
    name: 'News',
    version: '1.0.0',
    bus,
    log: false,
    // This workerd notices that a client is gone when it writes to it.
    http: { keepAliveMs: 200 },
    resources: [{ uri: 'note://today', read: () => 'Nothing happened' }],
    tools: {
      touch: createTool({
        id: 'touch',
        description: 'Publishes two changes',
        execute: async () => {
          await created.resources.notifyUpdated({ uri: 'note://today' })
          await created.tools.notifyListChanged()
          return 'published'
        },
      }),
    },
  })
  return created
}

/** What a subscriber hears of events that are published at once. */
async function hearBurst(events: number, env: Env): Promise<readonly number[]> {
  const bus = durableObjectBus(env.Counting!, { name: 'burst', timeoutMs: 30_000 })
  const heard: number[] = []
  const leave = await bus.subscribe((event) => void ('uri' in event && heard.push(Number(event.uri))))
  const all = Array.from({ length: events }, (_, index) => index)
  await Promise.all(all.map((index) => bus.publish({ type: 'resourceUpdated', uri: String(index) })))
  for (let turn = 0; turn < 100 && heard.length < events; turn++) await pause(100)
  leave()
  return heard
}

/** What one caller of an object gets within `forMs` milliseconds. */
async function callObject(url: URL, env: Env): Promise<object> {
  const heard: ChangeEvent[] = []
  const errors: string[] = []
  const options = {
    name: 'any',
    timeoutMs: 300,
    pingMs: 50,
    onError: (error: unknown) => errors.push(String(error)),
  }
  const bus = durableObjectBus(env[url.searchParams.get('object')!]!, options)
  const startedAt = Date.now()
  try {
    if (url.pathname === '/publish') await bus.publish({ type: 'toolsListChanged' })
    else {
      const leave = await bus.subscribe((event) => heard.push(event))
      await pause(Number(url.searchParams.get('forMs')))
      leave()
    }
    return { heard, errors }
  } catch (error) {
    return { rejected: String(error), errors, ms: Date.now() - startedAt }
  }
}

export default {
  async fetch(request: Request, env: Env, context: object): Promise<Response> {
    const url = new URL(request.url)
    const objectOf = (object: string, name: string) =>
      env[object]!.get(env[object]!.idFromName(name) as never)
    switch (url.pathname) {
      case '/seen':
        return Response.json({ ...seen, reports })
      case '/sockets':
      case '/abort':
        return objectOf('Counting', NAME).fetch(request.url)
      case '/slow':
        return objectOf('Slow', 'any').fetch('https://bus/sockets')
      case '/raw':
        return objectOf('Counting', NAME).fetch('https://bus/', {
          method: request.method,
          body: await request.text(),
        })
      case '/burst':
        return Response.json(await hearBurst(Number(url.searchParams.get('events')), env))
      case '/publish':
      case '/subscribe':
        return Response.json(await callObject(url, env))
      default:
        server ??= createServer(env)
        return server.fetch(request, env, context)
    }
  },
}
