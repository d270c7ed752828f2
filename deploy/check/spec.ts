/** Links to the specification. */

const MODERN_SPEC = 'https://modelcontextprotocol.io/specification/2026-07-28'
const LEGACY_SPEC = 'https://modelcontextprotocol.io/specification/2025-11-25'

export const SPEC = {
  basic: `${MODERN_SPEC}/basic/index`,
  versioning: `${MODERN_SPEC}/basic/versioning`,
  http: `${MODERN_SPEC}/basic/transports/streamable-http`,
  discover: `${MODERN_SPEC}/server/discover`,
  tools: `${MODERN_SPEC}/server/tools`,
  prompts: `${MODERN_SPEC}/server/prompts`,
  resources: `${MODERN_SPEC}/server/resources`,
  pagination: `${MODERN_SPEC}/server/utilities/pagination`,
  subscriptions: `${MODERN_SPEC}/basic/patterns/subscriptions`,
  authorization: `${MODERN_SPEC}/basic/authorization`,
  authorizationServers: `${MODERN_SPEC}/basic/authorization/authorization-server-discovery`,
  authorizationSecurity: `${MODERN_SPEC}/basic/authorization/security-considerations`,
  lifecycle: `${LEGACY_SPEC}/basic/lifecycle`,
  legacyHttp: `${LEGACY_SPEC}/basic/transports`,
  fetch: 'https://fetch.spec.whatwg.org',
  rfc: 'https://www.rfc-editor.org/rfc',
} as const
