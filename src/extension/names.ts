/** The names that an extension may have, and those that MCP reserves. */

/** `_meta` keys of MCP 2026-07-28 ("General fields") with a mandatory prefix, as extensions are identified (SEP-2133, "Definition"). */
const LABEL = '[a-zA-Z](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?'
const ID = new RegExp(`^(${LABEL}(?:\\.${LABEL})*)/[a-zA-Z0-9](?:[a-zA-Z0-9._-]*[a-zA-Z0-9])?$`)
const MAX_ID = 200

/** What MCP itself has defined under its own prefix. */
const OFFICIAL: readonly string[] = [
  'io.modelcontextprotocol/tasks',
  'io.modelcontextprotocol/events',
  'io.modelcontextprotocol/ui',
  'io.modelcontextprotocol/skills',
  'io.modelcontextprotocol/oauth-client-credentials',
  'io.modelcontextprotocol/enterprise-managed-authorization',
]

/** Of MCP, in any of its revisions. */
const CORE_METHOD =
  /^(?:(?:tools|prompts|resources|completion|logging|subscriptions|sampling|elicitation|roots|server|notifications)(?:\/|$)|initialize$|ping$|rpc\.)/
const CORE_NOTIFICATION =
  /^notifications\/(?:(?:tools|prompts|resources|roots|subscriptions|elicitation)(?:\/|$)|(?:initialized|cancelled|progress|message)$)/
/** Of an official extension, which alone has them. */
const OWNED: readonly (readonly [RegExp, string])[] = [
  [/^(?:notifications\/)?tasks(?:\/|$)/, 'io.modelcontextprotocol/tasks'],
  [/^(?:notifications\/)?events(?:\/|$)/, 'io.modelcontextprotocol/events'],
  [/^(?:notifications\/)?ui(?:\/|$)/, 'io.modelcontextprotocol/ui'],
  [/^(?:notifications\/)?skills(?:\/|$)|^resources\/directory\//, 'io.modelcontextprotocol/skills'],
]
const METHOD = /^[a-zA-Z][\w.-]*(?:\/[\w.-]+)+$/
const CAPABILITIES = [
  'tools',
  'prompts',
  'resources',
  'completions',
  'logging',
  'extensions',
  'experimental',
  'tasks',
]

/** @throws TypeError for an identifier that no extension may have. */
export function checkId(id: string): void {
  const prefix = ID.exec(id)?.[1]
  if (prefix === undefined || id.length > MAX_ID)
    throw new TypeError(
      `"${id}" is not the identifier of an extension: write your domain reversed, "/" and a name, such as com.example/skills.`,
    )
  const isReserved = /^[^.]+\.(?:modelcontextprotocol|mcp)(?:\.|$)/i.test(prefix)
  if (isReserved && !OFFICIAL.includes(id))
    throw new TypeError(
      `"${id}" is reserved for MCP, which has defined no such extension: write your own domain reversed, such as com.example/skills.`,
    )
}

/** @throws TypeError for a method that MCP, or another extension of MCP, has. */
export function checkMethodName(id: string, name: string): void {
  if (name.startsWith('notifications/'))
    throw new TypeError(`Extension "${id}" has the method "${name}", which is the name of a notification.`)
  if (!isOwned(id, name, 'method') && CORE_METHOD.test(name))
    throw new TypeError(`Extension "${id}" cannot have the method "${name}": it is reserved for MCP.`)
  if (!METHOD.test(name) || name.length > MAX_ID)
    throw new TypeError(`"${name}" of extension "${id}" is not the name of a method, such as skills/list.`)
}

/** @throws TypeError for a notification that MCP, or another extension of MCP, has. */
export function checkNotificationName(id: string, name: unknown): void {
  const text = String(name)
  if (!text.startsWith('notifications/') || !METHOD.test(text) || text.length > MAX_ID)
    throw new TypeError(
      `"${text}" of extension "${id}" is not the name of a notification, such as notifications/skills/changed.`,
    )
  if (!isOwned(id, text, 'notification') && CORE_NOTIFICATION.test(text))
    throw new TypeError(`Extension "${id}" cannot send "${text}": it is reserved for MCP.`)
}

/** @throws TypeError for a capability of MCP. */
export function checkCapability(id: string, name: string): void {
  if (CAPABILITIES.includes(name) || !/^[a-zA-Z]\w*$/.test(name))
    throw new TypeError(`Extension "${id}" cannot also be declared as "${name}": it is reserved for MCP.`)
}

/** @throws TypeError if it is one of another extension of MCP. */
function isOwned(id: string, name: string, kind: string): boolean {
  const owner = OWNED.find(([pattern]) => pattern.test(name))?.[1]
  if (owner !== undefined && owner !== id)
    throw new TypeError(`Extension "${id}" cannot have the ${kind} "${name}": it is one of ${owner}.`)
  return owner !== undefined
}
