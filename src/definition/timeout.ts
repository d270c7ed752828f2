/**
 * A time limit for work that may never settle.
 */

/**
 * Resolves like `work`. Does not stop the work at the time limit.
 *
 * @throws Error `The <what> did not answer within <timeoutMs> ms.`, or the error of `work`.
 */
export async function withTimeout<Value>(
  work: Value | PromiseLike<Value>,
  timeoutMs: number,
  what: string,
): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new Error(`The ${what} did not answer within ${timeoutMs} ms.`)),
      timeoutMs,
    )
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
