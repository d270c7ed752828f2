/**
 * A subscription over a WebSocket that reconnects. It runs in the request that subscribed, since workerd binds sockets and timers to the
 * request that created them.
 */
import { createRetry } from '../../src/definition/backoff.ts'
import type { WorkerSocket } from './durable-object.ts'

/** The object's runtime answers a ping without waking the object. */
export const PING = 'ping'
export const PONG = 'pong'

/** The delays until a lost connection is opened again. */
const RETRIES = { firstMs: 1000, maxMs: 60_000 }

export interface SubscriptionOptions {
  /** Rejects within a time limit if it cannot connect. */
  readonly connect: () => Promise<WorkerSocket>
  /** Called with each message except pongs. */
  readonly onMessage: (data: unknown) => void
  /** Called with each pong. */
  readonly onAlive: () => void
  /** Called when the connection is lost, but not for failed attempts to reopen it. */
  readonly onLost: (error: Error) => void
  /** Called when a lost connection was reopened. */
  readonly onBack: () => void
  /** Milliseconds between pings. A connection without a pong at the next ping is lost. */
  readonly pingMs: number
}

/**
 * Resolves with a function that ends the subscription.
 *
 * @throws the error of the first attempt to connect.
 */
export async function subscribeBySocket(options: SubscriptionOptions): Promise<() => void> {
  const { connect, onLost, onBack } = options
  let hangUp = (): void => {}
  let isOver = false

  const open = async (): Promise<void> => {
    const socket = await connect()
    const openedAt = Date.now()
    hangUp = holdSocket(socket, options, (error) => {
      // A connection that is lost repeatedly is reopened with growing delays.
      if (Date.now() - openedAt > RETRIES.maxMs) retry.reset()
      onLost(error)
      retry.later()
    })
    if (isOver) hangUp()
  }
  const openAgain = async (): Promise<void> => {
    try {
      await open()
    } catch {
      retry.later()
      return
    }
    if (!isOver) onBack()
  }
  // Streams that lost their connections together reconnect at different times.
  const retry = createRetry(openAgain, RETRIES, (delayMs) => delayMs * (0.5 + Math.random() / 2))

  await open()
  return () => {
    isOver = true
    retry.stop()
    hangUp()
  }
}

/** Returns a function that closes the socket. Calls `onLost` once if the socket ends in any other way. */
function holdSocket(
  socket: WorkerSocket,
  { onMessage, onAlive, pingMs }: SubscriptionOptions,
  onLost: (error: Error) => void,
): () => void {
  let isOpen = true
  let isPongDue = false
  const end = (): void => {
    isOpen = false
    clearInterval(timer)
    try {
      socket.close()
    } catch {
      // It has failed before.
    }
  }
  const lose = (how: string): void => {
    if (!isOpen) return
    end()
    onLost(new Error(`The connection to the Durable Object ${how}.`))
  }
  const timer = setInterval(() => {
    if (isPongDue) return lose('is silent')
    isPongDue = true
    socket.send(PING)
  }, pingMs)
  socket.addEventListener('message', ({ data }) => {
    if (data !== PONG) {
      if (isOpen) onMessage(data)
      return
    }
    isPongDue = false
    onAlive()
  })
  socket.addEventListener('close', () => lose('was closed'))
  socket.addEventListener('error', () => lose('failed'))
  socket.accept()
  return () => {
    if (isOpen) end()
  }
}
