/** Attempts of a step: their time limit, and the delays between them. */
import { backoffMs } from '../definition/backoff.ts'
import type { StepOptions } from '../definition/context.ts'
import { memberOf } from '../definition/error-text.ts'
import { MAX_TIMER_MS } from '../definition/timeout.ts'
import { type Names, refuseUnknown } from '../definition/unknown-option.ts'

const OPTIONS: Names<StepOptions> = { retries: [0], backoffMs: [0], timeoutMs: [0] }

const MAX_BACKOFF_MS = 3_600_000

/** @throws TypeError for an unknown option, and for a number that is not 0 or more. */
export function checkStepOptions(name: string, options: StepOptions): void {
  refuseUnknown(`Step "${name}"`, options, OPTIONS)
}

/** When the next attempt begins, in milliseconds since the epoch. Undefined after the last one. */
export function nextAttempt(
  failures: number,
  error: unknown,
  { retries = 0, backoffMs: firstMs = 1000 }: StepOptions,
): number | undefined {
  if (failures > retries || memberOf(error, 'name') === 'NonRetryableError') return undefined
  return Math.ceil(Date.now() + backoffMs(failures, { firstMs, maxMs: MAX_BACKOFF_MS }))
}

/** Runs an attempt with a signal that also aborts at its time limit. Rejects then, although its function may go on. */
export async function withinTime<Value>(
  attempt: (signal: () => AbortSignal) => Value | Promise<Value>,
  outer: () => AbortSignal,
  { timeoutMs }: StepOptions,
): Promise<Value> {
  if (timeoutMs === undefined) return attempt(outer)
  const own = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => {
        const error = new DOMException(`The step took longer than ${timeoutMs} ms.`, 'TimeoutError')
        own.abort(error)
        reject(error)
      },
      Math.min(timeoutMs, MAX_TIMER_MS),
    )
  })
  try {
    return await Promise.race([attempt(() => AbortSignal.any([outer(), own.signal])), late])
  } finally {
    clearTimeout(timer)
  }
}
