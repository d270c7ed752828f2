/** Subscriptions of legacy clients in a Durable Object, one per server: a table of URIs by session in its own SQLite. */

import { type Names, refuseUnknown } from '../src/definition/unknown-option.ts'
import type { OutageOptions } from '../src/events/outage.ts'
import {
  DEFAULT_TTL_MS,
  type SubscriptionStore,
  type SubscriptionStoreOptions,
} from '../src/events/subscription-store.ts'
import { createSubscriptions, type Subscriptions } from '../src/subscriptions.ts'
import { createAsk } from './_bus/ask.ts'
import type { DurableObjectNamespace, StorageState } from './_cloudflare/durable-object.ts'

/** Options of `durableObjectSubscriptions`. */
export interface DurableObjectSubscriptionsOptions
  extends SubscriptionStoreOptions,
    Pick<OutageOptions, 'timeoutMs'> {
  /** The object's name: pass the server's `id`, so that each server has its own object. Default `mayfly`. */
  readonly name?: string
}

const OPTIONS: Names<DurableObjectSubscriptionsOptions> = { name: 1, ttlMs: 1, timeoutMs: 1 }

const OBJECT_URL = 'https://subscriptions/'

/** Maximum expired sessions that are deleted with each added URI. */
const SWEPT = 100

const TABLES = `
CREATE TABLE IF NOT EXISTS sessions (session TEXT PRIMARY KEY, expiresAt INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS byExpiry ON sessions (expiresAt);
CREATE TABLE IF NOT EXISTS subscriptions (session TEXT, uri TEXT, PRIMARY KEY (session, uri)) WITHOUT ROWID;`

/** A request to the object. */
interface Asked {
  readonly what: keyof SubscriptionStore
  readonly session: string
  readonly uri?: string
  readonly ttlMs: number
}

/**
 * The Durable Object class: export it from your Worker and bind it.
 *
 * ```toml
 * [[durable_objects.bindings]]
 * name = "SUBSCRIPTIONS"
 * class_name = "MayflySubscriptions"
 *
 * [[migrations]]
 * tag = "mayfly-subscriptions-1"
 * new_sqlite_classes = ["MayflySubscriptions"]
 * ```
 */
export class MayflySubscriptions {
  readonly #run: StorageState['storage']['sql']['exec']

  constructor({ storage: { sql } }: StorageState) {
    this.#run = (...query) => sql.exec(...query)
    this.#run(TABLES)
  }

  /** A `POST` reads or changes a session. Every Worker with the binding may do so. */
  async fetch(request: Request): Promise<Response> {
    if (request.method !== 'POST') return new Response(null, { status: 405 })
    const { what, session, uri = '', ttlMs } = (await request.json()) as Asked
    if (what === 'clear') this.#forget(session)
    if (what === 'add') this.#add(session, uri, ttlMs)
    if (what === 'remove') this.#run('DELETE FROM subscriptions WHERE session = ? AND uri = ?', session, uri)
    if (what !== 'list') return new Response(null, { status: 204 })
    this.#run('UPDATE sessions SET expiresAt = ? WHERE session = ?', Date.now() + ttlMs, session)
    const rows = this.#run('SELECT uri FROM subscriptions WHERE session = ?', session).toArray()
    return Response.json(rows.map((row) => row.uri))
  }

  /** Expired sessions are deleted when a URI is added, since an alarm would be billed even for an idle object. */
  #add(session: string, uri: string, ttlMs: number): void {
    const now = Date.now()
    const expired = this.#run('SELECT session FROM sessions WHERE expiresAt <= ? LIMIT ?', now, SWEPT)
    for (const row of expired.toArray()) this.#forget(String(row.session))
    this.#run('INSERT OR REPLACE INTO sessions VALUES (?, ?)', session, now + ttlMs)
    this.#run('INSERT OR IGNORE INTO subscriptions VALUES (?, ?)', session, uri)
  }

  #forget(session: string): void {
    for (const table of ['sessions', 'subscriptions'])
      this.#run(`DELETE FROM ${table} WHERE session = ?`, session)
  }
}

/**
 * Stores subscriptions of legacy clients, for all isolates of a stateless server, in the object of the binding of `MayflySubscriptions`.
 *
 * @throws TypeError without a binding.
 *
 * ```ts
 * subscriptions: durableObjectSubscriptions(env.SUBSCRIPTIONS, { name: 'news' })
 * ```
 */
export function durableObjectSubscriptions(
  namespace: DurableObjectNamespace,
  options: DurableObjectSubscriptionsOptions = {},
): Subscriptions {
  if (typeof namespace?.idFromName !== 'function') {
    throw new TypeError(
      'durableObjectSubscriptions needs the binding of a Durable Object: bind MayflySubscriptions in the wrangler configuration, as in docs/events-reference.md',
    )
  }
  refuseUnknown('durableObjectSubscriptions', options, OPTIONS)
  const { name = 'mayfly', ttlMs = DEFAULT_TTL_MS } = options
  const ask = createAsk(options, 'The Durable Object')
  const send = (what: Asked['what'], session: string, uri?: string): Promise<Response> =>
    ask(async () => {
      const object = namespace.get(namespace.idFromName(name) as never)
      const asked: Asked = { what, session, ttlMs, ...(uri !== undefined && { uri }) }
      const response = await object.fetch(OBJECT_URL, { method: 'POST', body: JSON.stringify(asked) })
      if (response.ok) return response
      await response.body?.cancel()
      throw new Error(`The Durable Object answered ${response.status}.`)
    })
  return createSubscriptions({
    add: (session, uri) => send('add', session, uri),
    remove: (session, uri) => send('remove', session, uri),
    list: async (session) => (await send('list', session)).json(),
    clear: (session) => send('clear', session),
  })
}
