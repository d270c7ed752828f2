/**
 * A bus on Postgres, by `LISTEN` and `NOTIFY`, with `postgres` or `pg` as the client, which needs no table and no rights except connecting;
 * and stores of tasks, API keys, grants and Events in tables.
 */

import { withTimeout } from '../src/definition/timeout.ts'
import { type Names, requireOptions } from '../src/definition/unknown-option.ts'
import { OUTAGE_OPTIONS, type OutageOptions, toReport } from '../src/events/outage.ts'
import type { Bus } from '../src/index.ts'
import { requireClient } from './_bus/client.ts'
import { outagesOf, watchConnection } from './_bus/outages.ts'
import { createOwnedName } from './_bus/owned-name.ts'
import { createWireBus, type Wire } from './_bus/wire-bus.ts'
import { createJoiner, toPayloads } from './_postgres/chunks.ts'
import { refuseTypeFetch } from './_postgres/fetch-types.ts'
import { type PgPool, type PostgresSql, receiveWithPool, receiveWithSql } from './_postgres/receive.ts'

export type { OutageOptions } from '../src/events/outage.ts'
export {
  type PostgresEvents,
  type PostgresEventsOptions,
  postgresEventSchema,
  postgresEvents,
} from './_postgres/events.ts'
export {
  type PostgresGrants,
  type PostgresGrantsOptions,
  postgresGrantSchema,
  postgresGrants,
} from './_postgres/grants.ts'
export { postgresKeySchema } from './_postgres/key-schema.ts'
export {
  type PostgresKeyStore,
  type PostgresKeyStoreOptions,
  postgresKeyStore,
} from './_postgres/key-store.ts'
export type { PgConnection, PgPool, PostgresSql } from './_postgres/receive.ts'
export type { PostgresClient } from './_postgres/run.ts'
export { type PostgresTaskOwner, postgresTaskSchema } from './_postgres/task-schema.ts'
export {
  type PostgresTaskStore,
  type PostgresTaskStoreOptions,
  postgresTaskStore,
} from './_postgres/task-store.ts'

/** Options of `postgresBus`. */
export interface PostgresBusOptions extends OutageOptions {
  /**
   * `postgres(url, { fetch_types: false })` of the library `postgres`, or a `Pool` of `pg`. While there are listeners, one connection stays open. A pooler in
   * transaction mode, such as PgBouncer, cannot listen: connect to Postgres itself.
   */
  readonly client: PostgresSql | PgPool
  /** Prefix of the channel. Default: the name of the server and its stage, such as `mayfly_shop`. */
  readonly prefix?: string
}

const OPTIONS: Names<PostgresBusOptions> = { client: 'object', prefix: 'string', ...OUTAGE_OPTIONS }

/** Postgres truncates longer names. */
const MAX_CHANNEL_BYTES = 63

/**
 * Milliseconds for connecting, slightly less than the server waits for a bus: both libraries connect with their first statement, which
 * takes seconds on a busy machine or for a database that scales to zero.
 */
const FIRST_MS = 4500

/** Text, so that neither library converts it. With one statement, queued events are sent together and in order. */
const NOTIFY = 'SELECT pg_notify($1, payload) FROM json_array_elements_text($2::text::json) AS payload'

/**
 * Creates a bus that carries change notifications between processes. Events over Postgres' limit of 8000 bytes are sent in parts. While
 * Postgres is down, publishing and subscribing reject within a time limit; when it is back, listeners get the event `gap`.
 *
 * @throws TypeError for a prefix that is too long, and for a client of `postgres` with `fetch_types`.
 */
export function postgresBus(options: PostgresBusOptions): Bus {
  requireOptions('postgresBus', options, OPTIONS)
  const { client, prefix = '' } = options
  requireClient('postgresBus', client, 'pg or postgres')
  if (new TextEncoder().encode(toChannel(prefix)).length > MAX_CHANNEL_BYTES || prefix.includes('"'))
    throw new TypeError(
      `"prefix" of postgresBus must be at most ${MAX_CHANNEL_BYTES - 8} bytes, without quotes.`,
    )
  refuseTypeFetch(client, 'postgresBus')
  const report = toReport(options, 'Postgres')
  const outages = outagesOf(client, report)
  const isSql = 'listen' in client
  // A pool emits the errors of its idle connections.
  if (!isSql) watchConnection(client, outages)
  const open = (base: string): Wire => {
    const channel = toChannel(base)
    const receive = isSql ? receiveWithSql(client, channel) : receiveWithPool(client, channel)
    const query = (payloads: string): PromiseLike<unknown> =>
      isSql ? client.unsafe(NOTIFY, [channel, payloads]) : client.query(NOTIFY, [channel, payloads])
    return {
      send: createSender(query, options.timeoutMs ?? FIRST_MS),
      receive: (events) => receive({ ...events, onText: createJoiner(events.onText) }),
    }
  }
  const channel = createOwnedName('postgresBus', 'prefix', options.prefix)
  const firstMs = options.timeoutMs ?? FIRST_MS
  return createWireBus(open, { ...options, name: 'Postgres', report, outages, channel, firstMs })
}

function toChannel(prefix: string): string {
  return `${prefix}_changes`
}

/**
 * Sends one statement at a time, each with all queued events, since a pool would send several concurrently in any order. One that has not
 * settled within `limitMs` is not waited for: its connection may be dead while others of the pool work.
 */
function createSender(
  query: (payloads: string) => PromiseLike<unknown>,
  limitMs: number,
): (text: string) => Promise<void> {
  let waiting: string[] = []
  let sending: Promise<unknown> = Promise.resolve()
  let next: Promise<void> | undefined
  const send = async (): Promise<void> => {
    await sending
    const payloads = waiting
    waiting = []
    next = undefined
    const sent = Promise.resolve(query(JSON.stringify(payloads)))
    sending = withTimeout(sent, limitMs, 'Postgres server').catch(() => {})
    await sent
  }
  return (text) => {
    waiting.push(...toPayloads(text))
    next ??= send()
    return next
  }
}
