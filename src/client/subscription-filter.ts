/** Compares the requested changes with what the server offers and acknowledged (MCP 2026-07-28, "Subscriptions"). */
import type { ServerCapabilities, SubscriptionFilter } from '@modelcontextprotocol/client'

export type ListKind = 'tools' | 'prompts' | 'resources'

function toFilter(kinds: ReadonlySet<ListKind>, uris: ReadonlySet<string>): SubscriptionFilter {
  return {
    ...(kinds.has('tools') && { toolsListChanged: true }),
    ...(kinds.has('prompts') && { promptsListChanged: true }),
    ...(kinds.has('resources') && { resourcesListChanged: true }),
    ...(uris.size > 0 && { resourceSubscriptions: [...uris] }),
  }
}

/** A description of the first requested change that a server with these capabilities does not offer. */
export function notOffered(
  offered: ServerCapabilities | undefined,
  kinds: ReadonlySet<ListKind>,
  uris: ReadonlySet<string>,
): string | undefined {
  if (uris.size > 0 && offered?.resources?.subscribe !== true) return 'resources that change'
  const missing = [...kinds].find((kind) => offered?.[kind]?.listChanged !== true)
  return missing && `changes of its list of ${missing}`
}

/** The part of the requested changes that a server with these capabilities offers. */
export function offeredOf(
  offered: ServerCapabilities | undefined,
  kinds: ReadonlySet<ListKind>,
  uris: ReadonlySet<string>,
): SubscriptionFilter {
  return toFilter(
    new Set([...kinds].filter((kind) => offered?.[kind]?.listChanged === true)),
    offered?.resources?.subscribe === true ? uris : new Set(),
  )
}

/** Whether the server acknowledged all requested changes. */
export function covers(honored: SubscriptionFilter, wanted: SubscriptionFilter): boolean {
  const uris = new Set(honored.resourceSubscriptions)
  return (
    (wanted.toolsListChanged !== true || honored.toolsListChanged === true) &&
    (wanted.promptsListChanged !== true || honored.promptsListChanged === true) &&
    (wanted.resourcesListChanged !== true || honored.resourcesListChanged === true) &&
    (wanted.resourceSubscriptions ?? []).every((uri) => uris.has(uri))
  )
}
