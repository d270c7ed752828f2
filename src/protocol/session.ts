/**
 * A persistent connection on any transport. Its messages pass through the engine one by one, as if each were sent alone, and the replies go
 * back over the connection. Stores what a stateless request cannot (`ClientSession`).
 */
import type { Definition } from '../definition/compile.ts'
import { ErrorCode } from '../definition/protocol-error.ts'
import type { Feed } from '../events/feed.ts'
import { subscribePersistently } from '../events/persistent-subscription.ts'
import { createMemoryRendezvous } from '../interaction/rendezvous.ts'
import type { ClientSession, RequestPlatform } from '../request/platform.ts'
import { createChanges } from './changes.ts'
import type { Body, Engine } from './engine.ts'
import type { Admitted } from './engine-options.ts'
import { errorMessage, type RpcId } from './json-rpc.ts'
import { isEventStream, readEvents } from './read-events.ts'
import { readMessage } from './read-message.ts'
import { isBuffered, type Reply, textOf } from './reply.ts'
import { changeSubscribed } from './session-subscriptions.ts'
import type { StreamOwner } from './stream-expiry.ts'
import { turnOf } from './turns.ts'

export interface SessionOptions {
  /** Returns the session's id, which is known only after `initialize`. Default: the connection itself is the session. */
  readonly id?: () => string | undefined
  /**
   * Sends a JSON-RPC message over the connection. `relatedTo` is the request that it belongs to; undefined if there is none. Errors
   * are reported.
   */
  readonly send: (message: { readonly [name: string]: unknown }, relatedTo: RpcId | undefined) => unknown
  /** Called when the answer to a request begins, with the engine's reply; its body has not been read yet. */
  readonly onBegun?: (id: RpcId, reply: Reply) => void
  /** Called for a request that its client cancelled and that gets no answer, so that the transport can clean up. */
  readonly onCancelled?: (id: RpcId) => void
  /**
   * The caller that opened the stream for changes; undefined without a stream. Default: the user of the process, who may get all changes.
   */
  readonly streamOwner?: () => StreamOwner | undefined
  /** Whether the transport sends nothing before an answer is complete, so that a call can neither notify nor ask. Default false. */
  readonly isBuffered?: boolean
  readonly platform: RequestPlatform
}

export interface Session {
  readonly client: ClientSession
  /**
   * Receives a message from the client. `sender` is its HTTP request; undefined on stdio, where the user who runs the process
   * is trusted. Resolves when the message is answered. Never rejects.
   */
  receive(message: unknown, sender: Admitted | undefined): Promise<void>
  /** The same for a message or a batch as text, on stdio. Text that is neither is answered with an error. */
  receiveText(text: string): Promise<void>
  /** Resolves when nothing is running. */
  settled(): Promise<void>
  /** Aborts what is running and stops delivering changes. */
  close(): void
}

/** The parts of a session besides its transport. */
export interface SessionParts {
  readonly engine: Engine
  readonly join: Feed['join']
  readonly definition: Definition
  readonly onFault: (error: unknown) => void
}

const NOWHERE = 'http://localhost/'

/** The answer to a request whose own answer was cut off. */
const UNSENT = { code: ErrorCode.internal, message: 'Internal error' }

/** On stdio. */
const USER: StreamOwner = { auth: undefined, access: undefined }

