/**
 * What a platform gives to one request. An adapter fills it in; everything is optional.
 */
export interface RequestPlatform {
  /** Bindings or environment variables, `ctx.env`. */
  readonly env?: unknown
  /** Keeps the invocation alive until `promise` settles. */
  readonly waitUntil?: (promise: Promise<unknown>) => void
  /** When the platform ends this call, in milliseconds since the epoch. */
  readonly deadline?: number
  /** Whether a response may be sent piece by piece. Default true. */
  readonly canStream?: boolean
  /** The listener is bound to a loopback address: only local hosts and origins are served (DNS rebinding). */
  readonly loopback?: boolean
  /** The caller's address as the platform vouches for it. */
  readonly clientAddress?: string
}
