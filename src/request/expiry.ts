/** When a caller's identity has expired. */
import type { AuthInfo } from '../definition/context.ts'

/** An `expiresAt` that is NaN counts as past. */
export function hasExpired(
  { expiresAt = Number.POSITIVE_INFINITY }: AuthInfo,
  toleranceSeconds = 0,
): boolean {
  return !((expiresAt + toleranceSeconds) * 1000 > Date.now())
}
