/** Grants in a Durable Object, which all Workers with the binding share: its SQLite makes each commit as one transaction. */
import { withTimeout } from '../src/definition/timeout.ts'
import { type Names, refuseUnknown } from '../src/definition/unknown-option.ts'
import type { OutageOptions } from '../src/events/outage.ts'
import { type Commit, isGrantKey, type KeyRange, toCommit, toRange } from '../src/sign-in/store/commit.ts'
import type { GrantStore } from '../src/sign-in/store/store.ts'
import type { DurableObjectNamespace, StorageState } from './_cloudflare/durable-object.ts'
import { createGrantTable, type GrantTable } from './_cloudflare/grant-table.ts'
import { STORE_TIMEOUT_MS } from './_tasks/store-ask.ts'
import { createMeasuredClock } from './_tasks/store-clock.ts'

/** Options of `durableObjectGrants`. */
export interface DurableObjectGrantsOptions extends Pick<OutageOptions, 'timeoutMs'> {
  /** The start of the object's name, if several servers share one class. Default `mayfly`. */
  readonly name?: string
}

const OPTIONS: Names<DurableObjectGrantsOptions> = { name: 'string', timeoutMs: [0] }

/** The requests of a store to its object. */
type Order =
  | { readonly do: 'read'; readonly key: string }
  | { readonly do: 'commit'; readonly commit: Commit }
  | { readonly do: 'list'; readonly range: KeyRange }
  | { readonly do: 'tell' }

interface Answers {
  readonly read: { readonly entry?: Awaited<ReturnType<GrantStore['read']>> }
  readonly commit: { readonly isMade: boolean }
  readonly list: Awaited<ReturnType<GrantStore['list']>>
  readonly tell: { readonly now: number }
}

/** Milliseconds between deletions of expired entries, each of which is an alarm. */
const CLEAN_EVERY_MS = 10_000

/** An alarm that fires early is set again. */
const LATEST_ALARM_MS = 365 * 86_400_000

const OBJECT_URL = 'https://grants/'

/**
 * The Durable Object class: export it from your Worker and bind it.
 *
 * ```toml
 * [[durable_objects.bindings]]
 * name = "GRANTS"
 * class_name = "MayflyGrants"
 *
 * [[migrations]]
 * tag = "mayfly-grants-1"
 * new_sqlite_classes = ["MayflyGrants"]
 * ```
 */
export class MayflyGrants {
  readonly #state: StorageState
  readonly #table: GrantTable

  constructor(state: StorageState) {
    this.#state = state
    this.#table = createGrantTable(state.storage)
  }

  /** Handles the store's requests. Every Worker with the binding may send them. */
  async fetch(request: Request): Promise<Response> {
    const order = (await request.json()) as Order
    const answer = this.#answer(order)
    if (order.do === 'commit') await this.#schedule()
    return Response.json(answer, { headers: { 'x-mayfly': 'grants' } })
  }

  /** Deletes expired entries. */
  async alarm(): Promise<void> {
    this.#table.clean(Date.now())
    await this.#schedule()
  }

  /** Without a wait, so that no other request runs in between. */
  #answer(order: Order): Answers[Order['do']] {
    const now = Date.now()
    switch (order.do) {
      case 'read':
        return { entry: this.#table.read(order.key, now) }
      case 'commit':
        return { isMade: this.#table.commit(order.commit, now) }
      case 'list':
        return this.#table.list(order.range, now)
      case 'tell':
        return { now }
    }
  }

  async #schedule(): Promise<void> {
    const { storage } = this.#state
    const first = this.#table.firstEnd()
    if (first === undefined) return
    const at = Math.max(first, Date.now() + CLEAN_EVERY_MS)
    const alarm = await storage.getAlarm()
    if (alarm === null || alarm > at) await storage.setAlarm(Math.min(at, Date.now() + LATEST_ALARM_MS))
  }
}

/**
 * Creates a store of grants from the binding of `MayflyGrants`, for `signIn` of `mayfly-mcp/sign-in`. All entries of a name are in one object.
 * While it fails, the store rejects within `timeoutMs` (default 5000); a rejected commit may still succeed, and may be repeated.
 *
 * ```ts
 * signIn({ store: (env: Env) => durableObjectGrants(env.GRANTS), upstream, scopes })
 * ```
 *
 * @throws TypeError without a binding.
 */
export function durableObjectGrants(
  namespace: DurableObjectNamespace,
  options: DurableObjectGrantsOptions = {},
): GrantStore {
  if (typeof namespace?.idFromName !== 'function') {
    throw new TypeError(
      'durableObjectGrants needs the binding of a Durable Object: bind MayflyGrants in the wrangler configuration (docs/sign-in-reference.md).',
    )
  }
  refuseUnknown('durableObjectGrants', options, OPTIONS)
  const { name = 'mayfly', timeoutMs = STORE_TIMEOUT_MS } = options
  const clock = createMeasuredClock(async () => (await ask({ do: 'tell' })).now)
  const ask = async <Kind extends Order['do']>(
    order: Order & { readonly do: Kind },
  ): Promise<Answers[Kind]> => {
    const over = new AbortController()
    try {
      const stub = namespace.get(namespace.idFromName(`${name}/grants`) as never)
      const init = { method: 'POST', body: JSON.stringify(order), signal: over.signal }
      const answered = stub.fetch(OBJECT_URL, init).then(toAnswer<Kind>)
      return await withTimeout(answered, timeoutMs, 'Durable Object')
    } catch (error) {
      over.abort()
      throw error
    }
  }
  return {
    clockOffsetMs: clock.offsetMs,
    async read(key) {
      return isGrantKey(key) ? (await ask({ do: 'read', key })).entry : undefined
    },
    async commit(version, writes) {
      return (await ask({ do: 'commit', commit: await toCommit(version, writes) })).isMade
    },
    async list(options) {
      const range = toRange(options)
      return range === undefined ? { keys: [] } : ask({ do: 'list', range })
    },
  }
}

async function toAnswer<Kind extends Order['do']>(response: Response): Promise<Answers[Kind]> {
  if (response.ok && response.headers.get('x-mayfly') === 'grants')
    return (await response.json()) as Answers[Kind]
  await response.body?.cancel()
  throw new Error(
    `The Durable Object answered ${response.status} instead of grants: bind MayflyGrants, and see its log.`,
  )
}
