/**
 * A rendezvous and a bus over Redis publish/subscribe, with `redis` or `ioredis` as the client. Nothing is stored: an answer
 * for which nobody waits is dropped by Redis itself.
 */
import type { Awaited, Bus, ChangeEvent, RateLimiter, Rendezvous } from '../src/index.ts'
import { createWait } from '../src/interaction/rendezvous.ts'

/** What is used of a client that publishes, of either library. */
export interface RedisPublisher {
  publish(channel: string, message: string): unknown
}

/** What is used of a client that subscribes. It can do nothing else meanwhile: use a client of its own. */
export type RedisSubscriber = NodeRedisSubscriber | IoRedisSubscriber

/** The library `redis`. */
export interface NodeRedisSubscriber {
  subscribe(channel: string, listener: (message: string) => void): unknown
  unsubscribe(channel: string): unknown
  /** Spelled so in this library alone, which is how it is told from the other. */
  sSubscribe: unknown
}

/** The library `ioredis`. */
export interface IoRedisSubscriber {
  subscribe(channel: string): unknown
  unsubscribe(channel: string): unknown
  on(event: 'message', listener: (channel: string, message: string) => void): unknown
}

export interface RedisClients {
  readonly publisher: RedisPublisher
  readonly subscriber: RedisSubscriber
  /** Prefix of the channels, for one Redis shared by several servers. Default `mayfly`. */
  readonly prefix?: string
}

/** What is used of a client that counts: `redis` and `ioredis` spell the second command differently. */
export type RedisCounter = { incr(key: string): Promise<number> } & (
  | { pExpire(key: string, ms: number): unknown }
  | { pexpire(key: string, ms: number): unknown }
)

export interface RedisRateLimiterOptions {
  readonly client: RedisCounter
  /** Calls that a caller may make in each window. */
  readonly calls: number
  /** Milliseconds. */
  readonly windowMs: number
  /** Prefix of the keys. Default `mayfly`. */
  readonly prefix?: string
}

/** Counts calls for all processes, in windows of the clock: each has a key of its own, which expires with it. */
export function redisRateLimiter({
  client,
  calls,
  windowMs,
  prefix = 'mayfly',
}: RedisRateLimiterOptions): RateLimiter {
  return {
    async limit(key) {
      const now = Date.now()
      const window = Math.floor(now / windowMs)
      const name = `${prefix}:rate:${window}:${key}`
      const count = await client.incr(name)
      if (count === 1)
        await ('pExpire' in client ? client.pExpire(name, windowMs) : client.pexpire(name, windowMs))
      if (count <= calls) return { ok: true }
      return { ok: false, retryAfterSeconds: Math.ceil(((window + 1) * windowMs - now) / 1000) }
    },
  }
}

/** Lets calls and answers that land on different processes meet. */
export function redisRendezvous({ publisher, subscriber, prefix = 'mayfly' }: RedisClients): Rendezvous {
  const channels = createChannels(subscriber)
  const channelOf = (key: string) => `${prefix}:answer:${key}`
  return {
    async wait(key, deadline, signal): Promise<Awaited> {
      const channel = channelOf(key)
      const wait = createWait(deadline, signal, () => channels.remove(channel))
      await channels.add(channel, (message) => wait.settle(JSON.parse(message)))
      return wait
    },
    async deliver(key, answer) {
      await publisher.publish(channelOf(key), JSON.stringify(answer))
    },
  }
}

/** Carries change notifications between processes. Delivery is at most once, as with every bus. */
export function redisBus({ publisher, subscriber, prefix = 'mayfly' }: RedisClients): Bus {
  const channels = createChannels(subscriber)
  const channel = `${prefix}:changes`
  const listeners = new Set<(event: ChangeEvent) => void>()
  return {
    async publish(event) {
      await publisher.publish(channel, JSON.stringify(event))
    },
    async subscribe(listener) {
      const entry = (event: ChangeEvent) => listener(event)
      listeners.add(entry)
      if (listeners.size === 1) {
        await channels.add(channel, (message) => {
          const event = JSON.parse(message) as ChangeEvent
          for (const one of listeners) one(event)
        })
      }
      return () => {
        listeners.delete(entry)
        if (listeners.size === 0) channels.remove(channel)
      }
    },
  }
}

interface Channels {
  add(channel: string, listener: (message: string) => void): Promise<void>
  remove(channel: string): void
}

/** `redis` calls a listener a channel; `ioredis` has one `message` event for all of them. */
function createChannels(subscriber: RedisSubscriber): Channels {
  if ('sSubscribe' in subscriber) {
    return {
      add: async (channel, listener) => void (await subscriber.subscribe(channel, listener)),
      remove: (channel) => void subscriber.unsubscribe(channel),
    }
  }
  const listeners = new Map<string, (message: string) => void>()
  subscriber.on('message', (channel, message) => listeners.get(channel)?.(message))
  return {
    async add(channel, listener) {
      listeners.set(channel, listener)
      await subscriber.subscribe(channel)
    },
    remove(channel) {
      listeners.delete(channel)
      void subscriber.unsubscribe(channel)
    },
  }
}
