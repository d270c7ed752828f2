/**
 * `LISTEN` with either library: `postgres` reconnects by itself, a pool of `pg` gives a connection that is replaced when it is lost.
 */
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

export interface PgConnection {
  on(
    event: 'notification',
    listener: (message: { channel: string; payload?: string | undefined }) => void,
  ): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
  on(event: 'end', listener: () => void): unknown
  query(text: string): Promise<unknown>
  release(destroy?: boolean): void
}

type Receive = (events: WireEvents) => () => void

const FIRST_RETRY_MS = 100
const LAST_RETRY_MS = 10_000

/**
 * One registration, whatever comes and goes: `postgres` goes on trying to listen after a failure, and would keep each further listener.
 */
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
        .catch(() => {}) // not listening, or cut off
    }
  }
}

export function receiveWithPool(pool: PgPool, channel: string): Receive {
  return ({ onText, onReady, onLost }) => {
    let isOver = false
    let timer: ReturnType<typeof setTimeout> | undefined
    let retryMs = FIRST_RETRY_MS
    let drop: (() => void) | undefined

    const attempt = async (): Promise<void> => {
      let isLost = false
      const lose = (error: unknown): void => {
        if (isLost) return
        isLost = true
        drop?.()
        drop = undefined
        if (isOver) return
        onLost(error)
        timer = setTimeout(attempt, retryMs)
        retryMs = Math.min(2 * retryMs, LAST_RETRY_MS)
      }
      try {
        const connection = await pool.connect()
        // Destroyed: returned to the pool, it would still listen.
        drop = () => connection.release(true)
        if (isOver) return lose(undefined)
        connection.on('error', lose)
        connection.on('end', () => lose(new Error('Postgres has closed the connection that listens.')))
        connection.on('notification', (message) => {
          if (message.channel === channel && !isOver) onText(message.payload ?? '')
        })
        await connection.query(`LISTEN "${channel}"`)
        retryMs = FIRST_RETRY_MS
        if (!isLost && !isOver) onReady()
      } catch (error) {
        lose(error)
      }
    }

    void attempt()
    return () => {
      isOver = true
      clearTimeout(timer)
      drop?.()
      drop = undefined
    }
  }
}
