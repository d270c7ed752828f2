/** The client of a server: connects at the first use, reconnects after a lost connection, and closes the old one when it is idle. */

import { type Client, SseError } from '@modelcontextprotocol/client'
import { isA } from '../definition/error-text.ts'
import { disconnect, isSessionLost, isSessionUnknown } from './connect.ts'

export interface ReconnectingClientEvents {
  connect(): Promise<Client>
  /** The connection was lost. */
  onLost(): void
  /** Called with an error that no caller receives. */
  onError(error: Error): void
}

interface Open {
  readonly client: Client
  /** The number of running requests. */
  users: number
  isRetired: boolean
}

export class ReconnectingClient {
  readonly #events: ReconnectingClientEvents
  /** Connections that are being closed. */
  readonly #leaving = new Set<Promise<void>>()
  #opening: Promise<Open> | undefined
  #isClosed = false

  constructor(events: ReconnectingClientEvents) {
    this.#events = events
  }

  /**
   * Runs `work` on the open connection. If the server lost the session, runs it again on a new connection: if the server reports this as
   * the protocol defines, since nothing was done then, or if `work` may be repeated.
   */
  async use<T>(
    work: (client: Client) => Promise<T>,
    { mayRepeat }: { readonly mayRepeat: boolean },
  ): Promise<T> {
    const opening = this.#open()
    const open = await opening
    try {
      return await this.#count(open, work)
    } catch (error) {
      const isLost = isSessionLost(open.client, error)
      if (!isLost && !isSessionUnknown(open.client, error)) throw error
      this.#retire(opening)
      if (!isLost && !mayRepeat) throw error
      return await this.#count(await this.#open(), work)
    }
  }

  /** Makes `close` wait for this, too. */
  await(closing: Promise<void>): void {
    const left = closing.finally(() => this.#leaving.delete(left))
    this.#leaving.add(left)
  }

  /** Later calls get a new connection; running calls stay on this one. */
  replace(): void {
    this.#retire(this.#opening)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const opening = this.#opening
    this.#opening = undefined
    const open = await opening?.catch(() => undefined)
    if (open !== undefined) this.#leave(open)
    while (this.#leaving.size > 0) await Promise.all(this.#leaving)
  }

  #open(): Promise<Open> {
    if (this.#opening !== undefined) return this.#opening
    const forget = (): void => {
      if (this.#opening === opening) this.#opening = undefined
    }
    const opening: Promise<Open> = this.#connect(forget)
    this.#opening = opening
    opening.catch(forget)
    return opening
  }

  async #connect(forget: () => void): Promise<Open> {
    const client = await this.#events.connect()
    const open: Open = { client, users: 0, isRetired: false }
    client.onclose = () => {
      forget()
      this.#events.onLost()
    }
    client.onerror = (error) => this.#onError(open, error)
    return open
  }

  #onError(open: Open, error: Error): void {
    if (open.isRetired || this.#isClosed) return
    // The SSE stream was the session: no answer can arrive, and a new stream would be a new session.
    if (isA(error, SseError)) void open.client.close()
    // Waiting callers already get the error by their rejection.
    if (open.users === 0) this.#events.onError(error)
  }

  async #count<T>(open: Open, work: (client: Client) => Promise<T>): Promise<T> {
    open.users++
    try {
      return await work(open.client)
    } finally {
      open.users--
      if (open.isRetired && open.users === 0) this.#leave(open)
    }
  }

  #retire(opening: Promise<Open> | undefined): void {
    if (this.#opening === opening) this.#opening = undefined
    opening
      ?.then((open) => {
        open.isRetired = true
        if (open.users === 0) this.#leave(open)
      })
      .catch(() => {})
  }

  #leave({ client }: Open): void {
    this.await(disconnect(client))
  }
}
