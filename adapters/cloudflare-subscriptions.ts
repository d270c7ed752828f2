/** Subscriptions of legacy clients in a Durable Object, one per server: a table of URIs by session in its own SQLite. */

import { type Names, refuseUnknown } from '../src/definition/unknown-option.ts'
import type { OutageOptions } from '../src/events/outage.ts'
import {
  CHARACTERS_PER_URI,
  DEFAULT_MAX_CHARACTERS,
  DEFAULT_TTL_MS,
  SUBSCRIPTION_OPTIONS,
  type SubscriptionHolder,
  type SubscriptionStore,
  type SubscriptionStoreOptions,
} from '../src/events/subscription-store.ts'
import { createSubscriptions, type Subscriptions } from '../src/subscriptions.ts'
import { createAsk } from './_bus/ask.ts'
import { createOwnedName } from './_bus/owned-name.ts'
import type { DurableObjectNamespace, StorageState } from './_cloudflare/durable-object.ts'

/** Options of `durableObjectSubscriptions`. */
export interface DurableObjectSubscriptionsOptions
  extends SubscriptionStoreOptions,
    Pick<OutageOptions, 'timeoutMs'> {
  /** The object's name. Default: that of the server and its stage, such as `mayfly_news`. */
  readonly name?: string
}

const OPTIONS: Names<DurableObjectSubscriptionsOptions> = {
  name: 'string',
  timeoutMs: [0],
  ...SUBSCRIPTION_OPTIONS,
}

const OBJECT_URL = 'https://subscriptions/'

/** Maximum expired sessions that are deleted with each added URI. */
const SWEPT = 100

/** The row of all callers together. Others begin with a colon. */
const ALL = 'all'

/** As the first version made them. */
const TABLES = `
CREATE TABLE IF NOT EXISTS sessions (session TEXT PRIMARY KEY, expiresAt INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS byExpiry ON sessions (expiresAt);
CREATE TABLE IF NOT EXISTS subscriptions (session TEXT, uri TEXT, PRIMARY KEY (session, uri)) WITHOUT ROWID;`

/** Sessions of the first version have no caller until they add a URI. */
const ADD_CALLERS = `
ALTER TABLE sessions ADD COLUMN caller TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN characters INTEGER NOT NULL DEFAULT 0;
CREATE INDEX byCaller ON sessions (caller, expiresAt);
CREATE TABLE held (caller TEXT PRIMARY KEY, characters INTEGER NOT NULL) WITHOUT ROWID;
UPDATE sessions SET characters =
  (SELECT TOTAL(LENGTH(uri) + ${CHARACTERS_PER_URI}) FROM subscriptions WHERE session = sessions.session);
INSERT INTO held SELECT '${ALL}', TOTAL(characters) FROM sessions;
INSERT INTO held SELECT ':', TOTAL(characters) FROM sessions;`

const HAS_CALLERS = `SELECT 1 FROM pragma_table_info('sessions') WHERE name = 'caller'`

/** A request to the object. */
interface Asked {
  readonly what: keyof SubscriptionStore
  readonly session: string
  readonly uri?: string
  readonly holder?: SubscriptionHolder
  readonly ttlMs: number
  readonly maxCharacters: number
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
    if (this.#run(HAS_CALLERS).toArray().length === 0) this.#run(ADD_CALLERS)
  }

  /** A `POST` reads or changes a session. Every Worker with the binding may do so. */
  async fetch(request: Request): Promise<Response> {
    if (request.method !== 'POST') return new Response(null, { status: 405 })
    const asked = (await request.json()) as Asked
    const { what, session, uri = '', ttlMs } = asked
    // An expired session counts as deleted.
    const isKnown = this.#renew(session, ttlMs)
    if (what === 'clear' || !isKnown) this.#forget(session)
    if (what === 'add') this.#add(asked, uri)
    if (what === 'remove') this.#remove(session, uri)
    if (what !== 'list') return new Response(null, { status: 204 })
    const rows = this.#run('SELECT uri FROM subscriptions WHERE session = ?', session).toArray()
    return Response.json(rows.map((row) => row.uri))
  }

