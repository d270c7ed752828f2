/** `req.auth`: who the caller is, as middleware of the host has found out. */
import { toCaller, unknownCaller } from '../../src/auth/host-caller.ts'
import type { Caller } from '../../src/request/access.ts'

const UNREADABLE =
  'req.auth names no client and no subject, so its caller has no name and no scopes here: set { token, clientId, scopes } or the claims of a JWT.'

/** By the prototype of requests, which each Express app makes for itself. */
const reported = new WeakSet<object>()

/**
 * Undefined where the host's code has set nothing on this very request: nothing that a client sends becomes a property of it. What
 * is not clearly an identity is ignored, and reported once an app.
 */
export async function hostCaller(
  incoming: object,
  report: (message: string) => void,
): Promise<Caller | undefined> {
  if (!Object.hasOwn(incoming, 'auth')) return undefined
  try {
    return await toCaller(Reflect.get(incoming, 'auth'))
  } catch {
    const app: object = Object.getPrototypeOf(incoming) ?? incoming
    if (!reported.has(app)) report(UNREADABLE)
    reported.add(app)
    return unknownCaller()
  }
}
