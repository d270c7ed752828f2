/**
 * Detects two connected clients with the same configuration, which is a mistake: each has its own connections, so a program that creates
 * one per request without closing it runs out of connections.
 */
import type { MCPClientConfig, ServerConfig } from './config.ts'
import { MCPClientError } from './errors.ts'

interface Claim {
  readonly id: string | undefined
  readonly servers: { readonly [name: string]: ServerConfig }
}

/** The clients of this process or isolate. */
const live = new Set<Claim>()

/**
 * Claims a configuration until the returned function is called. Configurations are compared by their data: functions are ignored, and
 * an `authProvider` only equals itself.
 *
 * @throws MCPClientError `DUPLICATE_CLIENT`
 */
export function claimConfig({ id, servers }: MCPClientConfig): () => void {
  const claim: Claim = { id, servers }
  for (const other of live) {
    if (other.id !== id || !isSame(other.servers, servers)) continue
    throw new MCPClientError(
      'DUPLICATE_CLIENT',
      `Another MCPClient ${id === undefined ? '' : `with the id "${id}" and `}with these servers is still connected: use that one, disconnect() it first, or give each client a different id.`,
    )
  }
  live.add(claim)
  return () => live.delete(claim)
}

function isSame(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true
  if (typeof one === 'function' && typeof other === 'function') return true
  if (one instanceof URL || other instanceof URL) return String(one) === String(other)
  if (one instanceof Headers && other instanceof Headers) return isSame([...one], [...other])
  if (!isPlain(one) || !isPlain(other)) return false
  const keys = Object.keys(one)
  return (
    keys.length === Object.keys(other).length &&
    keys.every((key) => {
      if (!Object.hasOwn(other, key)) return false
      return key === 'authProvider' ? one[key] === other[key] : isSame(one[key], other[key])
    })
  )
}

function isPlain(value: unknown): value is { readonly [key: string]: unknown } {
  if (value === null || typeof value !== 'object') return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === Array.prototype || prototype === null
}
