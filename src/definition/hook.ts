/**
 * Calls user-supplied hooks: a log, an audit trail, a listener. A hook only observes; it cannot change the outcome.
 */

/**
 * Calls a hook without waiting for it. Errors, thrown or rejected, go to `report`: unhandled, a rejection would end the process.
 * `outlive` receives the promise of an async hook, so that the platform waits for it.
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
