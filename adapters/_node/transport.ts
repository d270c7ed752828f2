/**
 * Connects a session to a transport of the official SDK.
 */
import type { AuthInfo } from '../../src/index.ts'
import { createBatchAnswers } from '../../src/protocol/batch-answers.ts'
import type { Admitted } from '../../src/protocol/engine-options.ts'
import type { RpcId } from '../../src/protocol/json-rpc.ts'
import type { Reply } from '../../src/protocol/reply.ts'
import { createSession, type Session, type SessionParts } from '../../src/protocol/session.ts'
import type { StreamOwner } from '../../src/protocol/stream-expiry.ts'
import type { RequestPlatform } from '../../src/request/platform.ts'

/** What a transport passes with a message. */
interface MessageExtra {
  readonly authInfo?: AuthInfo
}

/** The members of the SDK's `Transport` that are used here; methods, since the SDK types messages differently. */
export interface SdkTransport {
  readonly sessionId?: string | undefined
  onmessage?(message: unknown, extra?: MessageExtra): void
  onclose?(): void
  onerror?(error: Error): void
  send(message: unknown, options?: { relatedRequestId?: string | number }): Promise<void>
  close(): Promise<void>
}

/** A message and its HTTP request. */
interface Delivery {
  readonly message: unknown
  readonly sender: Admitted
}

/**
 * Carries messages and their sender through a transport. A transport passes on the same `authInfo` object that it received, once for
 * each message in order. The messages themselves are only outlines there.
 */
export interface Deliveries {
  toAuthInfo(sender: Admitted, body: unknown): AuthInfo
  next(authInfo: AuthInfo | undefined): Delivery
}

export function createDeliveries(): Deliveries {
  const waiting = new WeakMap<AuthInfo, Delivery[]>()
  return {
    toAuthInfo(sender, body) {
      const authInfo = { token: '', clientId: '', scopes: [], ...sender.auth }
      const messages: unknown[] = Array.isArray(body) ? body : [body]
      const answers = createBatchAnswers()
      const deliveries = messages.map((message, index) => ({
        message,
        // Each call of a batch has an id of its own.
        sender:
          messages.length > 1
            ? { ...sender, answers, requestId: `${sender.requestId}.${index + 1}` }
            : sender,
      }))
      waiting.set(authInfo, deliveries)
      return authInfo
    },
    next(authInfo) {
      const delivery = authInfo && waiting.get(authInfo)?.shift()
      if (delivery === undefined) throw new Error('The transport did not pass on the sender of a message.')
      return delivery
    },
  }
}

/** Called by a session, for a transport that has an exchange for each request. */
export interface Endings {
  /** The answer to a request starts with this reply of the engine. */
  onBegun(id: RpcId, reply: Reply): void
  /** The client cancelled the request, which gets no answer. */
  onCancelled(id: RpcId): void
  /** The message, of any kind, is finished. */
  onSettled(message: unknown): void
}

export interface ConnectOptions {
  /** Returns the received message and its request. */
  readonly next: Deliveries['next']
  readonly endings: Endings
  readonly streamOwner: () => StreamOwner | undefined
  /** The transport answers in JSON. */
  readonly isBuffered?: boolean
}

/** Sets the transport's callbacks. */
export function connect(
  parts: SessionParts,
  transport: SdkTransport,
  platform: RequestPlatform,
  { next, endings, streamOwner, isBuffered = false }: ConnectOptions,
): Session {
  const session = createSession(parts, {
    id: () => transport.sessionId,
    platform,
    streamOwner,
    isBuffered,
    ...endings,
    send: (message, relatedTo) =>
      transport
        .send(message as never, relatedTo === undefined ? undefined : { relatedRequestId: relatedTo })
        // The client disconnected, which is not a server error.
        .catch(() => {}),
  })
  transport.onmessage = (_outline, extra = {}) => {
    const { message, sender } = next(extra.authInfo)
    void session.receive(message, sender).finally(() => endings.onSettled(message))
  }
  transport.onclose = () => session.close()
  // Also errors because of this, and because of requests that the transport refused.
  transport.onerror = () => {}
  return session
}
