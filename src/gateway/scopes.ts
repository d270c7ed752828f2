/** The scopes that a caller needs for an item of a server behind. */
import { isA, textOf } from '../definition/error-text.ts'
import { warn } from '../definition/json-line.ts'
import type { GatewayCaller } from '../request/gateway-support.ts'
import { areScopes, type GatewayItem } from './options.ts'
import type { Upstream } from './upstream.ts'

/** @throws TypeError for a function that returns something else: the item is left out, since nobody can tell who may use it. */
export function scopesOf({ server }: Upstream, item: GatewayItem): { scopes?: readonly string[] } {
  const scopes: unknown = typeof server.scopes === 'function' ? server.scopes(item) : server.scopes
  if (scopes === undefined) return {}
  if (isA(scopes, Promise)) scopes.catch(() => {})
  if (!areScopes(scopes)) throw new TypeError('"scopes" returned something that is not a list of strings')
  return { scopes }
}

/** Needed by a caller without identity for what a function of scopes has not seen. It is in no token, and in no message. */
const UNKNOWN = 'mayfly:unknown'

/**
 * The scopes for what may be any of the items: all that are needed for one of them. Undefined if they cannot be determined: the item is
 * left out.
 */
export function guardOfUnknown(
  upstream: Upstream,
  items: readonly GatewayItem[],
  { auth }: GatewayCaller,
): { readonly scopes?: readonly string[] } | undefined {
  let needed: readonly string[] = []
  try {
    needed = [...new Set(items.flatMap((item) => scopesOf(upstream, item).scopes ?? []))]
  } catch (error) {
    warn(
      `"scopes" of the server "${upstream.name}", which does not answer, failed without its lists: ${textOf(error)}`,
    )
    if (auth !== undefined) return undefined
  }
  const isOpen = needed.length === 0 && (auth !== undefined || typeof upstream.server.scopes !== 'function')
  return isOpen ? {} : { scopes: needed.length > 0 ? needed : [UNKNOWN] }
}
