/**
 * Waiting for a transport that may never answer.
 */

/** Milliseconds that a bus has to take an event, or a subscription. */
export const BUS_TIMEOUT_MS = 5000

/**
 * What `work` resolves to.
 *
 * @throws Error `The <what> did not answer within <timeoutMs> ms.`, and what `work` rejects with.
 */
export async function within<Value>(
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
