/** Notifies the client of a session of changes: each once, however often it is published before the transport sends it. */
import type { Definition } from '../definition/compile.ts'
import type { ChangeEvent } from '../events/bus.ts'
import { type Key, keyOf, toNotification, wantedBy } from '../events/coalesced-changes.ts'
import { listsOf } from '../events/listen-filter.ts'
import type { ClientSession } from '../request/platform.ts'
import { mayRead } from '../request/resources.ts'
import { expiryOf, type StreamOwner } from './stream-expiry.ts'
import type { Turn } from './turns.ts'

export interface ChangesOptions {
  readonly client: ClientSession
  /** The URIs that the client has subscribed to. */
  readonly subscribed: ReadonlySet<string>
  readonly definition: Definition
  /** The caller that opened the stream for changes; undefined without a stream. */
  readonly streamOwner: () => StreamOwner | undefined
  /** Never rejects. */
  readonly put: (text: string) => Promise<void>
  readonly turn: Turn
}

export interface Changes {
  readonly receive: (event: ChangeEvent) => void
  stop(): void
}

export function createChanges({
  client,
  subscribed,
  definition,
  streamOwner,
  put,
  turn,
}: ChangesOptions): Changes {
  const lists = listsOf(definition)
  const waiting = new Set<Key>()
  let isGap = false
  let isTelling = false
  let isOver = false

  /** Queued changes, including those added during sending. */
  function* taken(): Generator<Key> {
    for (;;) {
      if (isGap) {
        isGap = false
        for (const key of wantedBy({ ...lists, resourceSubscriptions: [...subscribed] }).keys())
          waiting.add(key)
      }
      const [key] = waiting
      if (key === undefined || isOver) return
      waiting.delete(key)
      yield key
    }
  }

  const isHeard = (key: Key): boolean => {
    const to = streamOwner()
    if (to === undefined || expiryOf(to) <= Date.now()) return false
    return typeof key !== 'string' || (subscribed.has(key) && mayRead(definition.resources, to.access, key))
  }

  const tell = async (): Promise<void> => {
    isTelling = true
    for (let wait = turn(); wait !== undefined; wait = turn()) await wait
    for (const key of taken()) {
      const change = { jsonrpc: '2.0', ...toNotification(key) }
      if (isHeard(key)) await put(JSON.stringify(change))
      for (let wait = turn(); wait !== undefined; wait = turn()) await wait
    }
    isTelling = false
  }

  return {
    receive(event) {
      // Modern clients use subscriptions/listen instead. Changes without a listener are dropped.
      if (client.declared === undefined || streamOwner() === undefined) return
      if (event.type === 'gap') isGap = true
      else if (event.type === 'sessionChanged') return
      else if (event.type !== 'resourceUpdated' || subscribed.has(event.uri)) waiting.add(keyOf(event))
      else return
      if (!isTelling) void tell()
    },
    stop() {
      isOver = true
    },
  }
}
