/**
 * One connection that lasts, on whatever transport: its messages go through the engine one by one, as if each had come alone, and
 * what the engine answers goes back over the connection. Remembers what a stateless request cannot (`ClientSession`).
 */
import type { ChangeEvent } from '../events/bus.ts'
import { toNotification } from '../events/subscription.ts'
import { createMemoryRendezvous } from '../interaction/rendezvous.ts'
import type { ClientSession, RequestPlatform } from '../request/platform.ts'
import type { Engine } from './engine.ts'
import { type RpcId, readMessage } from './json-rpc.ts'
import type { Admitted } from './options.ts'
import { isEventStream, readEvents } from './read-events.ts'

export interface SessionOptions {
  /** Asked when it is needed: transports know it once `initialize` has come. Default: the connection itself is the session. */
  readonly id?: () => string | undefined
  /**
   * Puts a JSON-RPC message on the connection. `relatedTo` is the request that it belongs to; undefined: to none. What it throws is
   * reported.
   */
  readonly send: (message: { readonly [name: string]: unknown }, relatedTo: RpcId | undefined) => unknown
  readonly platform: RequestPlatform
}

export interface Session {
  readonly client: ClientSession
  /**
   * Takes a message from the client. `sender` is the HTTP request that it came in; undefined on stdio, where whoever runs the process
   * is trusted. Resolves when it is answered. Never rejects.
   */
  receive(message: unknown, sender: Admitted | undefined): Promise<void>
  /** Resolves when nothing is running. */
  settled(): Promise<void>
  /** Aborts what is running and hears no more changes. */
  close(): void
}

/** What a session is made of besides its transport. */
export interface SessionParts {
  readonly engine: Engine
  readonly onChange: (listener: (event: ChangeEvent) => void) => () => void
  readonly onFault: (error: unknown) => void
}

const NOWHERE = 'http://localhost/'

export function createSession(
  { engine, onChange, onFault }: SessionParts,
  { id = () => undefined, send, platform }: SessionOptions,
): Session {
  const running = new Set<AbortController>()
  /** What can be cancelled. */
  const requests = new Map<RpcId, AbortController>()
  const receiving = new Set<Promise<void>>()
  const client: ClientSession = {
    get id() {
      return id()
    },
    declared: undefined,
    logLevel: undefined,
    subscribed: new Set(),
    rendezvous: createMemoryRendezvous(),
  }

  // One after another, however long the transport takes for each.
  let sent = Promise.resolve()
  const put = (text: string, relatedTo: RpcId | undefined): Promise<void> => {
    sent = sent.then(() => send(JSON.parse(text), relatedTo) as Promise<void>).catch(onFault)
    return sent
  }

  const stopListening = onChange((event) => {
    // Modern clients listen by a request.
    if (client.declared === undefined) return
    if (event.type === 'resourceUpdated' && !client.subscribed.has(event.uri)) return
    void put(JSON.stringify({ jsonrpc: '2.0', ...toNotification(event) }), undefined)
  })

  /** What the engine answers, in the order in which it does. */
  const answer = async (
    value: unknown,
    relatedTo: RpcId | undefined,
    sender: Admitted | undefined,
  ): Promise<void> => {
    const over = new AbortController()
    running.add(over)
    // The same id twice: the later one can be cancelled.
    if (relatedTo !== undefined) requests.set(relatedTo, over)
    try {
      const response = await engine.serve({ value }, toAdmitted(sender, over.signal))
      if (relatedTo === undefined) await response.body?.cancel()
      else {
        await relay(response, (text) => {
          if (!over.signal.aborted) void put(text, relatedTo)
        })
        await sent
      }
    } catch (error) {
      // A stream breaks when its call is cancelled.
      if (!over.signal.aborted) onFault(error)
    } finally {
      running.delete(over)
      if (relatedTo !== undefined && requests.get(relatedTo) === over) requests.delete(relatedTo)
    }
  }

  const toAdmitted = (sender: Admitted | undefined, signal: AbortSignal): Admitted => ({
    request: toRequest(sender?.request, signal),
    platform: { ...(sender?.platform ?? platform), session: client },
    requestId: sender?.requestId ?? crypto.randomUUID(),
    startedAt: Date.now(),
    headers: {},
    auth: sender?.auth,
    access: sender?.access,
    isHttp: sender !== undefined,
    counted: sender?.counted ?? { messages: 0 },
    waitUntil: sender?.waitUntil ?? ((promise) => void Promise.resolve(promise).catch(onFault)),
  })

  return {
    client,
    receive(value, sender) {
      const message = readMessage(value)
      if (message.kind === 'notification' && message.method === 'notifications/cancelled')
        requests.get(message.params.requestId as RpcId)?.abort()
      const relatedTo = 'id' in message && message.kind !== 'response' ? message.id : undefined
      const answered = answer(value, relatedTo, sender)
      receiving.add(answered)
      return answered.finally(() => receiving.delete(answered))
    },
    async settled() {
      while (receiving.size > 0) await Promise.allSettled(receiving)
    },
    close() {
      stopListening()
      for (const call of running) call.abort()
    },
  }
}

async function relay(response: Response, put: (text: string) => void): Promise<void> {
  if (isEventStream(response) && response.body !== null) return readEvents(response.body, put)
  const text = await response.text()
  if (text !== '') put(text)
}

/** What `setup` and tools see of a request; the message itself is beside it. */
function toRequest(origin: Request | undefined, signal: AbortSignal): Request {
  const headers = new Headers(origin?.headers)
  headers.set('accept', 'application/json, text/event-stream')
  for (const name of ['mcp-session-id', 'content-length', 'transfer-encoding']) headers.delete(name)
  return new Request(origin?.url ?? NOWHERE, { method: 'POST', headers, signal })
}
