/**
 * A rendezvous, a bus, a rate limiter and stores of tasks, API keys, grants and Events on Redis, with `redis` or `ioredis` as the client. Only those and
 * the counts of the rate limiter are stored: Redis drops an answer that no call waits for. While Redis is down, every wait has a limit.
 */

import { ABOVE_ZERO } from '../src/definition/option-kind.ts'
import { type Names, requireOptions } from '../src/definition/unknown-option.ts'
import { OUTAGE_OPTIONS, type OutageOptions, type Report, toReport } from '../src/events/outage.ts'
import { SUBSCRIPTION_OPTIONS, type SubscriptionStoreOptions } from '../src/events/subscription-store.ts'
import type { Awaited, Bus, RateLimiter, Rendezvous } from '../src/index.ts'
import { createWait } from '../src/interaction/rendezvous.ts'
import { createSubscriptions, type Subscriptions } from '../src/subscriptions.ts'
import { type Ask, createAsk } from './_bus/ask.ts'
import { requireClient } from './_bus/client.ts'
import { type Outages, outagesOf, watchConnection } from './_bus/outages.ts'
import { createOwnedName } from './_bus/owned-name.ts'
import { createWireBus, type Wire } from './_bus/wire-bus.ts'
import { type Channels, channelsFor, type RedisSubscriber } from './_redis/channels.ts'
import { createRedisStore, type RedisStoreClient } from './_redis/subscription-store.ts'

export type { OutageOptions } from '../src/events/outage.ts'
export type { SubscriptionStoreOptions } from '../src/events/subscription-store.ts'
export type { Subscriptions } from '../src/subscriptions.ts'
export type { IoRedisSubscriber, NodeRedisSubscriber, RedisSubscriber } from './_redis/channels.ts'
export { type RedisEventsOptions, redisEvents } from './_redis/events.ts'
export { type RedisGrantsOptions, redisGrants } from './_redis/grants.ts'
export { type RedisKeyStoreOptions, redisKeyStore } from './_redis/key-store.ts'
export type {
  IoRedisStoreClient,
  NodeRedisStoreClient,
  RedisStoreClient,
} from './_redis/subscription-store.ts'
export {
  type IoRedisScripts,
  type NodeRedisScripts,
  type RedisScripts,
  type RedisTaskStoreOptions,
  redisTaskStore,
} from './_redis/task-store.ts'

/** The used members of a client for publishing, from either library. */
export interface RedisPublisher {
  publish(channel: string, message: string): unknown
}

/** The clients for `redisRendezvous` and `redisBus`. A subscribing client cannot be used for anything else. */
export interface RedisClients extends OutageOptions {
  readonly publisher: RedisPublisher
  readonly subscriber: RedisSubscriber
  /** Prefix of the channels. Default: the name of the server and its stage, such as `mayfly_shop`; `mayfly` for a rendezvous. */
  readonly prefix?: string
}

const CLIENTS: Names<RedisClients> = {
  publisher: 'object',
  subscriber: 'object',
  prefix: 'string',
  ...OUTAGE_OPTIONS,
}

/** The used members of a client for counting, from either library. */
export type RedisCounter = NodeRedisCounter | IoRedisCounter

/** The library `redis`. */
export interface NodeRedisCounter {
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>
  /** Only this library uses this spelling, which distinguishes the two. */
  sSubscribe: unknown
}

/** The library `ioredis`. */
export interface IoRedisCounter {
  eval(script: string, numberOfKeys: number, key: string, argument: string): Promise<unknown>
}

/** Options of `redisRateLimiter`. */
export interface RedisRateLimiterOptions extends OutageOptions {
  readonly client: RedisCounter
  /** Calls that a caller may make per window. */
  readonly calls: number
  /** The window in milliseconds. */
  readonly windowMs: number
  /** Prefix of the keys. Default: the name of the server and its stage, such as `mayfly_shop`. */
  readonly prefix?: string
}

const RATE_OPTIONS: Names<RedisRateLimiterOptions> = {
  client: 'object',
  calls: [1],
  windowMs: [ABOVE_ZERO],
  prefix: 'string',
  ...OUTAGE_OPTIONS,
}

/** A script, so that it is one command: a process that ends between counting and setting the expiry would leave the count forever. */
const COUNT = `
local count = redis.call('INCR', KEYS[1])
if redis.call('PTTL', KEYS[1]) < 0 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return count`

/**
 * Creates a rate limiter that counts for all processes, in fixed windows of the clock. Each window has its own key, which expires with
 * it. While Redis is down, it rejects within `timeoutMs`, and the server allows the calls.
 *
 * @throws TypeError for numbers that are not above 0.
 */
