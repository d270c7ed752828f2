/**
 * Channels of a client that subscribes, of either library: `redis` calls a listener a channel, `ioredis` has one `message` event for
 * all of them.
 */

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

type Listener = (message: string) => void

export interface Channels {
  /** Resolves once messages would arrive, and rejects where they will not. May take as long as Redis is down. */
  add(channel: string, listener: Listener): Promise<void>
  /** Never throws. */
  remove(channel: string): void
}

export function createChannels(subscriber: RedisSubscriber): Channels {
  const subscribe = 'sSubscribe' in subscriber ? subscribeEach(subscriber) : subscribeAll(subscriber)
  const wanted = new Set<string>()
  /** Those that could not be left: the libraries subscribe to them again with each new connection. */
  const left = new Set<string>()
  const leave = async (channel: string): Promise<void> => {
    left.delete(channel)
    try {
      await subscriber.unsubscribe(channel)
    } catch {
      if (!wanted.has(channel)) left.add(channel)
    }
  }
  return {
    async add(channel, listener) {
      wanted.add(channel)
      left.delete(channel)
      for (const other of left) void leave(other)
      await subscribe(channel, listener)
    },
    remove(channel) {
      wanted.delete(channel)
      void leave(channel)
    },
  }
}

type Subscribe = (channel: string, listener: Listener) => unknown

function subscribeEach(subscriber: NodeRedisSubscriber): Subscribe {
  return (channel, listener) => subscriber.subscribe(channel, listener)
}

function subscribeAll(subscriber: IoRedisSubscriber): Subscribe {
  const listeners = new Map<string, Listener>()
  subscriber.on('message', (channel, message) => listeners.get(channel)?.(message))
  return (channel, listener) => {
    listeners.set(channel, listener)
    return subscriber.subscribe(channel)
  }
}
