/**
 * CORS for MCP clients in browsers (Fetch standard, "CORS protocol"). Without credentials: MCP uses bearer tokens.
 */

const EXPOSED_HEADERS = 'mcp-protocol-version, mcp-session-id, www-authenticate, x-request-id'

/** Lets the scripts of other origins read a response. */
export const CORS_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': EXPOSED_HEADERS,
} as const
