/** The library's record of a connection, and what belongs to it. */
import type { Unit } from '../unit.ts'

export const grantKey = (sub: string, grantId: string): string => `grant:${sub}:${grantId}`
export const upstreamKey = (sub: string, grantId: string): string => `upstream:${sub}:${grantId}`

/** Whether a part of a token may be one of a key. */
export function isGrantPart(part: string | undefined): part is string {
  return part !== undefined && /^[\w-]{1,64}$/.test(part)
}

/** Ends a connection. Its access tokens end with it: each check reads the grant. */
export function endGrant(unit: Unit, sub: string, grantId: string): void {
  unit.delete(grantKey(sub, grantId))
  unit.delete(upstreamKey(sub, grantId))
}
