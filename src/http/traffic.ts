/**
 * How much a server takes on: calls of one caller in a time, and calls at once.
 */
import type { AuthInfo } from '../definition/context.ts'
import type { Leave, Refusal } from '../protocol/engine-options.ts'
import { toNetwork } from '../request/address.ts'
import type { ReportError } from '../request/options.ts'
import { principalOf } from '../request/principal.ts'
import type { RateLimiter } from './rate-limit.ts'

export interface TrafficOptions {
  /** Undefined: callers are not counted. */
  readonly rateLimiterFor: (env: unknown) => RateLimiter | undefined
  /** Calls at once in this process or isolate, streams included. */
  readonly maxConcurrentCalls: number
  readonly reportError: ReportError
}

export interface Traffic {
  /** Whether callers are counted on this deployment. */
  counts(env: unknown): boolean
  /** Counts one call. A limiter that fails lets it in: it is there to protect the server, not to end it. */
  count(caller: string, env: unknown): Promise<Refusal | undefined>
  /**
   * Counts a caller whose token is not good. Once there were too many, `whileBlocked` refuses that caller for as long as the limiter
   * says, before another token is looked at: each look may be a request to the issuer.
   */
  countFailure(caller: string, env: unknown): Promise<Refusal | undefined>
  whileBlocked(caller: string): Refusal | undefined
  /** Takes one call on; what is returned is called once, when it is answered. */
  enter(): Leave | Refusal
}

/** Callers that are remembered as blocked; the oldest is forgotten first. */
const MAX_BLOCKED = 10_000

export function createTraffic({ rateLimiterFor, maxConcurrentCalls, reportError }: TrafficOptions): Traffic {
  let running = 0
  /** By caller, until when: milliseconds since the epoch. */
  const blocked = new Map<string, number>()

  /** Code that runs on after its call: what gives its place back, and until when it has that (milliseconds since the epoch). */
  const resting = new Map<() => void, number>()

  /** By the clock and not by a timer, which would keep a process from ending. */
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
    enter() {
      if (running >= maxConcurrentCalls) forgetOverdue()
      if (running >= maxConcurrentCalls) return BUSY
      running++
      let isOver = false
      const leave = (): void => {
        if (isOver) return
        isOver = true
        running--
        resting.delete(leave)
      }
      return (rest) => {
        // Without a limit nothing is kept of them.
        if (rest === undefined || maxConcurrentCalls === Number.POSITIVE_INFINITY) return leave()
        resting.set(leave, rest.until)
        rest.work.then(leave, leave)
      }
    },
  }
}

const BUSY: Refusal = {
  status: 503,
  message: 'Too many concurrent calls: try again later.',
  headers: { 'retry-after': '1' },
}

function tooMany(retryAfterSeconds: number): Refusal {
  const headers = { 'retry-after': String(retryAfterSeconds) }
  return { status: 429, message: 'Too many requests: slow down.', headers }
}

/**
 * Whom calls are counted for: the principal, else the address (of IPv6 its first 64 bits, which are one customer's), else everybody
 * who cannot be told apart.
 */
export function callerKey(auth: AuthInfo | undefined, address: string | undefined): string {
  if (auth !== undefined) return `principal ${principalOf({ auth })}`
  return address === undefined ? 'anonymous' : `address ${toNetwork(address)}`
}