  /** Expired sessions are deleted when a URI is added, since an alarm would be billed even for an idle object. */
  #add({ session, holder, ttlMs, maxCharacters }: Asked, uri: string): void {
    const { caller, share } = holder ?? { caller: '', share: 1 }
    const now = Date.now()
    const expired = this.#run('SELECT session FROM sessions WHERE expiresAt <= ? LIMIT ?', now, SWEPT)
    for (const row of expired.toArray()) this.#forget(String(row.session))
    this.#run('INSERT OR IGNORE INTO subscriptions VALUES (?, ?)', session, uri)
    this.#uncount(session)
    this.#run(
      `INSERT INTO sessions (session, caller, characters, expiresAt)
        SELECT ?, ?, TOTAL(LENGTH(uri) + ?), ? FROM subscriptions WHERE session = ?`,
      ...[session, caller, CHARACTERS_PER_URI, now + ttlMs, session],
    )
    const [stored] = this.#run('SELECT characters FROM sessions WHERE session = ?', session).toArray()
    this.#count(caller, Number(stored!.characters))
    const isOver = (): boolean => this.#held(`:${caller}`) > share * this.#left(caller, maxCharacters)
    while (isOver()) if (!this.#forgetOldest('caller = ?', caller, session)) break
    while (this.#held(ALL) > maxCharacters) if (!this.#forgetOldest("'' = ?", '', session)) break
  }

  #remove(session: string, uri: string): void {
    const query = 'DELETE FROM subscriptions WHERE session = ? AND uri = ? RETURNING LENGTH(uri) AS length'
    for (const row of this.#run(query, session, uri).toArray()) {
      const characters = Number(row.length) + CHARACTERS_PER_URI
      const of = 'UPDATE sessions SET characters = characters - ? WHERE session = ? RETURNING caller'
      const [owner] = this.#run(of, characters, session).toArray()
      if (owner !== undefined) this.#count(String(owner.caller), -characters)
    }
  }

  /** Whether there is such a session, which has not expired. */
  #renew(session: string, ttlMs: number): boolean {
    const now = Date.now()
    const query = 'UPDATE sessions SET expiresAt = ? WHERE session = ? AND expiresAt > ? RETURNING session'
    return this.#run(query, now + ttlMs, session, now).toArray().length > 0
  }

  /** Deletes the session of these that is the longest unused, but not `kept`. */
  #forgetOldest(which: string, value: string, kept: string): boolean {
    const query = `SELECT session FROM sessions WHERE ${which} AND session <> ? ORDER BY expiresAt LIMIT 1`
    const [oldest] = this.#run(query, value, kept).toArray()
    if (oldest !== undefined) this.#forget(String(oldest.session))
    return oldest !== undefined
  }

  #held(holder: string): number {
    const [row] = this.#run('SELECT characters FROM held WHERE caller = ?', holder).toArray()
    return Number(row?.characters ?? 0)
  }

  /** What the others leave to a caller. */
  #left(caller: string, maxCharacters: number): number {
    return maxCharacters - this.#held(ALL) + this.#held(`:${caller}`)
  }

  #count(caller: string, characters: number): void {
    for (const holder of [ALL, `:${caller}`]) {
      const query = `INSERT INTO held VALUES (?, ?)
        ON CONFLICT (caller) DO UPDATE SET characters = characters + excluded.characters`
      this.#run(query, holder, characters)
    }
    this.#run('DELETE FROM held WHERE caller = ? AND characters <= 0', `:${caller}`)
  }

  #uncount(session: string): void {
    const query = 'DELETE FROM sessions WHERE session = ? RETURNING caller, characters'
    for (const row of this.#run(query, session).toArray())
      this.#count(String(row.caller), -Number(row.characters))
  }

  #forget(session: string): void {
    this.#uncount(session)
    this.#run('DELETE FROM subscriptions WHERE session = ?', session)
  }
}

/**
 * Stores subscriptions of legacy clients, for all isolates of a stateless server, in the object of the binding of `MayflySubscriptions`.
 *
 * @throws TypeError without a binding.
 *
 * ```ts
 * subscriptions: durableObjectSubscriptions(env.SUBSCRIPTIONS)
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
  const name = createOwnedName('durableObjectSubscriptions', 'name', options.name)
  const { ttlMs = DEFAULT_TTL_MS, maxCharacters = DEFAULT_MAX_CHARACTERS } = options
  const ask = createAsk(options, 'The Durable Object')
  const send = (
    what: Asked['what'],
    session: string,
    given: Pick<Asked, 'uri' | 'holder'> = {},
  ): Promise<Response> =>
    ask(async () => {
      const object = namespace.get(namespace.idFromName(name.get()) as never)
      const asked: Asked = { what, session, ttlMs, maxCharacters, ...given }
      const response = await object.fetch(OBJECT_URL, { method: 'POST', body: JSON.stringify(asked) })
      if (response.ok) return response
      await response.body?.cancel()
      throw new Error(`The Durable Object answered ${response.status}.`)
    })
  return createSubscriptions({
    attach: name.attach,
    add: (session, uri, holder) => send('add', session, { uri, holder }),
    remove: (session, uri) => send('remove', session, { uri }),
    list: async (session) => (await send('list', session)).json(),
    clear: (session) => send('clear', session),
  })
}
