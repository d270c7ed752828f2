/** `events/poll` (SEP-3415, "Poll-Based Delivery"). */
import { toMembers } from '../definition/json-members.ts'
import { invalidParams } from '../definition/protocol-error.ts'
import type { MethodResult } from '../request/method-result.ts'
import type { Params } from '../request/params.ts'
import type { RequestScope } from '../request/request-server.ts'
import type { Core } from './core.ts'
import { cursorOf } from './cursor.ts'
import { cursorParam, millisecondsParam } from './params.ts'
import { readEventsOf } from './reading.ts'
import { watchedBy } from './watched.ts'

const DEFAULT_EVENTS = 50
const MAX_EVENTS = 200

export async function poll(core: Core, scope: RequestScope, params: Params): Promise<MethodResult> {
  const watched = await watchedBy(core, scope, params, 'poll')
  const maxAgeMs = millisecondsParam(params, 'maxAgeMs', 0)
  const from = cursorParam(params)
  const maxEvents = maxEventsParam(params)
  await watched.requireAllowed()
  const since = maxAgeMs === undefined ? undefined : Date.now() - maxAgeMs
  const page = await readEventsOf(core, watched, { from, since, maxEvents, isLive: false })
  return {
    members: toMembers({
      events: page.events.map(({ occurrence }) => occurrence),
      cursor: cursorOf(page.position),
      truncated: page.isTruncated,
      hasMore: page.hasMore,
      nextPollMs: core.settings.pollIntervalMs,
    }),
  }
}

function maxEventsParam({ maxEvents = DEFAULT_EVENTS }: Params): number {
  if (typeof maxEvents === 'number' && Number.isSafeInteger(maxEvents) && maxEvents >= 1)
    return Math.min(maxEvents, MAX_EVENTS)
  throw invalidParams('Invalid params: "maxEvents" must be a whole number, 1 or more.')
}
