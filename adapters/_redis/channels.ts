/**
 * Channels of a client that subscribes, of either library: `redis` calls a listener a channel, `ioredis` has one `message` event for
 * all of them.
 */

/** What is used of a client that subscribes. It can do nothing else meanwhile: use a separate client. */
export type RedisSubscriber = NodeRedisSubscriber | IoRedisSubscriber

/** The library `redis`. */
export interface NodeRedisSubscriber {
  subscribe(channel: string, listener: (message: string, channel: string) => void): unknown
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
  add(name: string, listener: Listener): Promise<void>
  /** Never throws. */
  remove(name: string, listener: Listener): void
}

interface Channel {
  readonly listeners: Set<Listener>
  /** Settles when the first listener's subscription has; undefined without one. */
  subscribed: Promise<void> | undefined
  /** Whether the client has subscribed, as of its last command. */
  isOpen: boolean
  /** The last command for it. The next one waits: an answer that comes late to one would be taken for that of the other. */
  turn: Promise<unknown>
}

/** By client: all that use one share its channels, so that one that leaves takes nothing from the others. */
const channelsOf = new WeakMap<RedisSubscriber, Channels>()

export function channelsFor(subscriber: RedisSubscriber): Channels {
  const known = channelsOf.get(subscriber)
  if (known !== undefined) return known
  const channels = createChannels(subscriber)
  channelsOf.set(subscriber, channels)
  return channels
}

function createChannels(subscriber: RedisSubscriber): Channels {
  const all = new Map<string, Channel>()
  /** Those that could not be left: the libraries subscribe to them again with each new connection. */
  const left = new Set<string>()
  const subscribe = subscribeWith(subscriber, (name, message) => {
    for (const listener of all.get(name)?.listeners ?? []) listener(message)
  })
  const next = <T>(channel: Channel, command: () => T | PromiseLike<T>): Promise<T> => {
    const done = channel.turn.then(command, command)
    channel.turn = done.catch(() => {})
    return done
  }
  const open = (name: string): Channel => {
    const channel = all.get(name) ?? {
      listeners: new Set(),
      subscribed: undefined,
      isOpen: false,
      turn: Promise.resolve(),
    }
    all.set(name, channel)
    return channel
  }
  const leave = (name: string): void => {
    left.delete(name)
    const channel = open(name)
    channel.subscribed = undefined
    void next(channel, async () => {
      if (channel.listeners.size > 0) return
      try {
        await subscriber.unsubscribe(name)
        channel.isOpen = false
      } catch {
        left.add(name)
      }
      if (channel.listeners.size === 0) all.delete(name)
    })
  }
  return {
    add(name, listener) {
      for (const other of left) if (other !== name) leave(other)
      left.delete(name)
      const channel = open(name)
      channel.listeners.add(listener)
      if (channel.subscribed !== undefined) return channel.subscribed
      const subscribed = next(channel, async () => {
        if (channel.listeners.size === 0 || channel.isOpen) return
        await subscribe(name)
        channel.isOpen = true
      })
      channel.subscribed = subscribed
      subscribed.catch(() => {
        if (channel.subscribed === subscribed) channel.subscribed = undefined
      })
      return subscribed
    },
    remove(name, listener) {
      const channel = all.get(name)
      if (channel?.listeners.delete(listener) && channel.listeners.size === 0) leave(name)
    },
  }
}

function subscribeWith(
  subscriber: RedisSubscriber,
  onMessage: (name: string, message: string) => void,
): (name: string) => unknown {
  if (!('sSubscribe' in subscriber)) {
    subscriber.on('message', onMessage)
    return (name) => subscriber.subscribe(name)
  }
  // One function for all: it is told once, also where the library has subscribed to a channel by itself.
  const listener = (message: string, name: string): void => onMessage(name, message)
  return (name) => subscriber.subscribe(name, listener)
}
