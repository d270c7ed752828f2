/**
 * Load limits: calls of one caller per time, and concurrent calls.
 */
import type { AuthInfo } from '../definition/context.ts'
import type { Leave, Refusal } from '../protocol/engine-options.ts'
import { toNetwork } from '../request/address.ts'
import type { ReportError } from '../request/options.ts'
import { principalOf } from '../request/principal.ts'
import { createShares, fullAnswer, type Sender, type Sharing } from '../request/shares.ts'
import type { RateLimiter } from './rate-limit.ts'

export interface TrafficOptions extends Sharing {
  /** Returns undefined if callers are not counted. */
  readonly rateLimiterFor: (env: unknown) => RateLimiter | undefined
  /** Maximum concurrent calls in this process or isolate, streams included. */
  readonly maxConcurrentCalls: number
  readonly reportError: ReportError
}

export interface Traffic {
  /** Whether callers are counted on this deployment. */
  counts(env: unknown): boolean
  /** Counts one call. If the limiter fails, the call is allowed, so that an outage of the limiter does not affect the server. */
  count(caller: string, env: unknown): Promise<Refusal | undefined>
  /**
   * Counts a failed authentication. After too many, `whileBlocked` refuses the caller for the limiter's time before its next token is
   * checked, since each check may be a request to the issuer.
   */
  countFailure(caller: string, env: unknown): Promise<Refusal | undefined>
  whileBlocked(caller: string): Refusal | undefined
  /** Starts one call. The returned function is called once, when the call is answered. */
  enter(sender: Sender): Leave | Refusal
}

/** Maximum callers remembered as blocked; the oldest is forgotten first. */
const MAX_BLOCKED = 10_000

export function createTraffic(options: TrafficOptions): Traffic {
  const { rateLimiterFor, maxConcurrentCalls, reportError, callerShare, callerOf } = options
  /** Undefined without a limit. */
  const running =
    maxConcurrentCalls === Number.POSITIVE_INFINITY
      ? undefined
      : createShares(maxConcurrentCalls, callerShare)
  /** By caller: the end of the block, in milliseconds since the epoch. */
  const blocked = new Map<string, number>()

  /** Code that still runs after its call: the function that frees its slot, and when the slot is freed anyway (ms). */
  const resting = new Map<() => void, number>()

  /** Compares clock times instead of using a timer, which would keep a process alive. */
  const forgetOverdue = (): void => {
    for (const [leave, until] of resting) if (until <= Date.now()) leave()
  }

  const verdictOn = async (caller: string, env: unknown): Promise<number | undefined> => {
    try {
      const verdict = await rateLimiterFor(env)?.limit(caller)
      return verdict === undefined || verdict.ok ? undefined : verdict.retryAfterSeconds
    } catch (error) {
      reportError(error, { rateLimiter: true })
      return undefined
    }
  }

  return {
    counts: (env) => rateLimiterFor(env) !== undefined,
    async count(caller, env) {
      const seconds = await verdictOn(caller, env)
      return seconds === undefined ? undefined : tooMany(seconds)
    },
    async countFailure(caller, env) {
      const seconds = await verdictOn(caller, env)
      if (seconds === undefined) return undefined
      if (blocked.size >= MAX_BLOCKED) blocked.delete(blocked.keys().next().value!)
      blocked.set(caller, Date.now() + seconds * 1000)
      return tooMany(seconds)
    },
    whileBlocked(caller) {
      const until = blocked.get(caller)
      if (until === undefined) return undefined
      const seconds = Math.ceil((until - Date.now()) / 1000)
      if (seconds > 0) return tooMany(seconds)
      blocked.delete(caller)
      return undefined
    },
    enter(sender) {
      if (running === undefined) return LEAVE
      const caller = callerOf(sender)
      let place = running.take(caller)
      if (typeof place === 'string') {
        forgetOverdue()
        place = running.take(caller)
      }
      if (typeof place === 'string')
        return fullAnswer(place, 'concurrent calls', 'http.maxConcurrentCalls', 1)
      const { free } = place
      const leave = (): void => {
        free()
        resting.delete(leave)
      }
      return (rest) => {
        if (rest === undefined) return leave()
        resting.set(leave, rest.until)
        rest.work.then(leave, leave)
      }
    },
  }
}

/** Without a limit there is nothing to free. */
const LEAVE: Leave = () => {}

function tooMany(retryAfterSeconds: number): Refusal {
  const headers = { 'retry-after': String(retryAfterSeconds) }
  return { status: 429, message: 'Too many requests: slow down.', headers }
}

/**
 * The key for counting calls: the principal, otherwise the address (for IPv6 its first 64 bits, which belong to one customer), otherwise
 * one shared key.
 */
export function callerKey(auth: AuthInfo | undefined, address: string | undefined): string {
  if (auth !== undefined) return `principal ${principalOf({ auth })}`
  return address === undefined ? 'anonymous' : `address ${toNetwork(address)}`
}
