/**
 * Calls what a user gave us to be told of something: a log, an audit trail, a listener. It cannot change what it is told of.
 */

/**
 * Calls a hook and does not wait for it. What it throws, and what the promise that it returns rejects with, goes to `report`:
 * unhandled, a rejection would end the process. `outlive` is told of a promise, so that a platform waits for it.
 */
export function callHook(
  hook: () => unknown,
  report: (error: unknown) => void,
  outlive?: (work: Promise<unknown>) => void,
): void {
  try {
    const outcome = hook()
    if (!isThenable(outcome)) return
    const work = Promise.resolve(outcome).catch(report)
    outlive?.(work)
  } catch (error) {
    report(error)
  }
}

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function'
}
