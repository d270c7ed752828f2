/** The platform in an app: as passed by Mayfly's adapter, otherwise from Hono and the runtime. */
import type { Context, Env } from 'hono'
import { getRuntimeKey, env as runtimeEnv } from 'hono/adapter'
import { platformIn, platformOf, type RequestPlatform } from '../../src/request/platform.ts'
import { isLongLived } from '../_bus/long-lived.ts'

/** `env`: replaces the environment. */
export async function platformOfApp<E extends Env>(
  c: Context<E>,
  env: ((c: Context<E>) => unknown) | undefined,
): Promise<RequestPlatform> {
  const executionContext = executionContextOf(c)
  const isFromAdapter = platformIn(executionContext) !== undefined
  const platform = platformOf(c.env, executionContext)
  const given = env === undefined ? undefined : { env: await env(c) }
  if (isFromAdapter) return { ...platform, ...given }
  const clientAddress = addressOf(c)
  return {
    ...platform,
    ...(given ?? { env: environmentOf(c) }),
    // Only the servers of long-lived processes pass their connection.
    isLongLived: isConnection(c.env ?? {}) && isLongLived(runtimeEnv(c as Context)),
    ...(clientAddress !== undefined && { clientAddress }),
  }
}

/** Hono throws if there is none. */
function executionContextOf(c: Pick<Context, 'executionCtx'>): unknown {
  try {
    return c.executionCtx
  } catch {
    return undefined
  }
}

/** What the servers of Node, Deno and Bun pass instead of bindings. */
interface Connection {
  readonly incoming?: { readonly socket?: { readonly remoteAddress?: string } }
  readonly remoteAddr?: { readonly hostname?: string }
  requestIP?(request: Request): { readonly address: string } | null
}

const PROCESS_RUNTIMES: readonly string[] = ['node', 'deno', 'bun']

function environmentOf<E extends Env>(c: Context<E>): unknown {
  const given: object = c.env ?? {}
  const runtime = getRuntimeKey()
  if (!PROCESS_RUNTIMES.includes(runtime)) return given
  const variables: object = runtimeEnv(c as Context)
  const hasBindings = !isConnection(given) && Object.keys(given).length > 0
  return hasBindings ? { ...variables, ...given } : variables
}

function isConnection(env: object): boolean {
  return 'incoming' in env || 'remoteAddr' in env || 'requestIP' in env
}

function addressOf<E extends Env>({ env, req }: Context<E>): string | undefined {
  // Cloudflare overwrites this header if a client sends it; elsewhere a client could set it.
  if (getRuntimeKey() === 'workerd') return req.header('cf-connecting-ip')
  const { incoming, remoteAddr, requestIP } = (env ?? {}) as Connection
  const viaBun = typeof requestIP === 'function' ? requestIP.call(env, req.raw)?.address : undefined
  return incoming?.socket?.remoteAddress ?? remoteAddr?.hostname ?? viaBun
}
