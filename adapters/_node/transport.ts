/**
 * Connects a session to a transport of the official SDK.
 */
import type { AuthInfo } from '../../src/index.ts'
import type { Admitted } from '../../src/protocol/engine-options.ts'
import type { RpcId } from '../../src/protocol/json-rpc.ts'
import type { Reply } from '../../src/protocol/reply.ts'
import { createSession, type Session, type SessionParts } from '../../src/protocol/session.ts'
import type { RequestPlatform } from '../../src/request/platform.ts'

/** What a transport says of a message. */
interface MessageExtra {
  readonly authInfo?: AuthInfo
}

/** What is used of the SDK's `Transport`; methods, as it types its messages in its own way. */
export interface SdkTransport {
  readonly sessionId?: string | undefined
  onmessage?(message: unknown, extra?: MessageExtra): void
  onclose?(): void
  onerror?(error: Error): void
  send(message: unknown, options?: { relatedRequestId?: string | number }): Promise<void>
  close(): Promise<void>
}

/** A message, and the HTTP request that it came in. */
interface Delivery {
  readonly message: unknown
  readonly sender: Admitted
}

/**
 * How messages and their sender get through a transport, which hands on the very object that it is given as `authInfo`, once for each
 * message in their order. What it hands on of the messages is an outline.
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
      const deliveries = messages.map((message) => ({ message, sender }))
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

/** What a transport that answers each request apart has to do at its end. */
export interface Endings {
  /** The answer to a request begins, with this reply of the engine's. */
  onBegun(id: RpcId, reply: Reply): void
  /** The client has cancelled it, and it gets no answer. */
  onCancelled(id: RpcId): void
  /** A message is done with, whatever it was. */
  onSettled(message: unknown): void
}

/** Sets the transport's callbacks. `next` tells what came, and in which request. */
export function connect(
  parts: SessionParts,
  transport: SdkTransport,
  platform: RequestPlatform,
  next: Deliveries['next'],
  endings: Endings,
): Session {
  const session = createSession(parts, {
    id: () => transport.sessionId,
    platform,
    ...endings,
    send: (message, relatedTo) =>
      transport
        .send(message as never, relatedTo === undefined ? undefined : { relatedRequestId: relatedTo })
        // Its client has gone: nothing that this server has done wrong.
        .catch(() => {}),
  })
  transport.onmessage = (_outline, extra = {}) => {
    const { message, sender } = next(extra.authInfo)
    void session.receive(message, sender).finally(() => endings.onSettled(message))
  }
  transport.onclose = () => session.close()
  // The same, and requests that it has refused.
  transport.onerror = () => {}
  return session
}
