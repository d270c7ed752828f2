/**
 * One connection that lasts, on whatever transport: its messages go through the engine one by one, as if each had come alone, and
 * what the engine answers goes back over the connection. Remembers what a stateless request cannot (`ClientSession`).
 */
import type { AuthInfo } from '../definition/context.ts'
import { ErrorCode } from '../definition/protocol-error.ts'
import type { ChangeEvent } from '../events/bus.ts'
import { toNotification } from '../events/subscription.ts'
import { createMemoryRendezvous } from '../interaction/rendezvous.ts'
import type { Access } from '../request/access.ts'
import type { ClientSession, RequestPlatform } from '../request/platform.ts'
import type { Engine } from './engine.ts'
import { errorMessage, type RpcId, readMessage } from './json-rpc.ts'
import type { RequestFacts, RequestRecord } from './options.ts'
import { isEventStream, readEvents } from './read-events.ts'

/** Who sent a message. */
export interface Caller {
  readonly auth: AuthInfo | undefined
  readonly access: Access | undefined
  /** The HTTP request it came in, where there was one; its body is not read. */
  readonly request?: Request
}

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
  /** Takes a message from the client. Resolves when it is answered. Never rejects. */
  receive(message: unknown, caller: Caller): Promise<void>
  /** Resolves when nothing is running. */
  settled(): Promise<void>
  /** Aborts what is running and hears no more changes. */
  close(): void
}

/** What a session is made of besides its transport. */
export interface SessionParts {
  readonly engine: Engine
  readonly onChange: (listener: (event: ChangeEvent) => void) => () => void
  readonly onServed: (record: RequestRecord, facts: RequestFacts, caller: Caller, startedAt: number) => void
  readonly onFault: (error: unknown) => void
  /** Takes a call on, among those that run at once; or says why not. */
  readonly enter: () => { readonly leave: () => void } | { readonly message: string }
}

const NOWHERE = 'http://localhost/'

export function createSession(
  { engine, onChange, onServed, onFault, enter }: SessionParts,
  { id = () => undefined, send, platform }: SessionOptions,
): Session {
  const running = new Map<RpcId, AbortController>()
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
  const answer = async (body: string, relatedTo: RpcId | undefined, caller: Caller): Promise<void> => {
    const entered = relatedTo === undefined ? undefined : enter()
    if (entered !== undefined && !('leave' in entered)) {
      const { message } = entered
      return put(errorMessage(relatedTo, { code: ErrorCode.internal, message }), relatedTo)
    }
    const over = new AbortController()
    // The same id twice: the later one can be cancelled.
    if (relatedTo !== undefined) running.set(relatedTo, over)
    const startedAt = Date.now()
    const record: RequestRecord = {}
    const facts: RequestFacts = {}
    try {
      const response = await engine({
        request: toRequest(caller.request, over.signal),
        body,
        platform: { ...platform, session: client },
        requestId: crypto.randomUUID(),
        auth: caller.auth,
        access: caller.access,
        headers: {},
        record,
        facts,
        startedAt,
        waitUntil: (promise) => platform.waitUntil?.(promise.catch(onFault)),
        onStreamEnd: () => {},
      })
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
      if (relatedTo !== undefined && running.get(relatedTo) === over) running.delete(relatedTo)
      entered?.leave()
      onServed(record, facts, caller, startedAt)
    }
  }

  return {
    client,
    receive(value, caller) {
      const message = readMessage(value)
      if (message.kind === 'notification' && message.method === 'notifications/cancelled') {
        running.get(message.params.requestId as RpcId)?.abort()
        return Promise.resolve()
      }
      const relatedTo = 'id' in message && message.kind !== 'response' ? message.id : undefined
      const answered = answer(JSON.stringify(value), relatedTo, caller)
      receiving.add(answered)
      return answered.finally(() => receiving.delete(answered))
    },
    async settled() {
      while (receiving.size > 0) await Promise.allSettled(receiving)
    },
    close() {
      stopListening()
      for (const call of running.values()) call.abort()
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
