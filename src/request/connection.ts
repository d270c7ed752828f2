/** The connection of a request, as the servers of Node, Deno and Bun pass it to a `fetch` in place of bindings. */
import { isLoopbackAddress } from './address.ts'

interface Socket {
  readonly remoteAddress?: string
}

/** `@hono/node-server`, `Deno.serve` and `Bun.serve`. */
interface Connection {
  readonly incoming?: { readonly socket?: Socket }
  readonly remoteAddr?: { readonly hostname?: string }
  requestIP?(request: Request): { readonly address: string } | null
}

/**
 * The `env` of a request that came with a connection: only an adapter reads the variables of the process. The same object each time, so
 * that it can be recognized.
 */
export const NO_VARIABLES: object = Object.freeze({})

/** Whether `env` is a connection and no environment. */
export function isConnection(env: unknown): env is Connection {
  if (typeof env !== 'object' || env === null) return false
  return 'incoming' in env || 'remoteAddr' in env || 'requestIP' in env
}

/** The address of the other side. */
export function peerOf(env: unknown, request: Request): string | undefined {
  if (!isConnection(env)) return undefined
  const { incoming, remoteAddr, requestIP } = env
  const served = typeof requestIP === 'function' ? requestIP.call(env, request)?.address : undefined
  return incoming?.socket?.remoteAddress ?? remoteAddr?.hostname ?? served
}

/**
 * Whether a connection comes from this machine over a loopback address, as one from a browser does whose page was rebound to it. No header
 * shows that a proxy sent the request: the page can set them all.
 */
export function isLoopbackPeer(address: string | undefined): boolean {
  return address !== undefined && isLoopbackAddress(address)
}
