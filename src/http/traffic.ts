/**
 * Load limits: calls of one caller per time, and concurrent calls.
 */

import { digest } from '../definition/digest.ts'
import { textOf } from '../definition/error-text.ts'
import { isThenable } from '../definition/hook.ts'
import { setNewest } from '../definition/set-newest.ts'
import { createShares, fullAnswer } from '../definition/shares.ts'
import type { StoreOwner } from '../definition/store-owner.ts'
import { withTimeout } from '../definition/timeout.ts'
import { type Checkpoint, LEAVE, type Leave, type Refusal } from '../protocol/engine-options.ts'
import type { ReportError } from '../request/options.ts'
import type { Sender, Sharing } from '../request/sharing.ts'
import type { RateLimiter } from './rate-limit.ts'

export interface TrafficOptions extends Sharing {
  /** Undefined, and returns undefined, if callers are not counted. */
  readonly rateLimiterFor: ((env: unknown) => RateLimiter | undefined) | undefined
  /** The server, if its name is known here. */
  readonly owner?: StoreOwner | undefined
  /** Maximum concurrent calls in this process or isolate, streams included. */
  readonly maxConcurrentCalls: number
  readonly reportError: ReportError
}

export interface Traffic {
  /** Whether callers are counted on this deployment. */
  counts(env: unknown): boolean
  /** Counts one call. If the limiter fails, the call is allowed, so that an outage of the limiter does not affect the server. */
  count(sender: Sender): Promise<Refusal | undefined>
  /**
   * Counts a token that was refused: a new one for its caller, if that can be told from others, and one that was refused before only for itself. After too
   * many of the same, `whileBlocked` refuses it for the limiter's time without a check, which may be a request to the issuer. Any other
   * token is always checked, whatever its address has sent: others may share the address.
   */
  countFailure(failure: TokenFailure): Promise<Refusal | undefined>
  whileBlocked(token: string): Promise<Refusal | undefined>
  /** Starts one call. The returned function is called once, when the call is answered. */
  enter(sender: Sender): Leave | Refusal
}

export interface TokenFailure {
  readonly token: string
  readonly sender: Omit<Sender, 'auth'>
  /** Whether the token is genuine and only lacks scopes: it then counts for itself alone. */
  readonly isGenuine: boolean
}

/** Maximum refused tokens remembered; the oldest is forgotten first. */
const MAX_REFUSED = 10_000
/** Milliseconds after which a call is allowed without the limiter's verdict. */
const LIMITER_TIMEOUT_MS = 5000

const NO_VERDICT = 'The rate limiter answered neither { ok: true } nor { ok: false, retryAfterSeconds }.'

export function createTraffic(options: TrafficOptions): Traffic {
  const { rateLimiterFor, owner, maxConcurrentCalls, reportError, callerShare, callerOf } = options
  /** Undefined without a limit. */
  const running =
    maxConcurrentCalls === Number.POSITIVE_INFINITY
      ? undefined
      : createShares(maxConcurrentCalls, callerShare)
  /** Refused tokens, by digest: until when each is blocked, in milliseconds since the epoch, or 0. */
  const refused = new Map<string, number>()

  /** Code that still runs after its call: the function that frees its slot, and when the slot is freed anyway (ms). */
  const resting = new Map<() => void, number>()

  const remember = (id: string, until: number): void => {
    setNewest(refused, id, until, MAX_REFUSED)
  }

  /** Compares clock times instead of using a timer, which would keep a process alive. */
  const forgetOverdue = (): void => {
    for (const [leave, until] of resting) if (until <= Date.now()) leave()
  }

  const unclear = (message: string): number => {
    reportError(new TypeError(`${message} Calls are refused.`), { rateLimiter: true })
    return 1
  }

  /** What the limits are counted for. An error without a name: with an invalid stage all would pass. */
  const serverIn = (env: unknown): string | undefined | Error => {
    try {
      owner?.see(env)
      return owner?.name()
    } catch (error) {
      return new TypeError(textOf(error))
    }
  }

  /** Seconds until the next call is allowed; undefined if it is allowed now. */
  const verdictOn = async (caller: string, env: unknown): Promise<number | undefined> => {
    try {
      const limiter = rateLimiterFor?.(env)
      if (limiter === undefined) return undefined
      if (typeof limiter.limit !== 'function') return unclear('The rate limiter has no limit().')
      const server = serverIn(env)
      if (server instanceof Error) return unclear(server.message)
      const limiting = limiter.limit(caller, server)
      const verdict = isThenable(limiting)
        ? await withTimeout(limiting, LIMITER_TIMEOUT_MS, 'rate limiter')
        : limiting
      if (verdict?.ok === true) return undefined
      return verdict?.ok === false ? secondsOf(verdict.retryAfterSeconds) : unclear(NO_VERDICT)
    } catch (error) {
      reportError(error, { rateLimiter: true })
      return undefined
    }
  }

  return {
    counts: (env) => rateLimiterFor !== undefined && rateLimiterFor(env) !== undefined,
    async count(sender) {
      // Callers who cannot be told apart count as one.
      const seconds = await verdictOn(callerOf(sender) ?? 'anonymous', sender.platform.env)
      return seconds === undefined ? undefined : tooMany(seconds)
    },
    async countFailure({ token, sender, isGenuine }) {
      const { env } = sender.platform
      const id = await digest(token)
      const isKnown = refused.has(id)
      if (!isKnown) remember(id, 0)
      if (!isKnown && !isGenuine) {
        const caller = callerOf({ ...sender, auth: undefined })
        if (caller === undefined) return undefined
        const seconds = await verdictOn(`bad tokens of ${caller}`, env)
        return seconds === undefined ? undefined : tooMany(seconds)
      }
      const seconds = await verdictOn(`refused token ${id}`, env)
      if (seconds === undefined) return undefined
      remember(id, Date.now() + seconds * 1000)
      return tooMany(seconds)
    },
    async whileBlocked(token) {
      if (refused.size === 0) return undefined
      const until = refused.get(await digest(token)) ?? 0
      const seconds = Math.ceil((until - Date.now()) / 1000)
      return seconds > 0 ? tooMany(seconds) : undefined
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

/** A refusal holds without a readable time, too. */
function secondsOf(given: unknown): number {
  return typeof given === 'number' && given > 0 && given < Number.POSITIVE_INFINITY ? Math.ceil(given) : 1
}

function tooMany(retryAfterSeconds: number): Refusal {
  const headers = { 'retry-after': String(retryAfterSeconds) }
  return { status: 429, message: 'Too many requests: slow down.', headers }
}

/** Applies the rate limit and the limit of concurrent calls to every message. */
export function createGate(traffic: Traffic): Pick<Checkpoint, 'count' | 'enter'> {
  const count: Checkpoint['count'] = ({ auth, platform, request, isHttp, counted }) => {
    if (!isHttp || !traffic.counts(platform.env)) return undefined
    if (counted.messages > 0) {
      counted.messages--
      return undefined
    }
    return traffic.count({ auth, platform, request })
  }
  return {
    count,
    enter(message) {
      const counting = count(message)
      if (counting === undefined) return traffic.enter(message)
      return Promise.resolve(counting).then((overRate) => overRate ?? traffic.enter(message))
    },
  }
}
