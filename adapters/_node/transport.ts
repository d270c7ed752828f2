/**
 * Connects a session to a transport of an official SDK, v1 or v2: they have the same face.
 */
import type { AuthInfo } from '../../src/index.ts'
import { type Caller, createSession, type Session, type SessionParts } from '../../src/protocol/session.ts'
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

/** How a caller gets through a transport, which hands on the very object that it is given as `authInfo`. */
export interface Callers {
  toAuthInfo(caller: Caller): AuthInfo
  callerOf(authInfo: AuthInfo | undefined): Caller
}

export function createCallers(): Callers {
  const callers = new WeakMap<AuthInfo, Caller>()
  return {
    toAuthInfo(caller) {
      const authInfo = { token: '', clientId: '', scopes: [], ...caller.auth }
      callers.set(authInfo, caller)
      return authInfo
    },
    callerOf(authInfo) {
      const caller = authInfo && callers.get(authInfo)
      if (caller === undefined) throw new Error('The transport did not hand on who sent a message.')
      return caller
    },
  }
}

/** Sets the transport's callbacks; it is yet to be started. `callerOf` tells who sent a message. */
export function connect(
  parts: SessionParts,
  transport: SdkTransport,
  platform: RequestPlatform,
  callerOf: Callers['callerOf'],
): Session {
  const session = createSession(parts, {
    id: () => transport.sessionId,
    platform,
    send: (message, relatedTo) =>
      transport.send(message as never, relatedTo === undefined ? undefined : { relatedRequestId: relatedTo }),
  })
  transport.onmessage = (message, extra = {}) => void session.receive(message, callerOf(extra.authInfo))
  transport.onclose = () => session.close()
  // Clients that go away, and messages that are none: nothing that this server has done wrong.
  transport.onerror = () => {}
  return session
}
