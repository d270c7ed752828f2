/**
 * When a call is ended, for every kind of server: shortly before the platform would end it, or at the server's own limit.
 */

import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'
import { MAX_TIMER_MS } from '../definition/timeout.ts'
import type { RequestPlatform } from '../request/platform.ts'
import type { CallLimits } from './engine-options.ts'

/** When a call is ended, in milliseconds since the epoch, and the name of the limit. */
export interface TimeLimit {
  readonly deadline: number | undefined
  readonly name: string
}

/** Without streaming, the first byte is sent with the last one, so the first-byte limit applies to the whole call. */
export function deadlineOf({ deadline, firstByteBy }: RequestPlatform, streams: boolean): number | undefined {
  if (streams || firstByteBy === undefined) return deadline
  return Math.min(firstByteBy, deadline ?? firstByteBy)
}

/** The earlier of the platform's limit and the server's own. The margin is subtracted from the platform's only. */
export function earliestEnd(
  platform: RequestPlatform,
  streams: boolean,
  { maxCallMs, deadlineMarginMs }: CallLimits,
): TimeLimit {
  const { deadlineName = 'the time limit of the platform' } = platform
  const deadline = deadlineOf(platform, streams)
  const own = Date.now() + maxCallMs + deadlineMarginMs
  if (maxCallMs === 0 || (deadline !== undefined && deadline <= own)) return { deadline, name: deadlineName }
  return { deadline: own, name: 'the limit "http.maxCallMs" of this server' }
}

/**
 * Watches one call until it ends: calls the handler of the first event, disconnect or deadline, once. Also handles an abort from before the
 * call. Returns a function that stops the watching.
 */
export function watchCall(
  signal: AbortSignal,
  { deadline }: TimeLimit,
  { deadlineMarginMs }: CallLimits,
  { onDisconnect, onExpire }: { readonly onDisconnect: () => void; readonly onExpire: () => void },
): () => void {
  if (signal.aborted) {
    onDisconnect()
    return () => {}
  }
  let timer: ReturnType<typeof setTimeout> | undefined
  const stop = (): void => {
    clearTimeout(timer)
    signal.removeEventListener('abort', leave)
  }
  const leave = (): void => {
    stop()
    onDisconnect()
  }
  const expire = (): void => {
    stop()
    onExpire()
  }
  signal.addEventListener('abort', leave)
  if (deadline !== undefined) {
    const inMs = Math.max(0, deadline - deadlineMarginMs - Date.now())
    timer = setTimeout(expire, Math.min(inMs, MAX_TIMER_MS))
  }
  return stop
}

/** The error that the client receives. */
export function deadlineError({ deadline, name }: TimeLimit): ProtocolError {
  return new ProtocolError(
    ErrorCode.internal,
    `The call was stopped shortly before ${name} would have ended it: ask for less, or raise that limit.`,
    { limit: 'deadline', name, deadline },
  )
}
