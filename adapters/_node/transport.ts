/**
 * Connects a session to a transport of an official SDK, v1 or v2: they have the same face.
 */
import type { AuthInfo } from '../../src/index.ts'
import type { Admitted } from '../../src/protocol/options.ts'
import { createSession, type Session, type SessionParts } from '../../src/protocol/session.ts'
import type { RequestPlatform } from '../../src/request/platform.ts'

/** What a transport says of a message. */
interface MessageExtra {
  readonly authInfo?: AuthInfo
}

/** What is used of `Transport` of both SDKs; methods, as each types its messages in its own way. */
export interface SdkTransport {
  readonly sessionId?: string | undefined
  onmessage?(message: unknown, extra?: MessageExtra): void
  onclose?(): void
  onerror?(error: Error): void
  start(): Promise<void>
  send(message: unknown, options?: { relatedRequestId?: string | number }): Promise<void>
  close(): Promise<void>
}

/** How a sender gets through a transport, which hands on the very object that it is given as `authInfo`. */
export interface Senders {
  toAuthInfo(sender: Admitted): AuthInfo
  senderOf(authInfo: AuthInfo | undefined): Admitted
}

export function createSenders(): Senders {
  const senders = new WeakMap<AuthInfo, Admitted>()
  return {
    toAuthInfo(sender) {
      const authInfo = { token: '', clientId: '', scopes: [], ...sender.auth }
      senders.set(authInfo, sender)
      return authInfo
    },
    senderOf(authInfo) {
      const sender = authInfo && senders.get(authInfo)
      if (sender === undefined) throw new Error('The transport did not hand on who sent a message.')
      return sender
    },
  }
}

/** Sets the transport's callbacks; it is yet to be started. `senderOf` tells which request a message came in, if any. */
export function connect(
  parts: SessionParts,
  transport: SdkTransport,
  platform: RequestPlatform,
  senderOf: (authInfo: AuthInfo | undefined) => Admitted | undefined,
): Session {
  const session = createSession(parts, {
    id: () => transport.sessionId,
    platform,
    send: (message, relatedTo) =>
      transport
        .send(message as never, relatedTo === undefined ? undefined : { relatedRequestId: relatedTo })
        // Its client has gone: nothing that this server has done wrong.
        .catch(() => {}),
  })
  transport.onmessage = (message, extra = {}) => void session.receive(message, senderOf(extra.authInfo))
  transport.onclose = () => session.close()
  // The same, and messages that are none.
  transport.onerror = () => {}
  return session
}
