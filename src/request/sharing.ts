/** How a server shares what is limited among its callers. */
import type { AuthInfo } from '../definition/context.ts'
import type { RequestPlatform } from './platform.ts'

/** How a server shares its places. */
export interface Sharing {
  /** The part of the places left by others that one caller may hold: above 0, and 1 for all. */
  readonly callerShare: number
  /** The caller; undefined if it cannot be told from others. */
  readonly callerOf: (message: Sender) => string | undefined
}

export interface Sender {
  readonly auth: AuthInfo | undefined
  readonly platform: RequestPlatform
  readonly request: Request
}
