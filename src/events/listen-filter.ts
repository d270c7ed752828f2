/** The filter of `subscriptions/listen` (MCP 2026-07-28, "Subscriptions"): how it is read, and which part of it can be honoured. */
import { invalidParams } from '../definition/protocol-error.ts'
import type { ServerCapabilities } from '../interaction/advertise.ts'

/** MCP's `SubscriptionFilter`. */
export interface SubscriptionFilter {
  toolsListChanged?: boolean
  promptsListChanged?: boolean
  resourcesListChanged?: boolean
  resourceSubscriptions?: string[]
}

/** The lists whose changes a filter may name. */
export const FLAGS = ['toolsListChanged', 'promptsListChanged', 'resourcesListChanged'] as const
export type ListChange = (typeof FLAGS)[number]

/** Limits the URIs of one filter or session: they are stored, and compared with every template. */
export const MAX_SUBSCRIBED_URIS = 1000
export const MAX_SUBSCRIBED_CHARACTERS = 100_000

/**
 * Reads the `notifications` parameter.
 *
 * @throws ProtocolError `-32602` if it is not a filter.
 */
export function parseFilter(notifications: unknown): SubscriptionFilter {
  if (notifications === null || typeof notifications !== 'object' || Array.isArray(notifications)) {
    throw invalidParams('"notifications" must be an object that names what to listen to.')
  }
  const filter = notifications as Record<string, unknown>
  for (const flag of FLAGS) {
    if (filter[flag] !== undefined && typeof filter[flag] !== 'boolean')
      throw invalidParams(`"notifications.${flag}" must be a boolean.`)
  }
  const uris = filter.resourceSubscriptions
  if (uris !== undefined && !(Array.isArray(uris) && uris.every((uri) => typeof uri === 'string'))) {
    throw invalidParams('"notifications.resourceSubscriptions" must be a list of URIs.')
  }
  if (
    Array.isArray(uris) &&
    (uris.length > MAX_SUBSCRIBED_URIS || charactersIn(uris) > MAX_SUBSCRIBED_CHARACTERS)
  ) {
    throw invalidParams(
      `"notifications.resourceSubscriptions" may name at most ${MAX_SUBSCRIBED_URIS} URIs, of at most ${MAX_SUBSCRIBED_CHARACTERS} characters in all.`,
    )
  }
  return filter as SubscriptionFilter
}

export function charactersIn(uris: Iterable<string>): number {
  let sum = 0
  for (const { length } of uris) sum += length
  return sum
}

/** The part of a filter that the advertised capabilities cover. */
export function honoured(filter: SubscriptionFilter, capabilities: ServerCapabilities): SubscriptionFilter {
  const uris = filter.resourceSubscriptions ?? []
  return {
    ...(filter.toolsListChanged && capabilities.tools?.listChanged && { toolsListChanged: true }),
    ...(filter.promptsListChanged && capabilities.prompts?.listChanged && { promptsListChanged: true }),
    ...(filter.resourcesListChanged && capabilities.resources?.listChanged && { resourcesListChanged: true }),
    ...(uris.length > 0 && capabilities.resources?.subscribe && { resourceSubscriptions: uris }),
  }
}

/** The filter of the lists that a server has. */
export function listsOf(has: {
  hasTools: boolean
  hasPrompts: boolean
  hasResources: boolean
}): SubscriptionFilter {
  return {
    toolsListChanged: has.hasTools,
    promptsListChanged: has.hasPrompts,
    resourcesListChanged: has.hasResources,
  }
}
