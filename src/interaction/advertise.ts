/** The capabilities that a server advertises. */
import type { Feature } from '../definition/context.ts'
import { availability, type Conditions } from './matrix.ts'

export interface ServerCapabilities {
  tools?: { listChanged?: true }
  prompts?: { listChanged?: true }
  resources?: { listChanged?: true; subscribe?: true }
  completions?: object
  logging?: object
}

/** What `initialize` and `server/discover` advertise besides extensions: only capabilities that work here. */
export function advertise(
  offers: { hasTools: boolean; hasPrompts: boolean; hasResources: boolean; hasCompletions: boolean },
  conditions: Conditions,
): ServerCapabilities {
  const listChanged = (feature: Feature) =>
    availability(feature, conditions).available ? { listChanged: true as const } : {}
  const subscribe = availability('resources.subscribe', conditions).available
    ? { subscribe: true as const }
    : {}
  return {
    ...(offers.hasTools && { tools: listChanged('tools.listChanged') }),
    ...(offers.hasPrompts && { prompts: listChanged('prompts.listChanged') }),
    ...(offers.hasResources && { resources: { ...listChanged('resources.listChanged'), ...subscribe } }),
    ...(offers.hasCompletions && { completions: {} }),
    // Other requests may ask for a level, even if this one did not.
    ...(availability('logging', { ...conditions, hasLogLevel: true }).available && { logging: {} }),
  }
}
