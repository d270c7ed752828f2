/** The answer to a preflight of a browser. */
import { BufferedReply } from '../protocol/reply.ts'
import { CORS_HEADERS } from './cors.ts'

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

const DAY_SECONDS = '86400'

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
