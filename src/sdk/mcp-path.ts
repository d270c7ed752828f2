/** The one path of an app that is its MCP endpoint, and which paths a router could take for it. */

/** Not a pattern of a router, whose paths would not be guarded. */
const PATH = /^\/[^?#:*{}()\\%]*[^?#/:*{}()\\%]$/

/** As `mcpPath`: there is nothing but MCP. */
const EVERY_PATH = '*'

/**
 * The path of the endpoint; undefined if there is nothing but MCP.
 *
 * @throws TypeError for anything else, and with `auth` for none: nobody has said what `auth` guards.
 */
export function toEndpoint(mcpPath: unknown, auth: unknown): string | undefined {
  if (mcpPath === undefined && auth !== undefined) {
    throw new TypeError(
      'fromNode with "auth" needs "mcpPath": the path of the MCP endpoint in your app, such as "/mcp" ("auth" does not guard its other routes), or "*" if the handler serves nothing but MCP.',
    )
  }
  if (mcpPath === undefined || mcpPath === EVERY_PATH) return undefined
  if (typeof mcpPath === 'string' && PATH.test(mcpPath)) return mcpPath
  throw new TypeError(
    '"mcpPath" must be the path of the MCP endpoint in the app, such as "/mcp", without parameters, wildcards and escapes, or "*" for a handler that serves nothing but MCP.',
  )
}

/** What a path is: the endpoint itself, one that only begins with its text, or undefined for a route of the app. */
export type Reach = (path: string) => 'endpoint' | 'near' | undefined

export interface Endpoint {
  readonly path: string
  readonly reach: Reach
}

/**
 * Whether a router may take a path for `endpoint`, or for one that begins with its text: a mount of Connect also matches `/mcp.json`, one of h3
 * `/mcpx`. Routers differ in case, Unicode forms, escapes, slashes, dot segments and parameters after `;`: otherwise another spelling would reach the
 * endpoint of the app without the guard.
 */
export function createReach(endpoint: string): Reach {
  const wanted = endpoint.normalize(COMPATIBLE).toLowerCase()
  const depth = wanted.split('/').length - 1
  return (path) => {
    const text = decoded(path)
    // After two slashes, `new URL(request.url, base)` takes a segment for the host.
    if (text === undefined) return 'near'
    let isNear = /^[/\\]{2}/.test(text)
    const segments: string[] = []
    for (const segment of text.toLowerCase().split(/[/\\]/)) {
      const name = segment.replace(/[;?#].*$/s, '')
      if (name === '..') segments.pop()
      else if (name !== '' && name !== '.') segments.push(name)
      // Also on the way: a mount does not resolve `/mcp/..%2fother`.
      isNear ||= segments.length === depth && `/${segments.join('/')}`.startsWith(wanted)
    }
    // Compared once more at the end, since what comes after the endpoint is another path.
    if (segments.length === depth && `/${segments.join('/')}` === wanted) return 'endpoint'
    return isNear ? 'near' : undefined
  }
}

/** How often a path may be escaped: a router decodes once, a proxy before it once more. Each time takes a pass over the path. */
const MAX_ESCAPED = 3

/** What `new URL` drops, wherever it is: `/m<tab>cp` is the path `/mcp` for a handler that decodes before it parses. */
const DROPPED = /[\t\n\r]/g

/** Letters that are others in this form, such as those of full width, are `/mcp` for a handler that normalizes paths. */
const COMPATIBLE = 'NFKC'

/** Without escapes, also escaped ones. Undefined if they are not valid, or escaped more often. */
function decoded(path: string): string | undefined {
  let text = path
  try {
    for (let times = 0; times <= MAX_ESCAPED; times++) {
      const next = decodeURIComponent(text).normalize(COMPATIBLE).replace(DROPPED, '')
      if (next === text) return text
      text = next
    }
  } catch {}
  return undefined
}
