/**
 * The channels of a subscribing client, for either library: `redis` calls one listener per channel, `ioredis` emits one `message` event
 * for all of them.
 */

/** The members of a subscribing client. It cannot send other commands while subscribed: use a separate client. */
export type RedisSubscriber = NodeRedisSubscriber | IoRedisSubscriber

/** The library `redis`. */
export interface NodeRedisSubscriber {
  subscribe(channel: string, listener: (message: string, channel: string) => void): unknown
  unsubscribe(channel: string): unknown
  /** Only this library uses this spelling, which distinguishes the two. */
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
  /**
   * Resolves once messages can arrive; rejects if they cannot. May take as long as Redis is down. `onBack` is called when messages arrive
   * again after a lost connection.
   */
  add(name: string, listener: Listener, onBack?: () => void): Promise<void>
  /** Never throws. */
  remove(name: string, listener: Listener): void
}

interface Channel {
  /** Listeners with their callbacks for when the connection is back. */
  readonly listeners: Map<Listener, (() => void) | undefined>
  /** Settles with the subscription of the first listener; undefined without listeners. */
  subscribed: Promise<void> | undefined
  /** Whether the client is subscribed, as of its last command. */
  isOpen: boolean
  /** The last command for this channel. The next one waits for it, since a late reply could be mistaken for the next one's. */
  turn: Promise<unknown>
}

/** By client: its users share the channels, so that unsubscribing does not affect other users. */
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
  /** Channels that could not be unsubscribed: the libraries subscribe to them again with each new connection. */
  const left = new Set<string>()
  const subscribe = subscribeWith(subscriber, (name, message) => {
    for (const listener of all.get(name)?.listeners.keys() ?? []) listener(message)
  })
  const next = <T>(channel: Channel, command: () => T | PromiseLike<T>): Promise<T> => {
    const done = channel.turn.then(command, command)
    channel.turn = done.catch(() => {})
    return done
  }
  // The libraries subscribe again by themselves; the reply to this one comes after theirs.
  onReady(subscriber, () => {
    for (const [name, channel] of all) {
      if (!channel.isOpen) continue
      void next(channel, async () => {
        if (channel.listeners.size === 0) return
        await subscribe(name)
        for (const onBack of channel.listeners.values()) onBack?.()
      }).catch(() => {}) // lost again
    }
  })
  const open = (name: string): Channel => {
    const channel = all.get(name) ?? {
      listeners: new Map(),
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
    add(name, listener, onBack) {
      for (const other of left) if (other !== name) leave(other)
      left.delete(name)
      const channel = open(name)
      channel.listeners.set(listener, onBack)
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

/** Calls `listener` whenever the client connects, including the first time. */
function onReady(subscriber: object, listener: () => void): void {
  const emitter = subscriber as { on?(event: string, listener: () => void): unknown }
  emitter.on?.('ready', listener)
}

function subscribeWith(
  subscriber: RedisSubscriber,
  onMessage: (name: string, message: string) => void,
): (name: string) => unknown {
  if (!('sSubscribe' in subscriber)) {
    subscriber.on('message', onMessage)
    return (name) => subscriber.subscribe(name)
  }
  // The same function for all channels, so it is called once, even if the library itself subscribed again.
  const listener = (message: string, name: string): void => onMessage(name, message)
  return (name) => subscriber.subscribe(name, listener)
}
