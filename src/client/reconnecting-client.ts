/** The client of a server: connects when first used, reconnects when the connection is lost, closes it once nothing is under way on it. */
import { type Client, SseError } from '@modelcontextprotocol/client'
import { disconnect, isSessionLost, isSessionUnknown } from './transport.ts'

export interface ReconnectingClientEvents {
  connect(): Promise<Client>
  /** The connection is gone. */
  onLost(): void
  /** Told of an error that no caller waits for. */
  onError(error: Error): void
}

interface Open {
  readonly client: Client
  /** Requests that are under way. */
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
   * Does `work` on the open connection. Where the server has lost the session, once more on a new one: if it says so in the
   * protocol's way, for then nothing was done, or if `work` may be done twice.
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

  /** `close` waits for this as well. */
  await(closing: Promise<void>): void {
    const left = closing.finally(() => this.#leaving.delete(left))
    this.#leaving.add(left)
  }

  /** Later calls get another connection; running calls stay on this one. */
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
    // Its stream was the session: no answer can come any more, and another stream would be another session.
    if (error instanceof SseError) void open.client.close()
    // Waiting callers are told by a rejection.
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
