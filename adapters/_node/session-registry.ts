/**
 * The sessions of one process: opened by `initialize`; ended by their client, by being idle, or with the process.
 */
import type { AuthInfo, MCPServer } from '../../src/index.ts'
import type { Session } from '../../src/protocol/session.ts'
import type { StreamOwner } from '../../src/protocol/stream-expiry.ts'
import type { RequestPlatform } from '../../src/request/platform.ts'
import { createExchanges, type Exchanges } from './exchanges.ts'
import { unref } from './expiry.ts'
import { guardHooks, type Hooks } from './hooks.ts'
import { loadStreamable } from './packages.ts'
import { connect, type Deliveries, type SdkTransport } from './transport.ts'

export interface HttpTransport extends SdkTransport {
  handleRequest(request: Request, options: { authInfo: AuthInfo; parsedBody?: unknown }): Promise<Response>
}

export interface Entry {
  readonly transport: HttpTransport
  readonly session: Session
  /** The owner: for another principal the session does not exist. */
  readonly principal: string
  readonly exchanges: Exchanges
  /** The caller that opened the notification stream; undefined if there is none and missed events are not stored. */
  streamOwner: StreamOwner | undefined
  /** The number of open requests and streams. */
  open: number
  /** Since when nothing is open, in milliseconds since the epoch; undefined while something is. */
  idleSince: number | undefined
  timer: ReturnType<typeof setTimeout> | undefined
}

export interface RegistryOptions {
  readonly parts: ReturnType<MCPServer['getSessionParts']>
  readonly next: Deliveries['next']
  /** The user's hooks and options, with further hooks for the SDK's transport. */
  readonly transport: Hooks & { readonly enableJsonResponse?: boolean }
  readonly idleMs: number
}

export interface Registry {
  readonly size: number
  find(id: string): Entry | undefined
  /**
   * Creates a session, which is found by its id after `initialize`. `platform` is the platform of the opening request. `onEnd` may be
   * called more than once.
   */
  open(principal: string, platform: RequestPlatform, onEnd: () => void): Promise<Entry>
  /** Ends a session; it is no longer found. */
  end(entry: Entry): void
  /** Called when a notification stream was opened. Returns a function to call when it has ended. */
  listen(entry: Entry, streamOwner: StreamOwner): () => void
  /** Called when a request or a stream of the session begins. */
  enter(entry: Entry): void
  /** Called when it has ended. After the last one, the idle time starts; a session that was not initialized ends immediately. */
  leave(entry: Entry): void
  /** Waits for running calls, then ends every session. */
  close(graceMs: number): Promise<void>
}

export function createRegistry({ parts, next, transport: options, idleMs }: RegistryOptions): Registry {
  const entries = new Map<string, Entry>()

  const forget = ({ transport, timer }: Entry): void => {
    clearTimeout(timer)
    if (transport.sessionId !== undefined) entries.delete(transport.sessionId)
  }

  const open: Registry['open'] = async (principal, platform, onEnd) => {
    const { WebStandardStreamableHTTPServerTransport: Transport } = await loadStreamable()
    const { onsessioninitialized, ...hooks } = guardHooks(options, parts.onFault)
    const isBuffered = options.enableJsonResponse === true
    const exchanges = createExchanges(() => transport, isBuffered)
    const transport: HttpTransport = new Transport({
      ...(options as object),
      ...(hooks as object),
      onsessioninitialized: (id) => {
        entries.set(id, entry)
        return onsessioninitialized(id)
      },
    })
    const { close } = transport
    // Also called by the transport, when its client ends the session.
    transport.close = () => {
      exchanges.end()
      return close.call(transport)
    }
    // Later requests of the session reach the same process.
    const session = connect(parts, transport, platform, {
      next,
      endings: exchanges,
      streamOwner: () => entry.streamOwner,
      isBuffered,
    })
    const entry: Entry = {
      transport,
      session,
      principal,
      exchanges,
      streamOwner: undefined,
      open: 0,
      idleSince: undefined,
      timer: undefined,
    }
    transport.onclose = () => {
      session.close()
      forget(entry)
      onEnd()
    }
    return entry
  }

  return {
    get size() {
      return entries.size
    },
    find: (id) => entries.get(id),
    open,
    end(entry) {
      forget(entry)
      void entry.transport.close()
    },
    listen(entry, streamOwner) {
      entry.streamOwner = streamOwner
      return () => {
        if (entry.streamOwner !== streamOwner) return
        // With a store, events are stored until the client is back with its next token.
        entry.streamOwner = options.eventStore && { ...streamOwner, auth: undefined }
      }
    },
    enter(entry) {
      entry.open++
      entry.idleSince = undefined
      clearTimeout(entry.timer)
    },
    leave(entry) {
      entry.open--
      const { transport, session } = entry
      // Its `initialize` was refused, for example because of a limit.
      if (session.client.declared === undefined) void transport.close()
      else if (entry.open === 0 && entries.get(transport.sessionId ?? '') === entry) {
        entry.idleSince = Date.now()
        entry.timer = setTimeout(() => void transport.close(), idleMs)
        unref(entry.timer)
      }
    },
    async close(graceMs) {
      let timer: ReturnType<typeof setTimeout> | undefined
      const grace = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, graceMs)
      })
      const running = [...entries.values()].map(({ session }) => session.settled())
      await Promise.race([Promise.all(running), grace])
      clearTimeout(timer)
      await Promise.all([...entries.values()].map(({ transport }) => transport.close()))
    },
  }
}
