/**
 * One connection that lasts, on whatever transport: its messages go through the engine one by one, as if each had come alone, and
 * what the engine answers goes back over the connection. Remembers what a stateless request cannot (`ClientSession`).
 */
import { ErrorCode } from '../definition/protocol-error.ts'
import type { ChangeEvent } from '../events/bus.ts'
import { toNotification } from '../events/subscription.ts'
import { createMemoryRendezvous } from '../interaction/rendezvous.ts'
import type { ClientSession, RequestPlatform } from '../request/platform.ts'
import type { Body, Engine } from './engine.ts'
import type { Admitted } from './engine-options.ts'
import { errorMessage, type RpcId, readMessage } from './json-rpc.ts'
import { isEventStream, readEvents } from './read-events.ts'
import { isWhole, type Reply, textOf } from './reply.ts'

export interface SessionOptions {
  /** Asked when it is needed: transports know it once `initialize` has come. Default: the connection itself is the session. */
  readonly id?: () => string | undefined
  /**
   * Puts a JSON-RPC message on the connection. `relatedTo` is the request that it belongs to; undefined: to none. What it throws is
   * reported.
   */
  readonly send: (message: { readonly [name: string]: unknown }, relatedTo: RpcId | undefined) => unknown
  /** Called when the answer to a request begins, with the engine's reply, whose body is not read yet. */
  readonly onBegun?: (id: RpcId, reply: Reply) => void
  /** Called for a request that gets no answer, as its client has cancelled it: a transport may have more to end. */
  readonly onCancelled?: (id: RpcId) => void
  readonly platform: RequestPlatform
}

export interface Session {
  readonly client: ClientSession
  /**
   * Takes a message from the client. `sender` is the HTTP request that it came in; undefined on stdio, where the user who runs the process
   * is trusted. Resolves when it is answered. Never rejects.
   */
  receive(message: unknown, sender: Admitted | undefined): Promise<void>
  /** The same for a message or a batch as text, of stdio. What is neither is answered, too. */
  receiveText(text: string): Promise<void>
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

/** The answer to a request whose own was cut off. */
const UNSENT = { code: ErrorCode.internal, message: 'Internal error' }

/** More changes than this waiting for a slow transport are not told. */
const MAX_WAITING_CHANGES = 1000

export function createSession(
  { engine, onChange, onFault }: SessionParts,
  { id = () => undefined, send, onBegun, onCancelled, platform }: SessionOptions,
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

  let waitingChanges = 0
  const stopListening = onChange((event) => {
    // Modern clients listen by a request.
    if (client.declared === undefined) return
    if (event.type === 'resourceUpdated' && !client.subscribed.has(event.uri)) return
    if (waitingChanges >= MAX_WAITING_CHANGES) return
    waitingChanges++
    const told = put(JSON.stringify({ jsonrpc: '2.0', ...toNotification(event) }), undefined)
    void told.finally(() => waitingChanges--)
  })

  /** What the engine answers, in the order in which it does. */
  const answer = async (body: Body, sender: Admitted | undefined): Promise<void> => {
    const message = 'value' in body ? readMessage(body.value) : undefined
    const relatedTo = message?.kind === 'request' || message?.kind === 'invalid' ? message.id : undefined
    const isAnswered = message?.kind !== 'notification' && message?.kind !== 'response'

    const over = new AbortController()
    running.add(over)
    // The same id twice: the later one can be cancelled.
    if (relatedTo !== undefined) requests.set(relatedTo, over)
    try {
      const reply = await engine.serve(body, toAdmitted(sender, over.signal))
      if (relatedTo !== undefined) onBegun?.(relatedTo, reply)
      if (!isAnswered) await discard(reply)
      else {
        // One after another: what a slow transport has not taken yet counts as unread, and is limited where it is made.
        await relay(reply, async (text) => {
          if (!over.signal.aborted) await put(text, relatedTo)
        })
      }
    } catch (error) {
      // A stream breaks when its call is cancelled.
      if (!over.signal.aborted) {
        onFault(error)
        if (relatedTo !== undefined) await put(errorMessage(relatedTo, UNSENT), relatedTo)
      }
    } finally {
      running.delete(over)
      if (relatedTo !== undefined) {
        if (requests.get(relatedTo) === over) requests.delete(relatedTo)
        if (over.signal.aborted) onCancelled?.(relatedTo)
      }
    }
  }

  const toAdmitted = (sender: Admitted | undefined, signal: AbortSignal): Admitted => ({
    request: toRequest(sender?.request, client.declared?.protocolVersion, signal),
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

  const track = (body: Body, sender: Admitted | undefined): Promise<void> => {
    const answered = answer(body, sender)
    receiving.add(answered)
    return answered.finally(() => receiving.delete(answered))
  }

  const receive: Session['receive'] = (value, sender) => {
    const message = readMessage(value)
    if (message.kind === 'notification' && message.method === 'notifications/cancelled')
      requests.get(message.params.requestId as RpcId)?.abort()
    return track({ value }, sender)
  }

  return {
    client,
    receive,
    receiveText(text) {
      let value: unknown
      try {
        value = JSON.parse(text)
      } catch {
        // The engine says so.
        return track({ text }, undefined)
      }
      return receive(value, undefined)
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

async function discard(reply: Reply): Promise<void> {
  if (!isWhole(reply)) await reply.body?.cancel()
}

async function relay(reply: Reply, put: (text: string) => Promise<void>): Promise<void> {
  if (!isWhole(reply) && isEventStream(reply) && reply.body !== null) return readEvents(reply.body, put)
  const text = await textOf(reply)
  if (text !== '') await put(text)
}

/** What `setup` and tools see of a request; the message itself is beside it. */
function toRequest(
  origin: Request | undefined,
  negotiated: string | undefined,
  signal: AbortSignal,
): Request {
  const headers = new Headers(origin?.headers)
  // Where there are no headers, it tells whether batches exist.
  if (origin === undefined && negotiated !== undefined) headers.set('mcp-protocol-version', negotiated)
  headers.set('accept', 'application/json, text/event-stream')
  for (const name of ['mcp-session-id', 'content-length', 'transfer-encoding']) headers.delete(name)
  return new Request(origin?.url ?? NOWHERE, { method: 'POST', headers, signal })
}
