/**
 * Compares what a client declared with what a question needs.
 */
import type { ClientCapabilities } from '../definition/context.ts'
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'

/** The part of `required` that is not declared; empty if everything is. */
export function missingCapabilities(
  required: ClientCapabilities,
  declared: ClientCapabilities,
): ClientCapabilities {
  const missing: Record<string, object> = {}
  for (const [name, value] of Object.entries(required) as [keyof ClientCapabilities, object | undefined][]) {
    if (value === undefined) continue
    const has = declared[name] as Record<string, unknown> | undefined
    const parts = Object.entries(value).filter(
      ([part]) => has?.[part] === undefined && !isImplied(name, part, has),
    )
    if (has === undefined) missing[name] = value
    else if (parts.length > 0) missing[name] = Object.fromEntries(parts)
  }
  return missing as ClientCapabilities
}

/** "An empty object is equivalent to declaring support for form mode only" (MCP, "Elicitation", "Capabilities"). */
function isImplied(name: string, part: string, has: Record<string, unknown> | undefined): boolean {
  return name === 'elicitation' && part === 'form' && has !== undefined && Object.keys(has).length === 0
}

/** Merges all into one: `{ elicitation: { form: {} } }` and `{ elicitation: { url: {} } }` make both required. */
export function mergeCapabilities(all: readonly ClientCapabilities[]): ClientCapabilities {
  const merged: Record<string, object> = {}
  for (const capabilities of all)
    for (const [name, parts] of Object.entries(capabilities)) merged[name] = { ...merged[name], ...parts }
  return merged as ClientCapabilities
}

/** `-32021`, HTTP 400. */
export function missingCapabilityError(missing: ClientCapabilities): ProtocolError {
  return new ProtocolError(
    ErrorCode.missingClientCapability,
    `The client did not declare what this request needs: ${Object.entries(missing).map(nameOf).join(', ')}.`,
    { requiredCapabilities: missing },
    { status: 400 },
  )
}

/** Such as `sampling`, `elicitation (url)` or `extensions (io.modelcontextprotocol/tasks)`. */
function nameOf([name, value]: [string, object]): string {
  const parts = Object.keys(value)
  return parts.length === 0 ? name : `${name} (${parts.join(', ')})`
}
