/** A real redis-server that can be killed, frozen and started again on its port, and clients of both libraries. */
import { once } from 'node:events'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import type { RedisClients, RedisCounter } from '../../../adapters/redis.ts'
import { startRedis } from '../node/_processes.ts'

export type Library = 'redis' | 'ioredis'

export interface Instance {
  readonly url: string
  /** As a crash: nothing is said to its clients. */
  kill(): Promise<void>
  start(): Promise<void>
  /** Takes connections and commands, and answers nothing. */
  freeze(): void
  thaw(): void
  /** The channels that somebody is subscribed to. */
  channels(): Promise<string[]>
  /** A command, on a connection for it alone. */
  command(...args: [string, ...string[]]): Promise<unknown>
  stop(): Promise<void>
}

export async function startInstance(): Promise<Instance> {
  let running = await startRedis()
  const { href: url, port } = running.url
  const command = async (...args: [string, ...string[]]): Promise<unknown> => {
    const [name, ...rest] = args
    const client = new Redis(url)
    try {
      return await client.call(name, ...rest)
    } finally {
      client.disconnect()
    }
  }
  return {
    url,
    command,
    channels: async () => (await command('PUBSUB', 'CHANNELS')) as string[],
    async kill() {
      const exit = once(running.child, 'exit')
      running.child.kill('SIGKILL')
      await exit
    },
    async start() {
      running = await startRedis(Number(port))
    },
    freeze: () => void running.child.kill('SIGSTOP'),
    thaw: () => void running.child.kill('SIGCONT'),
    async stop() {
      running.child.kill('SIGCONT')
      await running.stop()
    },
  }
}

export interface Connected {
  /** For the bus and the rendezvous. */
  readonly channels: Pick<RedisClients, 'publisher' | 'subscriber'>
  readonly counter: RedisCounter
  close(): void
}

/** Nobody listens to what the clients say of their connections, as in a server that was written in a hurry. */
export async function connect(library: Library, url: string): Promise<Connected> {
  if (library === 'ioredis') {
    const [publisher, subscriber] = [new Redis(url), new Redis(url)]
    await Promise.all([publisher.ping(), subscriber.ping()])
    return {
      channels: { publisher, subscriber },
      counter: publisher,
      close: () => {
        publisher.disconnect()
        subscriber.disconnect()
      },
    }
  }
  const publisher = await createClient({ url }).connect()
  const subscriber = await publisher.duplicate().connect()
  return {
    channels: { publisher, subscriber },
    counter: publisher,
    close: () => {
      publisher.destroy()
      subscriber.destroy()
    },
  }
}
