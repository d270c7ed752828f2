/**
 * Cloudflare Workers. An `MCPServer` already is a Worker's default export; this adapter is for Workers with other handlers
 * besides it.
 */
import type { RateLimiter } from '../src/index.ts'
import {
  type FetchServer,
  hasEndingTimers,
  requireServer,
  serveRequest,
  WORKER_ABANDONED_MS,
} from '../src/request/platform.ts'

export type { OutageOptions } from '../src/events/outage.ts'
export type {
  DurableObjectNamespace,
  ObjectStorage,
  SocketState,
  StorageState,
} from './_cloudflare/durable-object.ts'
export {
  type AlarmPlatform,
  type AlarmRunner,
  alarmObject,
  alarmRunner,
  MayflyAlarmObject,
} from './cloudflare-alarms.ts'
export { type DurableObjectBusOptions, durableObjectBus, MayflyBus } from './cloudflare-bus.ts'
export { type DurableObjectEventsOptions, durableObjectEvents, MayflyEvents } from './cloudflare-events.ts'
export { type DurableObjectGrantsOptions, durableObjectGrants, MayflyGrants } from './cloudflare-grants.ts'
export { type KVKeyStoreOptions, type KVNamespace, kvKeyStore } from './cloudflare-keys.ts'
export {
  type QueueRunner,
  queueRunner,
  type TaskMessage,
  type TaskMessageBatch,
  type TaskQueue,
} from './cloudflare-queues.ts'
export { durableObjectRendezvous, MayflyRendezvous } from './cloudflare-rendezvous.ts'
export {
  type DurableObjectSubscriptionsOptions,
  durableObjectSubscriptions,
  MayflySubscriptions,
} from './cloudflare-subscriptions.ts'
export {
  type DurableObjectTaskStoreOptions,
  durableObjectTaskStore,
  MayflyTaskObject,
  type TaskServer,
  taskObject,
} from './cloudflare-tasks.ts'
export {
  type TaskWorkflow,
  type TaskWorkflowStep,
  type WorkflowRunner,
  workflowRunner,
} from './cloudflare-workflows.ts'

/** A rate limiting binding; inlined, so that the type needs no platform package. */
export interface RateLimitBinding {
  limit(options: { key: string }): Promise<{ success: boolean }>
}

/**
 * Creates a rate limiter from a rate limiting binding. It counts separately in each of Cloudflare's locations.
 *
 * ```ts
 * rateLimiter: (env) => bindingRateLimiter(env.RATE_LIMITER)
 * ```
 *
 * @param periodSeconds The binding's `period`, 10 or 60, which the binding does not expose. Default 60.
 */
export function bindingRateLimiter(binding: RateLimitBinding, periodSeconds = 60): RateLimiter {
  if (typeof binding?.limit !== 'function')
    throw new TypeError(
      'bindingRateLimiter needs a rate limiting binding: env.LIMITER, as named in wrangler.toml.',
    )
  return {
    async limit(key, server) {
      // Workers with the same namespace_id count together.
      const { success } = await binding.limit({ key: server === undefined ? key : `${server}:${key}` })
      return success ? { ok: true } : { ok: false, retryAfterSeconds: periodSeconds }
    },
  }
}

/** The context that workerd passes to `fetch`; inlined, so that the type needs no platform package. */
export interface ExecutionContext {
  waitUntil(promise: Promise<unknown>): void
}

/**
 * Creates the `fetch` of a module Worker.
 *
 * ```ts
 * export default { fetch: cloudflare(server), scheduled() {} }
 * ```
 */
export function cloudflare(
  server: FetchServer,
): (request: Request, env: unknown, executionContext: ExecutionContext) => Promise<Response> {
  requireServer('cloudflare', server)
  const handler = (request: Request, env: unknown, executionContext: ExecutionContext): Promise<Response> => {
    // Cloudflare overwrites this header if a client sends it.
    const clientAddress = request.headers.get('cf-connecting-ip') ?? undefined
    return serveRequest(server, request, {
      env,
      waitUntil: (promise) => executionContext.waitUntil(promise),
      abandonedMs: WORKER_ABANDONED_MS,
      timersEnd: hasEndingTimers(executionContext),
      // Cloudflare routes a host only to Workers of the account that owns it.
      vouchesForHost: true,
      clientAddress,
    })
  }
  // `mayfly doctor` asks the server itself.
  return Object.assign(handler, { mayflyServer: server })
}
