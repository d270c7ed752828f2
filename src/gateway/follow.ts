/** Passes the changes of the servers behind on to one stream of this server. */
import type { Heard } from '../client/changes.ts'
import type { ListKind } from '../client/subscription-filter.ts'
import { withTimeout } from '../definition/timeout.ts'
import type { ChangeEvent } from '../events/bus.ts'
import type { Credentials, Lists, Upstream } from './upstream.ts'

/** A server behind, with what a stream wants of it. */
export interface FollowedServer {
  readonly upstream: Upstream
  readonly credentials: Credentials
  readonly lists: Lists
  readonly kinds: readonly ListKind[]
  readonly uris: readonly string[]
  /** Called before the stream learns of a changed list. */
  readonly expire: () => void
  readonly report: (error: unknown) => void
}

/** Milliseconds for which the stream waits for the servers. */
const WAIT_MS = 2000

/** Resolves with a function that ends it. Never rejects. */
export async function followServers(
  servers: readonly FollowedServer[],
  listener: (event: ChangeEvent) => void,
): Promise<() => Promise<unknown>> {
  let isLate = false
  const ends = servers.map((server) => {
    const { upstream, credentials, lists, kinds, uris, expire, report } = server
    const onHeard = (heard: Heard): void => {
      const all = [...kinds, ...uris.map((uri) => ({ uri }))]
      for (const one of heard === undefined ? all : [heard]) {
        if (typeof one === 'string') expire()
        listener(
          typeof one === 'string' ? { type: `${one}ListChanged` } : { type: 'resourceUpdated', uri: one.uri },
        )
      }
    }
    const { begun, end } = upstream.follow(credentials, lists.prior, { kinds, uris }, onHeard, report)
    // What has changed before was missed.
    return { end, begun: begun.then(() => isLate && onHeard(undefined)) }
  })
  const begun = Promise.all(ends.map((one) => one.begun))
  await withTimeout(begun, WAIT_MS, 'servers').catch(() => {})
  isLate = true
  return () => Promise.all(ends.map(({ end }) => end()))
}
