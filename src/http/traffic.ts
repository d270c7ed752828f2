/**
 * How much a server takes on: calls of one caller in a time, and calls at once.
 */
import type { AuthInfo } from '../definition/context.ts'
import type { ReportError } from '../request/options.ts'
import type { RateLimiter } from './rate-limit.ts'

export interface TrafficOptions {
  /** Undefined: callers are not counted. */
  readonly rateLimiterFor: (env: unknown) => RateLimiter | undefined
  /** Calls at once in this process or isolate, streams included. */
  readonly maxConcurrentCalls: number
  readonly reportError: ReportError
}

/** An answer to a call that is not taken on. */
export interface TrafficRefusal {
  readonly status: 429 | 503
  readonly message: string
  readonly retryAfterSeconds: number
}

export interface Traffic {
  /** Counts one call. A limiter that fails lets it in: it is there to protect the server, not to end it. */
  count(caller: string, env: unknown): Promise<TrafficRefusal | undefined>
  /** Takes one call on; what is returned is called once, when it is over. */
  enter(): { readonly leave: () => void } | TrafficRefusal
}

export function createTraffic({ rateLimiterFor, maxConcurrentCalls, reportError }: TrafficOptions): Traffic {
  let running = 0
  return {
    async count(caller, env) {
      try {
        const verdict = await rateLimiterFor(env)?.limit(caller)
        if (verdict === undefined || verdict.ok) return undefined
        const { retryAfterSeconds } = verdict
        return { status: 429, message: 'Too many requests: slow down.', retryAfterSeconds }
      } catch (error) {
        reportError(error, { rateLimiter: true })
        return undefined
      }
    },
    enter() {
      if (running >= maxConcurrentCalls) {
        const message = 'This server is busy with as many calls as it takes on at once: try again.'
        return { status: 503, message, retryAfterSeconds: 1 }
      }
      running++
      let isOver = false
      const leave = (): void => {
        if (!isOver) running--
        isOver = true
      }
      return { leave }
    },
  }
}

/** Whom calls are counted for: the principal, else the address, else everybody who cannot be told apart. */
export function callerKey(auth: AuthInfo | undefined, address: string | undefined): string {
  if (auth !== undefined) return `principal ${JSON.stringify([auth.clientId, String(auth.extra?.sub ?? '')])}`
  return address === undefined ? 'anonymous' : `address ${address}`
}
