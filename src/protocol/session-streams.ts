/**
 * Change notifications for legacy clients of a stateless server: `resources/subscribe` in any process writes to a store. The GET stream, in
 * any process, reads the store when it opens, and gets later changes from the bus. The sealed `Mcp-Session-Id` identifies the session. A
 * separate entry point, so that only servers with `subscriptions` load it.
 */

import { digest } from '../definition/digest.ts'
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'
import { withTimeout } from '../definition/timeout.ts'
import { wantedBy } from '../events/coalesced-changes.ts'
import { honoured, listsOf } from '../events/listen-filter.ts'
import { BUS_TIMEOUT_MS, createOutage, type Outage } from '../events/outage.ts'
import type { SubscriptionHolder, SubscriptionStore } from '../events/subscription-store.ts'
import { advertise, type ServerCapabilities } from '../interaction/advertise.ts'
import { mayRead, subscribable } from '../request/resources.ts'
import { conditionsOf } from './conditions.ts'
import type { EngineOptions, Incoming, StreamServer, Subscriptions } from './engine-options.ts'
import { BufferedReply, type Reply } from './reply.ts'
import { checkRoom } from './session-subscriptions.ts'
import { KEEP_ALIVE } from './sse-response.ts'

const DOWN = 'The store of subscriptions does not answer: try again later.'

/**
 * Creates subscriptions over a store of your own.
 *
 * ```ts
 * new MCPServer({ id, name, version, bus, subscriptions: createSubscriptions(store) })
 * ```
 */
export function createSubscriptions(store: SubscriptionStore): Subscriptions {
  if (typeof store !== 'object' || store === null)
    throw new TypeError(
      'createSubscriptions needs a store of subscriptions, such as that of redisSubscriptions.',
    )
  let outage: Outage | undefined
  const open = (incoming: Incoming, server: StreamServer): StoredSession | undefined => {
    const { session, options } = server
    if (session === undefined || !options.bus) return undefined
    outage ??= createOutage((error) => options.reportError(error, { subscriptions: true }))
    return new StoredSession(session, guard(store, outage), incoming, server)
  }
  return {
    attach: (owner) => store.attach?.(owner),
    async change(method, uri, incoming, server) {
      // Acknowledged as without a bus, since some clients call it without checking the capabilities.
      if (!capabilitiesOf(incoming, server.options).resources?.subscribe) return
      await open(incoming, server)?.change(uri, method === 'resources/subscribe')
    },
    handleStream(incoming, server) {
      const { method } = incoming.request
      const session = open(incoming, server)
      if (method === 'DELETE' && session !== undefined) return session.end()
      const capabilities = capabilitiesOf(incoming, server.options)
      if (method !== 'GET' || session === undefined || !canNotify(capabilities)) return notAllowed(incoming)
      return session.listen(capabilities)
    },
  }
}

/** The features that the degradation matrix allows. */
function capabilitiesOf(incoming: Incoming, options: EngineOptions): ServerCapabilities {
  const call = { era: 'legacy', protocolVersion: '', clientCapabilities: {} } as const
  return advertise(options.definition, conditionsOf(call, incoming, options))
}

function canNotify({ tools, prompts, resources }: ServerCapabilities): boolean {
  return [tools, prompts, resources].some((list) => list?.listChanged)
}

/** A message of a session. */
class StoredSession {
  readonly #token: string
  readonly #store: SubscriptionStore
  readonly #incoming: Incoming
  readonly #server: StreamServer

  constructor(token: string, store: SubscriptionStore, incoming: Incoming, server: StreamServer) {
    this.#token = token
    this.#store = store
    this.#incoming = incoming
    this.#server = server
  }

