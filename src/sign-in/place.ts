/** The URLs of sign-in, below the prefix of the server's endpoint, and which of them a request is for. */

/** The server that signs people in, as its operator or platform names it. */
export interface Place {
  /** The origin and the prefix of the endpoint (RFC 8414 §2), without a trailing slash. */
  readonly issuer: string
  /** The URL of the MCP endpoint: the audience of tokens (RFC 8707). */
  readonly resource: string
  readonly authorize: string
  readonly token: string
  readonly register: string
  readonly callback: string
  readonly connections: string
  readonly keys: string
  /** Cookies can be limited to this host and TLS. False: http on loopback. */
  readonly isSecure: boolean
}

export type Route = 'metadata' | 'authorize' | 'token' | 'register' | 'callback' | 'connections' | 'keys'

const WELL_KNOWN = '/.well-known/oauth-authorization-server'
/** The only one of clients' URLs for metadata that is below a prefix (MCP 2026-07-28, "Authorization Server Metadata Discovery"). */
const OPENID = '/.well-known/openid-configuration'

const ROUTES: { readonly [path: string]: Route } = {
  '/oauth/authorize': 'authorize',
  '/oauth/token': 'token',
  '/oauth/register': 'register',
  '/oauth/callback': 'callback',
  '/connections': 'connections',
  '/oauth/jwks': 'keys',
}

/** The endpoint if nothing names it, as everywhere. */
const DEFAULT_PATH = '/mcp'

/**
 * The MCP endpoint of a server, from the location of a request to it or to sign-in. The location of the latter ends with its path, unless
 * the operator has named the endpoint.
 */
export function endpointOf(location: string): string {
  const known = location.indexOf(WELL_KNOWN)
  if (known >= 0) return location.slice(0, known) + DEFAULT_PATH
  const route = [OPENID, ...Object.keys(ROUTES)].find((path) => location.endsWith(path))
  return route === undefined ? location : location.slice(0, -route.length) + DEFAULT_PATH
}

/** Everything is beside the endpoint: that of `https://example.com/notes/mcp` is at `https://example.com/notes`. */
export function placeOf(resource: string): Place {
  const { origin, pathname } = new URL(resource)
  const base = origin + pathname.replace(/\/[^/]*\/*$/, '')
  return {
    issuer: base,
    resource,
    authorize: `${base}/oauth/authorize`,
    token: `${base}/oauth/token`,
    register: `${base}/oauth/register`,
    callback: `${base}/oauth/callback`,
    connections: `${base}/connections`,
    keys: `${base}/oauth/jwks`,
    isSecure: base.startsWith('https:'),
  }
}

/**
 * The route of a request's path, with or without the issuer's prefix: some platforms remove it. The metadata's well-known path comes before
 * the prefix (RFC 8414 §3.1) or, since paths before it may not reach this server, after it: there clients ask for that of OpenID, which
 * is for any authorization server (RFC 8414 §5).
 */
export function routeOf(path: string, { issuer }: Place): Route | undefined {
  const prefix = pathOf(issuer)
  if (path === WELL_KNOWN + prefix) return 'metadata'
  const own = withoutPrefix(path, prefix)
  if (own === WELL_KNOWN || (own === OPENID && prefix !== '')) return 'metadata'
  return Object.hasOwn(ROUTES, own) ? ROUTES[own] : undefined
}

/** Whether a path may be one of sign-in, at any prefix: all others are not looked at further. */
export function mayBeRoute(path: string): boolean {
  return path.includes(WELL_KNOWN) || [OPENID, ...Object.keys(ROUTES)].some((route) => path.endsWith(route))
}

export function withoutPrefix(path: string, prefix = ''): string {
  return path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : path
}

export function isOpenId(path: string): boolean {
  return path.endsWith(OPENID)
}

function pathOf(url: string): string {
  const { pathname } = new URL(url)
  return pathname === '/' ? '' : pathname
}
