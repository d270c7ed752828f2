/**
 * A bus on NATS, with a connection of `@nats-io/transport-node`, or any other connection of `@nats-io/nats-core`.
 */

import { type Names, requireOptions } from '../src/definition/unknown-option.ts'
import { OUTAGE_OPTIONS, type OutageOptions, toReport } from '../src/events/outage.ts'
import type { Bus } from '../src/index.ts'
import { requireClient } from './_bus/client.ts'
import { outagesOf } from './_bus/outages.ts'
import { createOwnedName } from './_bus/owned-name.ts'
import { createWireBus, type Wire, type WireEvents } from './_bus/wire-bus.ts'

export type { OutageOptions } from '../src/events/outage.ts'

/** The members of a connection. */
export interface NatsClient {
  publish(subject: string, payload: string): void
  flush(): Promise<void>
  subscribe(
    subject: string,
    options: { callback: (error: Error | null, message: { string(): string }) => void },
  ): { unsubscribe(): void }
  status(): AsyncIterable<{ readonly type: string; readonly error?: unknown }>
  isClosed(): boolean
}

/** Options of `natsBus`. */
export interface NatsBusOptions extends OutageOptions {
  /** `await connect({ servers, maxReconnectAttempts: -1 })`: by default the library gives up after ten attempts. */
  readonly client: NatsClient
  /** Prefix of the subject. Default: the name of the server and its stage, such as `mayfly_shop`. */
  readonly prefix?: string
}

const OPTIONS: Names<NatsBusOptions> = { client: 'object', prefix: 'string', ...OUTAGE_OPTIONS }

/** Microtask turns after the flush within which a refusal arrives. */
const STATUS_TURNS = 12

/**
 * Creates a bus that carries change notifications between processes. While NATS is down, publishing and subscribing reject within a time
 * limit; when it is back, listeners get the event `gap`.
 *
 * @throws TypeError for a prefix that is not a valid part of a subject.
 */
export function natsBus(options: NatsBusOptions): Bus {
  requireOptions('natsBus', options, OPTIONS)
  const { client, prefix } = options
  requireClient('natsBus', client, '@nats-io/transport-node')
  if (prefix !== undefined && (!/^[^\s*>]+$/.test(prefix) || /^\.|\.$|\.\./.test(prefix)))
    throw new TypeError(
      '"prefix" of natsBus must be a part of a subject: no spaces, "*" or ">", and no empty part.',
    )
  const report = toReport(options, 'NATS')
  let subject = ''
  // From the start, since it tells of losses only as they happen.
  const connection = watchStatus(client, () => subject)
  const open = (base: string): Wire => {
    subject = `${base}.changes`
    return {
      async send(text) {
        // The library would buffer published events without a limit.
        if (connection.lost !== undefined) throw connection.lost
        const before = connection.refusals
        client.publish(subject, text)
        await client.flush()
        // The server refuses before it answers the flush, and the refusal takes a few steps through the library's iterator.
        for (let turn = 0; turn < STATUS_TURNS && connection.refusals === before; turn++) await undefined
        if (connection.refusals > before) throw connection.refused
      },
      receive(events) {
        const { onText, onLost } = events
        let isRefused = false
        const onReady = (): void => {
          if (!isRefused) events.onReady()
        }
        // The server ends a subscription that it does not permit, and keeps the connection.
        const onRefused = (error: Error): void => {
          isRefused = true
          onLost(error)
        }
        const { unsubscribe } = begin(client, subject, onText, onRefused)
        const stop = connection.follow({ ...events, onReady })
        if (connection.lost === undefined) client.flush().then(onReady, onLost)
        else onLost(connection.lost)
        return () => {
          stop()
          unsubscribe()
        }
      },
    }
  }
  const channel = createOwnedName('natsBus', 'prefix', prefix)
  return createWireBus(open, {
    ...options,
    name: 'NATS',
    report,
    outages: outagesOf(client, report),
    channel,
  })
}

function begin(
  client: NatsClient,
  subject: string,
  onText: (text: string) => void,
  onRefused: (error: Error) => void,
): { unsubscribe(): void } {
  if (client.isClosed()) return { unsubscribe: () => {} }
  const subscription = client.subscribe(subject, {
    callback: (error, message) => {
      if (error === null) onText(message.string())
      else onRefused(error)
    },
  })
  return { unsubscribe: () => client.isClosed() || subscription.unsubscribe() }
}

interface Watched {
  /** Why nothing can be sent now. */
  readonly lost: Error | undefined
  /** How often the server refused to publish, and the last reason. */
  readonly refusals: number
  readonly refused: unknown
  follow(events: WireEvents): () => void
}

/** Follows the state of the connection, which resubscribes by itself. */
function watchStatus(client: NatsClient, subject: () => string): Watched {
  const closed = (): Error =>
    new Error('The connection to NATS is closed: pass maxReconnectAttempts: -1 to connect.')
  let lost = client.isClosed() ? closed() : undefined
  let refusals = 0
  let refused: unknown
  const followers = new Set<WireEvents>()
  const lose = (error: Error): void => {
    lost = error
    for (const { onLost } of followers) onLost(error)
  }
  const follow = async (): Promise<void> => {
    for await (const { type, error } of client.status()) {
      if (isRefusal(error, subject())) {
        refusals++
        refused = error
      }
      if (type === 'disconnect') lose(new Error('The connection to NATS is lost.'))
      if (type === 'close') lose(closed())
      if (type !== 'reconnect') continue
      lost = undefined
      // Once this is answered, earlier subscriptions are active.
      for (const { onReady, onLost } of followers) client.flush().then(onReady, onLost)
    }
  }
  void follow().catch(lose)
  return {
    get lost() {
      return lost
    },
    get refusals() {
      return refusals
    },
    get refused() {
      return refused
    },
    follow(events) {
      followers.add(events)
      return () => void followers.delete(events)
    },
  }
}

/** Whether the server refuses to publish on `subject`. It reports this on the connection, not to the publisher. */
function isRefusal(error: unknown, subject: string): boolean {
  const violation = (error ?? {}) as { operation?: unknown; subject?: unknown }
  return violation.operation === 'publish' && violation.subject === subject
}
