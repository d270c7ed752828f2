/** Retries a request of a task or a stream after a temporary failure: they outlive a restart of the server. */

import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client'
import { backoffMs } from '../definition/backoff.ts'
import { isA } from '../definition/error-text.ts'
import { onAbort } from './deadline.ts'
import { MCPClientError } from './errors.ts'
import { MalformedTask } from './task.ts'

/** Maximum retries, with growing delays. */
const MAX_REPEATS = 5
const RETRIES = { firstMs: 500, maxMs: 30_000 }
/** Temporary failures: server errors, and transport errors that became protocol errors. */
const PASSING_CODES = [-32603, -32000]

/** Retries `work` after temporary failures, a few times, until `signal` aborts. */
export async function untilItPasses<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  for (let repeats = 0; ; repeats++) {
    try {
      return await work()
    } catch (error) {
      if (signal.aborted || repeats >= MAX_REPEATS || !mayPass(error)) throw error
    }
    await sleep(backoffMs(repeats + 1, RETRIES), signal)
  }
}

/** Whether the next attempt may succeed, after a temporary outage of the server or the network. */
export function mayPass(error: unknown): boolean {
  if (!isA(error, MCPClientError)) return false
  if (error.code === 'CONNECTION_FAILED' || error.code === 'TIMEOUT') return true
  const { cause } = error
  if (error.code !== 'REQUEST_FAILED' || isA(cause, MalformedTask)) return false
  if (isA(cause, ProtocolError)) return PASSING_CODES.includes(cause.code)
  if (isA(cause, SdkHttpError)) return cause.data.status === 429 || cause.data.status >= 500
  const isWrong =
    isA(cause, SdkError) &&
    [SdkErrorCode.InvalidResult, SdkErrorCode.UnsupportedResultType].includes(cause.code)
  return !isWrong
}

/** Rejects when `signal` aborts. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      stop()
      resolve()
    }, ms)
    const abort = (): void => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const stop = onAbort(signal, abort)
    if (signal.aborted) abort()
  })
}