  /** Subscribes to a resource, or unsubscribes. A caller only gets notifications about what it may read. */
  async change(uri: string, isSubscribed: boolean): Promise<void> {
    const session = await keyOf(this.#token)
    const { definition, publish } = this.#server.options
    if (!isSubscribed) await this.#store.remove(session, uri)
    else if ((await subscribable(definition.resources, [uri], this.#incoming)).length === 0) return
    else {
      const known = new Set(await this.#store.list(session))
      if (!known.has(uri)) {
        checkRoom(known, uri)
        await this.#store.add(session, uri, await this.#holder())
      }
    }
    await publish({ type: 'sessionChanged', session, uri, isSubscribed })
  }

  async #holder(): Promise<SubscriptionHolder> {
    const { callerOf, callerShare } = this.#server.options
    const caller = callerOf(this.#incoming)
    return caller === undefined
      ? { caller: '', share: 1 }
      : { caller: await digest(caller), share: callerShare }
  }

  /** Ends the session: its streams, in any process, get no more changes. */
  async end(): Promise<Reply> {
    const session = await keyOf(this.#token)
    await this.#store.clear(session)
    await this.#server.options.publish({ type: 'sessionChanged', session, isSubscribed: false })
    return new BufferedReply(null, 200, this.#incoming.headers)
  }

  /** Opens the stream. */
  async listen(capabilities: ServerCapabilities): Promise<Reply> {
    const session = await keyOf(this.#token)
    const { options, open } = this.#server
    const { definition, feed } = options
    const wanted = wantedBy(honoured(listsOf(definition), capabilities))
    const want = (uri: string): boolean => {
      const isNew = !wanted.has(uri) && mayRead(definition.resources, this.#incoming.access, uri)
      if (isNew) wanted.set(uri, 0)
      return isNew
    }
    const stored = (await this.#store.list(session)).filter(want)
    const join: typeof feed.join = async (listener) => {
      let hasLeft = false
      /** Updates of subscriptions that this process did not see may have been missed, too. */
      const readAgain = async (): Promise<void> => {
        const uris = await this.#store.list(session)
        if (!hasLeft) for (const uri of uris.filter(want)) listener({ type: 'resourceUpdated', uri })
      }
      const leave = await feed.join((event) => {
        if (event.type === 'sessionChanged') {
          if (event.session !== session) return
          if (event.uri === undefined) wanted.clear()
          else if (event.isSubscribed) want(event.uri)
          else wanted.delete(event.uri)
          return
        }
        listener(event)
        if (event.type === 'gap') readAgain().catch(() => {}) // reported
      })
      try {
        await readAgain()
      } catch (error) {
        leave()
        throw error
      }
      // A client that subscribed before it opened this stream may have missed changes.
      if (stored.length > 0) listener({ type: 'gap' })
      return () => {
        hasLeft = true
        leave()
      }
    }
    // An immediate comment, since platforms limit the time to the first byte.
    return open(wanted, { acknowledged: KEEP_ALIVE, ended: '', meta: undefined }, this.#incoming, join)
  }
}

/** A store that may be down: each outage is reported once. */
function guard(store: SubscriptionStore, outage: Outage): SubscriptionStore {
  const attempt = async <Value>(work: () => Value | Promise<Value>): Promise<Value> => {
    try {
      const value = await withTimeout(work(), BUS_TIMEOUT_MS, 'store of subscriptions')
      outage.end()
      return value
    } catch (cause) {
      outage.begin(cause)
      throw new ProtocolError(ErrorCode.internal, DOWN, undefined, { status: 503, cause })
    }
  }
  return {
    add: (session, uri, holder) => attempt(() => store.add(session, uri, holder)),
    remove: (session, uri) => attempt(() => store.remove(session, uri)),
    list: (session) => attempt(() => store.list(session)),
    clear: (session) => attempt(() => store.clear(session)),
  }
}

/** The key of a session in the store and on the bus, which does not reveal its id. */
function keyOf(token: string): Promise<string> {
  return digest(token)
}

function notAllowed({ headers }: Incoming): Reply {
  return new BufferedReply(null, 405, { ...headers, allow: 'POST, OPTIONS' })
}
