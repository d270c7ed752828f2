/**
 * CORS for MCP clients in browsers (Fetch standard, "CORS protocol"). Without credentials: MCP uses bearer tokens.
 */
import { BufferedReply } from '../protocol/reply.ts'

const ALLOWED_HEADERS = [
  'accept',
  'authorization',
  'content-type',
  'last-event-id',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'mcp-session-id',
  'x-api-key',
  'x-request-id',
]

const EXPOSED_HEADERS = 'mcp-protocol-version, mcp-session-id, www-authenticate, x-request-id'

const DAY_SECONDS = '86400'

/** Lets the scripts of other origins read a response. */
export const CORS_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': EXPOSED_HEADERS,
} as const

/** Answers a preflight. The names of `Mcp-Param-*` headers depend on the tools, so the requested ones are allowed one by one. */
export function preflightResponse(request: Request, methods: string): BufferedReply {
  const asked = (request.headers.get('access-control-request-headers') ?? '').toLowerCase().split(',')
  const params = asked
    .map((name) => name.trim())
    .filter((name) => /^mcp-param-[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name))
  return new BufferedReply(null, 204, {
    ...CORS_HEADERS,
    'access-control-allow-methods': methods,
    'access-control-allow-headers': [...ALLOWED_HEADERS, ...params].join(', '),
    'access-control-max-age': DAY_SECONDS,
    vary: 'Access-Control-Request-Headers',
  })
}