export function createSession(
  { engine, join, definition, onFault }: SessionParts,
  {
    id = () => undefined,
    send,
    onBegun,
    onCancelled,
    streamOwner = () => USER,
    isBuffered: isWhole = false,
    platform,
  }: SessionOptions,
): Session {
  const running = new Set<AbortController>()
  /** Running requests, by id, for cancellation. */
  const requests = new Map<RpcId, AbortController>()
  const receiving = new Set<Promise<void>>()
  const subscribed = new Set<string>()
  const client: ClientSession = {
    get id() {
      return id()
    },
    declared: undefined,
    logLevel: undefined,
    subscriptions: {
      change: (method, uri, caller) =>
        changeSubscribed(subscribed, definition.resources, { method, uri, caller }),
    },
    rendezvous: createMemoryRendezvous(),
  }

  // Changes are sent one after another, even if the transport is slow.
  let sent = Promise.resolve()
  const put = (text: string, relatedTo: RpcId | undefined): Promise<void> => {
    sent = sent.then(() => send(JSON.parse(text), relatedTo) as Promise<void>).catch(onFault)
    return sent
  }

  const changes = createChanges({
    client,
    subscribed,
    definition,
    streamOwner,
    put: (text) => put(text, undefined),
    turn: turnOf(engine),
  })
  const stopListening = subscribePersistently(join, changes.receive)

  /** Relays the engine's messages in order. */
  const answer = async (body: Body, sender: Admitted | undefined): Promise<void> => {
    const message = 'value' in body ? readMessage(body.value) : undefined
    const relatedTo = message?.kind === 'request' || message?.kind === 'invalid' ? message.id : undefined
    const isAnswered = message?.kind !== 'notification' && message?.kind !== 'response'

    const over = new AbortController()
    running.add(over)
    // If an id is used twice, the later request can be cancelled.
    if (relatedTo !== undefined) requests.set(relatedTo, over)
    try {
      const reply = await engine.serve(body, toAdmitted(sender, over.signal))
      if (relatedTo !== undefined) onBegun?.(relatedTo, reply)
      if (!isAnswered) await discard(reply)
      else {
        // One after another: messages that a slow transport has not sent count as unread, and the stream's limit applies.
        await relay(reply, async (text) => {
          if (!over.signal.aborted) await put(text, relatedTo)
        })
      }
    } catch (error) {
      // The stream of a cancelled call is closed, which is not an error.
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

  const toAdmitted = (sender: Admitted | undefined, signal: AbortSignal): Admitted => {
    const request = toRequest(sender?.request, client.declared?.protocolVersion, signal)
    return {
      request,
      sent: request.headers,
      platform: { ...(sender?.platform ?? platform), session: client, ...(isWhole && { canStream: false }) },
      requestId: sender?.requestId ?? crypto.randomUUID(),
      startedAt: Date.now(),
      headers: {},
      auth: sender?.auth,
      access: sender?.access,
      isHttp: sender !== undefined,
      counted: sender?.counted ?? { messages: 0 },
      ...(sender?.answers && { answers: sender.answers }),
      waitUntil: sender?.waitUntil ?? ((promise) => void Promise.resolve(promise).catch(onFault)),
    }
  }

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
        // The engine answers with the parse error.
        return track({ text }, undefined)
      }
      return receive(value, undefined)
    },
    async settled() {
      while (receiving.size > 0) await Promise.allSettled(receiving)
    },
    close() {
      stopListening()
      changes.stop()
      for (const call of running) call.abort()
    },
  }
}

async function discard(reply: Reply): Promise<void> {
  if (!isBuffered(reply)) await reply.body?.cancel()
}

async function relay(reply: Reply, put: (text: string) => Promise<void>): Promise<void> {
  if (!isBuffered(reply) && isEventStream(reply) && reply.body !== null) return readEvents(reply.body, put)
  const text = await textOf(reply)
  if (text !== '') await put(text)
}

/** The request for `setup` and tools; the message is passed separately. */
function toRequest(
  origin: Request | undefined,
  negotiated: string | undefined,
  signal: AbortSignal,
): Request {
  const headers = new Headers(origin?.headers)
  // stdio has no headers; this one says whether the version has batches.
  if (origin === undefined && negotiated !== undefined) headers.set('mcp-protocol-version', negotiated)
  headers.set('accept', 'application/json, text/event-stream')
  for (const name of ['mcp-session-id', 'content-length', 'transfer-encoding']) headers.delete(name)
  return new Request(origin?.url ?? NOWHERE, { method: 'POST', headers, signal })
}
