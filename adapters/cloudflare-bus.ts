/**
 * A bus on Durable Objects, one per server: the object passes each event on to the WebSockets of its subscribers. They hibernate, so that
 * an object with idle subscribers is not in memory. Nothing is stored.
 */

import { withTimeout } from '../src/definition/timeout.ts'
import { type Names, refuseUnknown } from '../src/definition/unknown-option.ts'
import { bytesOver } from '../src/definition/utf8.ts'
import {
  type Bus,
  type ChangeEvent,
  checkEventSize,
  isChangeEvent,
  MAX_EVENT_BYTES,
} from '../src/events/bus.ts'
import { createOutage, OUTAGE_OPTIONS, type OutageOptions, toReport } from '../src/events/outage.ts'
import { createOwnedName } from './_bus/owned-name.ts'
import type { DurableObjectNamespace, SocketState, WorkerSocket } from './_cloudflare/durable-object.ts'
import { PING, PONG, subscribeBySocket } from './_cloudflare/socket-subscription.ts'

/** Globals of workerd. */
declare const WebSocketPair: new () => { readonly 0: WebSocket; readonly 1: WebSocket }
declare const WebSocketRequestResponsePair: new (request: string, response: string) => object

/** Options of `durableObjectBus`. */
export interface DurableObjectBusOptions extends OutageOptions {
  /** The object's name. Default: that of the server and its stage, such as `mayfly_news`. */
  readonly name?: string
  /** Milliseconds between pings that check a stream's connection to the object. Cloudflare answers them at no charge. Default 30 000. */
  readonly pingMs?: number
}

const OPTIONS: Names<DurableObjectBusOptions> = { name: 'string', pingMs: [0], ...OUTAGE_OPTIONS }

const NO_EVENT = 'The Durable Object sent something other than a change event.'

const OBJECT_URL = 'https://bus/'

/** Cloudflare's limit for the hibernating WebSockets of one object. */
const MAX_SUBSCRIBERS = 32_768

/**
 * The Durable Object class: export it from your Worker and bind it.
 *
 * ```toml
 * [[durable_objects.bindings]]
 * name = "CHANGES"
 * class_name = "MayflyBus"
 *
 * [[migrations]]
 * tag = "mayfly-bus-1"
 * new_sqlite_classes = ["MayflyBus"]
 * ```
 */
export class MayflyBus {
  readonly #state: SocketState

  constructor(state: SocketState) {
    this.#state = state
    state.setWebSocketAutoResponse(new WebSocketRequestResponsePair(PING, PONG))
  }

  /** A WebSocket subscribes; a `POST` publishes the event in its body. Every Worker with the binding may do both. */
  async fetch(request: Request): Promise<Response> {
    if (request.headers.get('upgrade') === 'websocket') return this.#subscribe()
    if (request.method !== 'POST') return empty(405)
    const text = await request.text()
    if (bytesOver(text, MAX_EVENT_BYTES) !== undefined) return empty(413)
    const event = parseEvent(text)
    if (event === undefined) return empty(400)
    const message = JSON.stringify(event)
    for (const socket of this.#state.getWebSockets()) send(socket, message)
    return empty(204)
  }

  /** Subscribers send only pings, which do not arrive here. */
  webSocketMessage(socket: WebSocket): void {
    socket.close(1008)
  }

  /** With a compatibility date before 2026-04-07, a closed socket is kept until it is closed on both ends. */
  webSocketClose(socket: WebSocket): void {
    socket.close(1000)
  }

  #subscribe(): Response {
    if (this.#state.getWebSockets().length >= MAX_SUBSCRIBERS) return empty(503)
    const { 0: theirs, 1: ours } = new WebSocketPair()
    this.#state.acceptWebSocket(ours)
    const init: ResponseInit & { webSocket: WebSocket } = { status: 101, webSocket: theirs }
    return new Response(null, init)
  }
}

/**
 * Creates a bus from the binding of `MayflyBus`. A subscription ends with its request. If it loses its connection, this is reported and a
 * new one is opened; then the listener gets the event `gap`. While the object fails, publishing and subscribing reject, within `timeoutMs`.
 *
 * @throws TypeError without a binding.
 *
 * ```ts
 * bus: durableObjectBus(env.CHANGES)
 * ```
 */
export function durableObjectBus(
  namespace: DurableObjectNamespace,
  options: DurableObjectBusOptions = {},
): Bus {
  if (typeof namespace?.idFromName !== 'function') {
    throw new TypeError(
      'durableObjectBus needs the binding of a Durable Object: bind MayflyBus in the wrangler configuration, as in docs/events.md',
    )
  }
  refuseUnknown('durableObjectBus', options, OPTIONS)
  const { pingMs = 30_000, timeoutMs = 2000 } = options
  const name = createOwnedName('durableObjectBus', 'name', options.name)
  const report = toReport(options, 'Change notifications')
  const outage = createOutage(report)
  const foreign = createOutage(report)

  const ask = async (init: RequestInit): Promise<Response> => {
    const over = new AbortController()
    const id = namespace.idFromName(name.get())
    try {
      const object = namespace.get(id as never)
      const asked = object.fetch(OBJECT_URL, { ...init, signal: over.signal })
      const response = await withTimeout(asked, timeoutMs, 'Durable Object')
      if (!response.ok && response.status !== 101) {
        await response.body?.cancel()
        throw new Error(`The Durable Object answered ${response.status}.`)
      }
      return response
    } catch (error) {
      over.abort()
      outage.begin(error)
      throw error
    }
  }
  return {
    isRequestBound: true,
    attach: name.attach,
    async publish(event) {
      await ask({ method: 'POST', body: checkEventSize(event) })
      outage.end()
    },
    subscribe: (listener) =>
      subscribeBySocket({
        connect: async () => toSocket(await ask({ headers: { upgrade: 'websocket' } })),
        onMessage: (data) => {
          const event = parseEvent(data)
          if (event === undefined) return foreign.begin(new TypeError(NO_EVENT))
          foreign.end()
          listener(event)
        },
        // Not when it connects: an object that drops each connection immediately is still down.
        onAlive: outage.end,
        onLost: outage.begin,
        onBack: () => listener({ type: 'gap' }),
        pingMs,
      }),
  }
}

function empty(status: number): Response {
  return new Response(null, { status })
}

function parseEvent(data: unknown): ChangeEvent | undefined {
  try {
    const event: unknown = JSON.parse(String(data))
    return isChangeEvent(event) ? event : undefined
  } catch {
    return undefined
  }
}

function send(socket: WebSocket, message: string): void {
  try {
    socket.send(message)
  } catch {
    // It is closing: the others are still told.
  }
}

function toSocket(response: Response): WorkerSocket {
  const { webSocket } = response as Response & { readonly webSocket?: WorkerSocket | null }
  if (webSocket) return webSocket
  throw new TypeError('The Durable Object did not open a WebSocket: bind the class MayflyBus.')
}
