/** `events/poll` (SEP-3415, "Poll-Based Delivery"). */
import { toMembers } from '../definition/json-members.ts'
import { invalidParams } from '../definition/protocol-error.ts'
import type { MethodResult } from '../request/method-result.ts'
import type { Params } from '../request/params.ts'
import type { RequestScope } from '../request/request-server.ts'
import type { Core } from './core.ts'
import { toCursor } from './cursor.ts'
import { readLog } from './log.ts'
import { cursorParam, millisecondsParam } from './params.ts'
import { watchedBy } from './watched.ts'

const DEFAULT_EVENTS = 50
const MAX_EVENTS = 200

export async function poll(core: Core, scope: RequestScope, params: Params): Promise<MethodResult> {
  const { type, args, requireAllowed } = await watchedBy(core, scope, params, 'poll')
  const maxAgeMs = millisecondsParam(params, 'maxAgeMs', 0)
  const from = cursorParam(params)
  const maxEvents = maxEventsParam(params)
  await requireAllowed()
  const since = maxAgeMs === undefined ? undefined : Date.now() - maxAgeMs
  const page = await readLog(core, type, { args, from, since, maxEvents })
  const { epoch, seq } = page.position
  return {
    members: toMembers({
      events: page.events.map(({ seq: _seq, ...occurrence }) => occurrence),
      cursor: toCursor(epoch, seq),
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
