/** `events/unsubscribe` (SEP-3415). */
import { NO_MEMBERS } from '../definition/json-members.ts'
import type { KeyedWrite } from '../keyed/store.ts'
import type { MethodResult } from '../request/method-result.ts'
import { type Params, stringParam } from '../request/params.ts'
import type { RequestScope } from '../request/request-server.ts'
import { shortDigest, subscriptionIdOf } from './canonical.ts'
import type { Core } from './core.ts'
import { untilMade } from './data.ts'
import { notFound } from './errors.ts'
import { removal } from './held.ts'
import { countedKey, fenceKey, ownedKey, subscriptionKey } from './keys.ts'
import { endedWrites } from './life.ts'
import { deliveryParam, requirePrincipal, sentArguments } from './params.ts'
import { unlistedWrites } from './places.ts'
import type { Subscription } from './record.ts'
import type { Fence } from './reservation.ts'

/** How long a subscription that was removed cannot return by a request that came before. */
const REMOVED_MS = 86_400_000

/** Nothing is sent to it any more. Repeated for a day, it says the same. */
export async function unsubscribe(core: Core, scope: RequestScope, params: Params): Promise<MethodResult> {
  const { data } = core
  const { principal } = requirePrincipal(scope)
  const name = stringParam(params, 'name')
  const url = stringParam(deliveryParam(params), 'url')
  const id = await subscriptionIdOf(core.tag(), principal, url, name, sentArguments(params))
  const owner = await shortDigest(principal)
  await untilMade(async () => {
    const [entry, fence] = await Promise.all([
      data.read<Subscription>(subscriptionKey(id)),
      data.read<Fence>(fenceKey(id)),
    ])
    if (entry === undefined) {
      if (fence === undefined)
        throw notFound('subscription', 'There is no such subscription of this caller: it may have expired.')
      if ('isRemoved' in fence.value) return true
    }
    const removed: KeyedWrite = {
      key: fenceKey(id),
      value: JSON.stringify({ isRemoved: true } satisfies Fence),
      ifVersion: fence?.version ?? null,
      expiresAt: Date.now() + REMOVED_MS,
    }
    return data.commit([
      removed,
      ...(entry === undefined
        ? [{ key: ownedKey(owner, id) }, { key: countedKey(id) }]
        : [
            ...removal(id, entry),
            ...unlistedWrites(id, entry.value),
            ...endedWrites(core, id, entry.value.type),
          ]),
    ])
  })
  return { members: NO_MEMBERS }
}
