/** A transactional store in a Durable Object, which all Workers with the binding share: its SQLite makes each commit as one transaction. */
import { withTimeout } from '../../src/definition/timeout.ts'
import { type Names, refuseUnknown } from '../../src/definition/unknown-option.ts'
import type { OutageOptions } from '../../src/events/outage.ts'
import { type Commit, isEntryKey, type KeyRange, toCommit, toRange } from '../../src/keyed/commit.ts'
import type { KeyedStore } from '../../src/keyed/store.ts'
import { STORE_TIMEOUT_MS } from '../_tasks/store-ask.ts'
import { createMeasuredClock } from '../_tasks/store-clock.ts'
import { toAlarm } from './alarm-time.ts'
import type { DurableObjectNamespace, StorageState } from './durable-object.ts'
import { createKeyedTable, type KeyedTable } from './keyed-table.ts'

/** Options of a store in a Durable Object. */
export interface DurableObjectKeyedOptions extends Pick<OutageOptions, 'timeoutMs'> {
  /** The start of the object's name, if several servers share one class. Default `mayfly`. */
  readonly name?: string
}

const OPTIONS: Names<DurableObjectKeyedOptions> = { name: 'string', timeoutMs: [0] }

/** The requests of a store to its object. */
type Order =
  | { readonly do: 'read'; readonly key: string }
  | { readonly do: 'commit'; readonly commit: Commit }
  | { readonly do: 'list'; readonly range: KeyRange }
  | { readonly do: 'tell' }

interface Answers {
  readonly read: { readonly entry?: Awaited<ReturnType<KeyedStore['read']>> }
  readonly commit: { readonly isMade: boolean }
  readonly list: Awaited<ReturnType<KeyedStore['list']>>
  readonly tell: { readonly now: number }
}

/** Milliseconds between deletions of expired entries, each of which is an alarm. */
const CLEAN_EVERY_MS = 10_000

/** What the entries are: a part of the object's name, and the name of its table. */
type Entries = 'grants' | 'events'

/** What makes such a store: `name` is a function, `type` the class of its object, and `page` says how to bind it. */
export interface ObjectMaker {
  readonly name: string
  readonly type: string
  readonly page: string
  readonly entries: Entries
}

/** The object, as workerd makes it. */
export class KeyedObject {
  readonly #state: StorageState
  readonly #table: KeyedTable
  readonly #entries: Entries

  constructor(state: StorageState, entries: Entries) {
    this.#state = state
    this.#entries = entries
    this.#table = createKeyedTable(state.storage, entries)
  }

  /** Handles the store's requests. Every Worker with the binding may send them. */
  async fetch(request: Request): Promise<Response> {
    const order = (await request.json()) as Order
    const answer = this.#answer(order)
    if (order.do === 'commit') await this.#schedule()
    return Response.json(answer, { headers: { 'x-mayfly': this.#entries } })
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
    if (alarm === null || alarm > at) await storage.setAlarm(toAlarm(at))
  }
}

/** @throws TypeError without a binding. */
export function openKeyedObject(
  maker: ObjectMaker,
  namespace: DurableObjectNamespace,
  options: DurableObjectKeyedOptions = {},
): KeyedStore {
  const { entries } = maker
  if (typeof namespace?.idFromName !== 'function') {
    throw new TypeError(
      `${maker.name} needs the binding of a Durable Object: bind ${maker.type} in the wrangler configuration (${maker.page}).`,
    )
  }
  refuseUnknown(maker.name, options, OPTIONS)
  const { name = 'mayfly', timeoutMs = STORE_TIMEOUT_MS } = options
  const clock = createMeasuredClock(async () => (await ask({ do: 'tell' })).now)
  const ask = async <Kind extends Order['do']>(
    order: Order & { readonly do: Kind },
  ): Promise<Answers[Kind]> => {
    const over = new AbortController()
    try {
      const stub = namespace.get(namespace.idFromName(`${name}/${entries}`) as never)
      const init = { method: 'POST', body: JSON.stringify(order), signal: over.signal }
      const answered = stub
        .fetch(`https://${entries}/`, init)
        .then((response) => toAnswer<Kind>(response, maker))
      return await withTimeout(answered, timeoutMs, 'Durable Object')
    } catch (error) {
      over.abort()
      throw error
    }
  }
  return {
    clockOffsetMs: clock.offsetMs,
    async read(key) {
      return isEntryKey(key) ? (await ask({ do: 'read', key })).entry : undefined
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

async function toAnswer<Kind extends Order['do']>(
  response: Response,
  { type, entries }: ObjectMaker,
): Promise<Answers[Kind]> {
  if (response.ok && response.headers.get('x-mayfly') === entries)
    return (await response.json()) as Answers[Kind]
  await response.body?.cancel()
  throw new Error(
    `The Durable Object answered ${response.status} instead of ${entries}: bind ${type}, and see its log.`,
  )
}
