/** Reads `req.auth`: the caller, as identified by the host's middleware. */
import { toCaller, unknownCaller } from '../../src/auth/host-caller.ts'
import type { Caller } from '../../src/request/access.ts'

const UNREADABLE =
  'req.auth is not clearly one caller, so it has no name and no scopes: set { token, clientId, scopes } or the claims of a JWT.'

/** By the prototype of requests, which each Express app creates for itself. */
const reported = new WeakSet<object>()

/**
 * Undefined unless the host's code has set `auth` on the request object; a client's input cannot set it. A value that is not clearly an
 * identity becomes an unknown caller without scopes, which is reported once per app.
 */
export async function hostCaller(
  incoming: object,
  report: (message: string) => void,
): Promise<Caller | undefined> {
  if (!Object.hasOwn(incoming, 'auth')) return undefined
  const said: unknown = Reflect.get(incoming, 'auth')
  try {
    return await toCaller(said)
  } catch {
    const app: object = Object.getPrototypeOf(incoming) ?? incoming
    if (!reported.has(app)) report(UNREADABLE)
    reported.add(app)
    return unknownCaller(said)
  }
}
