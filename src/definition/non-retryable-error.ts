/**
 * An error after which a step is not tried again, whatever its `retries`. Any error with this name counts, also that of another package.
 *
 * ```ts
 * throw new NonRetryableError('The card was declined.', { cause: error })
 * ```
 */
export class NonRetryableError extends Error {
  override readonly name = 'NonRetryableError'
}
