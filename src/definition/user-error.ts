/**
 * An error that is expected, such as an order that does not exist. Thrown by a tool, the model gets its message as an `isError` result, as
 * for any error; the log gets one line of level `info` without a stack, and `onError` nothing. Any error with this name counts, also that
 * of another package.
 *
 * ```ts
 * throw new UserError('There is no order 42: ask for its number again.')
 * ```
 */
export class UserError extends Error {
  override readonly name = 'UserError'
}
