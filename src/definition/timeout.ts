/**
 * A time limit for work that may never settle.
 */

/** Milliseconds that a request waits for one answer of the user's code or store that no other limit ends. */
export const ANSWER_TIMEOUT_MS = 10_000

/** The limit of setTimeout; with more it would fire at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1

/** Work did not settle in time. */
export class TimeoutError extends Error {
  override readonly name = 'TimeoutError'
}

/**
 * Resolves like `work`. Does not stop the work at the time limit.
 *
 * @throws TimeoutError `The <what> did not answer within <timeoutMs> ms.`, or the error of `work`.
 */
export async function withTimeout<Value>(
  work: Value | PromiseLike<Value>,
  timeoutMs: number,
  what: string,
): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new TimeoutError(`The ${what} did not answer within ${timeoutMs} ms.`)),
      Math.min(timeoutMs, MAX_TIMER_MS),
    )
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
