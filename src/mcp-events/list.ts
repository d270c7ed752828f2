/** `events/list` (SEP-3415, "Listing Available Events"). */
import type { MethodResult } from '../request/method-result.ts'
import { pageMembers, pageStart } from '../request/pagination.ts'
import type { Params } from '../request/params.ts'
import type { RequestScope } from '../request/request-server.ts'
import type { Core } from './core.ts'
import type { DeliveryMode, EventType } from './event.ts'

/** What accepts only an empty object, and any object. */
const NOTHING = { type: 'object', properties: {}, additionalProperties: false }
const ANYTHING = { type: 'object' }

/** Each event as it is listed, made at the first list. */
export function createList(
  core: Core,
  modesFor: (type: EventType, scope: RequestScope) => readonly DeliveryMode[],
): (scope: RequestScope, params: Params) => MethodResult {
  const made = new Map<string, string>()
  const describe = (type: EventType, modes: readonly DeliveryMode[]): string => {
    const key = `${modes.join()} ${type.id}`
    const text = made.get(key) ?? JSON.stringify(describeEvent(type, modes))
    made.set(key, text)
    return text
  }
  return (scope, params) => {
    const items = [...core.settings.types.values()].flatMap((type) => {
      const modes = modesFor(type, scope)
      const { id, scopes } = type
      const isListed = modes.length > 0 && scope.allows({ kind: 'method', name: id, scopes })
      return isListed ? [describe(type, modes)] : []
    })
    const { pageSize } = core.host().options()
    const start = pageStart(params, items.length, pageSize)
    return { members: pageMembers('events', items, start, pageSize) }
  }
}

function describeEvent(
  { id, description, input, payload, _meta }: EventType,
  modes: readonly DeliveryMode[],
) {
  return {
    name: id,
    description,
    delivery: modes,
    inputSchema: input?.jsonSchema ?? NOTHING,
    payloadSchema: payload?.jsonSchema ?? ANYTHING,
    ...(_meta !== undefined && { _meta }),
  }
}
