/** Calls user-supplied hooks: a log, an audit trail, a listener. Hooks only observe; they cannot change the outcome. */

/**
 * Calls a hook without waiting for it. Passes errors, thrown or rejected, to `report`: an unhandled rejection would end the process.
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
