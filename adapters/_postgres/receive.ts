/**
 * `LISTEN` with either library: `postgres` reconnects by itself, a pool of `pg` gives a connection that is replaced when it is lost.
 */
import { createRetry } from '../../src/definition/backoff.ts'
import { withTimeout } from '../../src/definition/timeout.ts'
import type { WireEvents } from '../_bus/wire-bus.ts'

/** The members of an instance of the library `postgres`. */
export interface PostgresSql {
  unsafe(query: string, parameters: string[]): PromiseLike<unknown>
  listen(
    channel: string,
    onNotify: (payload: string) => void,
    onListen: () => void,
  ): PromiseLike<{ unlisten(): PromiseLike<void> }>
}

/** The members of a `Pool` of the library `pg`. */
export interface PgPool {
  query(text: string, values: string[]): Promise<unknown>
  connect(): Promise<PgConnection>
}

interface Notification {
  readonly channel: string
  readonly payload?: string | undefined
}

export interface PgConnection {
  on(event: 'notification', listener: (message: Notification) => void): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
  on(event: 'end', listener: () => void): unknown
  removeListener(event: 'notification', listener: (message: Notification) => void): unknown
  removeListener(event: 'error', listener: (error: Error) => void): unknown
  removeListener(event: 'end', listener: () => void): unknown
  query(text: string): Promise<unknown>
  release(destroy?: boolean): void
}

type Receive = (events: WireEvents) => () => void

const RETRIES = { firstMs: 100, maxMs: 10_000 }

/** Milliseconds after which a connection that does not answer is closed instead of returned. */
const UNLISTEN_MS = 2000

/** A single registration: `postgres` keeps trying to listen after a failure, and would keep each further listener. */
export function receiveWithSql(sql: PostgresSql, channel: string): Receive {
  let current: WireEvents | undefined
  let isListening = false
  let registered: Promise<{ unlisten(): PromiseLike<void> }> | undefined
  const register = async (): Promise<{ unlisten(): PromiseLike<void> }> =>
    sql.listen(
      channel,
      (payload) => current?.onText(payload),
      () => {
        isListening = true
        current?.onReady()
      },
    )
  return (events) => {
    current = events
    if (registered === undefined) {
      isListening = false
      registered = register()
    } else if (isListening) events.onReady()
    registered.catch((error: unknown) => isListening || events.onLost(error))
    return () => {
      if (current === events) current = undefined
      registered
        ?.then(async ({ unlisten }) => {
          if (current !== undefined) return
          registered = undefined
          await unlisten()
        })
        .catch(() => {}) // not listening, or disconnected
    }
  }
}

export function receiveWithPool(pool: PgPool, channel: string): Receive {
  return ({ onText, onReady, onLost }) => {
    let isOver = false
    let held: Held | undefined

    const attempt = async (): Promise<void> => {
      let isLost = false
      const lose = (error: unknown): void => {
        if (isLost) return
        isLost = true
        held?.drop()
        held = undefined
        if (isOver) return
        onLost(error)
        retry.later()
      }
      try {
        const connection = await pool.connect()
        const mine = hold(connection, channel, { onText: (text) => isOver || onText(text), onLost: lose })
        if (isOver) return mine.drop()
        held = mine
        await connection.query(`LISTEN "${channel}"`)
        retry.reset()
        if (!isLost && !isOver) onReady()
      } catch (error) {
        lose(error)
      }
    }

    const retry = createRetry(attempt, RETRIES)
    void attempt()
    return () => {
      isOver = true
      retry.stop()
      held?.giveBack()
      held = undefined
    }
  }
}

interface Held {
  /** Closes the connection. */
  drop(): void
  /** Returns it to the pool once it no longer listens, so that successive streams do not open a connection each. */
  giveBack(): void
}

function hold(
  connection: PgConnection,
  channel: string,
  { onText, onLost }: Pick<WireEvents, 'onText' | 'onLost'>,
): Held {
  const onEnd = (): void => onLost(new Error('Postgres closed the listening connection.'))
  const onNotification = (message: Notification): void => {
    if (message.channel === channel) onText(message.payload ?? '')
  }
  connection.on('error', onLost)
  connection.on('end', onEnd)
  connection.on('notification', onNotification)
  let isHeld = true
  const release = (destroy: boolean): void => {
    if (!isHeld) return
    isHeld = false
    // An error without a listener would end the process; the pool listens from here on.
    connection.release(destroy)
    connection.removeListener('error', onLost)
    connection.removeListener('end', onEnd)
    connection.removeListener('notification', onNotification)
  }
  return {
    drop: () => release(true),
    giveBack() {
      withTimeout(connection.query(`UNLISTEN "${channel}"`), UNLISTEN_MS, 'Postgres server').then(
        () => release(false),
        () => release(true),
      )
    },
  }
}
