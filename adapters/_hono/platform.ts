/** The platform in an app: as passed by Mayfly's adapter, otherwise from Hono and the runtime. */
import type { Context, Env } from 'hono'
import { getRuntimeKey, env as runtimeEnv } from 'hono/adapter'
import { ANSWER_TIMEOUT_MS, withTimeout } from '../../src/definition/timeout.ts'
import { isConnection, isLoopbackPeer, peerOf } from '../../src/request/connection.ts'
import {
  executionContextOf,
  platformIn,
  platformOf,
  type RequestPlatform,
} from '../../src/request/platform.ts'
import { isLongLived } from '../_bus/long-lived.ts'

/** `env`: replaces the environment. */
export async function platformOfApp<E extends Env>(
  c: Context<E>,
  env: ((c: Context<E>) => unknown) | undefined,
): Promise<RequestPlatform> {
  const executionContext = executionContextOf(c)
  const isFromAdapter = platformIn(executionContext) !== undefined
  const platform = platformOf(c.env, executionContext)
  const given =
    env === undefined
      ? undefined
      : { env: await withTimeout(env(c), ANSWER_TIMEOUT_MS, 'option "env" of mcp()') }
  if (isFromAdapter) return { ...platform, ...given }
  const peer = peerOf(c.env, c.req.raw)
  // Cloudflare overwrites this header if a client sends it; elsewhere a client could set it.
  const clientAddress = getRuntimeKey() === 'workerd' ? c.req.header('cf-connecting-ip') : peer
  return {
    ...platform,
    ...(given ?? { env: environmentOf(c) }),
    // Only the servers of long-lived processes pass their connection.
    isLongLived: isConnection(c.env) && isLongLived(runtimeEnv(c as Context)),
    loopback: isLoopbackPeer(peer),
    ...(clientAddress !== undefined && { clientAddress }),
  }
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
