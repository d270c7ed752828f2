/** The subscriptions of a client in a session, and their limits. */
import { invalidParams } from '../definition/protocol-error.ts'
import type { CompiledResources } from '../definition/resource.ts'
import { charactersIn } from '../events/listen-filter.ts'
import type { Subscriber } from '../request/platform.ts'
import { subscribable } from '../request/resources.ts'

const MAX_URIS = 1000
const MAX_CHARACTERS = 100_000

/** @throws ProtocolError `-32602` if a session that has subscribed to `known` may not add `uri`. */
export function checkRoom(known: { readonly size: number } & Iterable<string>, uri: string): void {
  if (known.size < MAX_URIS && charactersIn(known) + uri.length <= MAX_CHARACTERS) return
  throw invalidParams(
    `Invalid params: a session may subscribe to at most ${MAX_URIS} URIs, of at most ${MAX_CHARACTERS} characters in all.`,
  )
}

/** A persistent session stores its own subscriptions. A caller only gets notifications about what it may read. */
export async function changeSubscribed(
  subscribed: Set<string>,
  resources: CompiledResources,
  { method, uri, caller }: { readonly method: string; readonly uri: string; readonly caller: Subscriber },
): Promise<void> {
  if (method === 'resources/unsubscribe') subscribed.delete(uri)
  else if ((await subscribable(resources, [uri], caller)).length > 0 && !subscribed.has(uri)) {
    checkRoom(subscribed, uri)
    subscribed.add(uri)
  }
}