export function redisRateLimiter(options: RedisRateLimiterOptions): RateLimiter {
  requireOptions('redisRateLimiter', options, RATE_OPTIONS, 'calls', 'windowMs')
  const { client, calls, windowMs, prefix } = options
  requireClient('redisRateLimiter', client, 'ioredis or redis')
  watchConnection(client, outagesOf(client, toReport(options, 'Redis')))
  const ask = createAsk(options, 'Redis')
  const expiry = String(Math.ceil(windowMs))
  return {
    async limit(key, server = 'mayfly') {
      const now = Date.now()
      const window = Math.floor(now / windowMs)
      const name = `${prefix ?? server}:rate:${window}:${key}`
      const count = await ask(() =>
        'sSubscribe' in client
          ? client.eval(COUNT, { keys: [name], arguments: [expiry] })
          : client.eval(COUNT, 1, name, expiry),
      )
      if (Number(count) <= calls) return { ok: true }
      return { ok: false, retryAfterSeconds: Math.ceil(((window + 1) * windowMs - now) / 1000) }
    },
  }
}

/**
 * Creates a rendezvous for calls and answers that reach different processes. A wait ends at its deadline or when it is aborted, even if
 * Redis fails; delivering rejects while Redis is down.
 */
export function redisRendezvous(clients: RedisClients): Rendezvous {
  requireOptions('redisRendezvous', clients, CLIENTS)
  const { publisher, subscriber, prefix = 'mayfly' } = clients
  requireClient('redisRendezvous, as "publisher",', publisher, 'ioredis or redis')
  requireClient('redisRendezvous, as "subscriber",', subscriber, 'ioredis or redis')
  const { channels, report, ask } = connect(clients)
  const channelOf = (key: string) => `${prefix}:answer:${key}`
  return {
    async wait(key, deadline, signal): Promise<Awaited> {
      if (signal.aborted || deadline <= Date.now()) return { answer: Promise.resolve(undefined) }
      const channel = channelOf(key)
      const { answer, settle } = createWait(deadline, signal, () => channels.remove(channel, read))
      const read = createReader((value) => settle(value), report)
      const added = channels.add(channel, read).catch((error: unknown) => {
        report(error)
        settle(undefined)
      })
      await Promise.race([added, answer])
      return { answer }
    },
    async deliver(key, answer) {
      await ask(() => publisher.publish(channelOf(key), JSON.stringify(answer)))
    },
  }
}

/**
 * Creates a bus that carries change notifications between processes. Delivery is at most once, as with every bus. While Redis is down,
 * publishing and subscribing reject within a time limit; when it is back, listeners get the event `gap`.
 */
export function redisBus(clients: RedisClients): Bus {
  requireOptions('redisBus', clients, CLIENTS)
  const { publisher, subscriber, prefix } = clients
  if (publisher === undefined || subscriber === undefined)
    throw new TypeError(
      'redisBus needs two connected clients, "publisher" and "subscriber": a subscribing client cannot do anything else.',
    )
  const { channels, report, outages } = connect(clients)
  const open = (base: string): Wire => {
    const channel = `${base}:changes`
    return {
      send: (text) => publisher.publish(channel, text),
      receive({ onText, onReady, onLost }) {
        channels.add(channel, onText, onReady).then(onReady, onLost)
        return () => channels.remove(channel, onText)
      },
    }
  }
  const channel = createOwnedName('redisBus', 'prefix', prefix)
  return createWireBus(open, { ...clients, name: 'Redis', report, outages, channel })
}

/** Options of `redisSubscriptions`. */
export interface RedisSubscriptionsOptions extends OutageOptions, SubscriptionStoreOptions {
  /** Not the subscribing client, which cannot send other commands. */
  readonly client: RedisStoreClient
  /** Prefix of the keys. Default: the name of the server and its stage, such as `mayfly_shop`. */
  readonly prefix?: string
}

const SUBSCRIPTIONS: Names<RedisSubscriptionsOptions> = {
  client: 'object',
  prefix: 'string',
  ...OUTAGE_OPTIONS,
  ...SUBSCRIPTION_OPTIONS,
}

/**
 * Stores subscriptions of legacy clients, for all processes of a stateless server: one expiring set of URIs per session.
 *
 * ```ts
 * new MCPServer({ id, name, version, bus: redisBus({ publisher, subscriber }), subscriptions: redisSubscriptions({ client: publisher }) })
 * ```
 */
export function redisSubscriptions(options: RedisSubscriptionsOptions): Subscriptions {
  requireOptions('redisSubscriptions', options, SUBSCRIPTIONS)
  const { client, prefix } = options
  requireClient('redisSubscriptions', client, 'ioredis or redis')
  watchConnection(client, outagesOf(client, toReport(options, 'Redis')))
  const name = createOwnedName('redisSubscriptions', 'prefix', prefix)
  return createSubscriptions(createRedisStore(client, name, createAsk(options, 'Redis'), options))
}

interface Connection {
  readonly channels: Channels
  readonly report: Report
  readonly outages: Outages
  readonly ask: Ask
}

function connect(clients: RedisClients): Connection {
  const { publisher, subscriber } = clients
  const report = toReport(clients, 'Redis')
  const outages = outagesOf(publisher, report)
  watchConnection(publisher, outages)
  watchConnection(subscriber, outages)
  return { channels: channelsFor(subscriber), report, outages, ask: createAsk(clients, 'Redis') }
}

/** Parses messages as JSON. Reports invalid ones, since an error thrown here would end the process. */
function createReader(onValue: (value: unknown) => void, report: Report): (message: string) => void {
  return (message) => {
    try {
      onValue(JSON.parse(message))
    } catch (error) {
      report(error)
    }
  }
}
