/**
 * Authorization: who may use a server (MCP, "Authorization"; RFC 9728, RFC 6750, RFC 8707). A separate entry point, so that
 * servers without it do not bundle it.
 */
export { anyOf } from './auth/any-of.ts'
export type {
  Admission,
  AnswerOwn,
  Auth,
  AuthContext,
  AuthRefusal,
  ResourceLocation,
  ServeContext,
} from './auth/auth.ts'
export { type BearerOptions, bearer, type VerifyToken } from './auth/bearer.ts'
export { createGate } from './auth/gate.ts'
export type { GateOptions } from './auth/gate-options.ts'
export { type IntrospectionOptions, introspection } from './auth/introspection.ts'
export { type JwtOptions, jwt } from './auth/jwt.ts'
export {
  auth0,
  clerk,
  cloudflareAccess,
  cognito,
  entra,
  keycloak,
  type PresetOptions,
  stytch,
  supabaseAuth,
  workos,
} from './auth/presets.ts'
export { type StaticToken, type StaticTokens, staticTokens } from './auth/static-tokens.ts'
export type { BoundTokenOptions, TokenKindOptions } from './auth/token-kind.ts'
export {
  InvalidTokenError,
  type TokenAnswer,
  type TokenContext,
  type VerifiedToken,
  type Verifier,
  VerifierMisconfiguredError,
  VerifierUnavailableError,
} from './auth/verifier.ts'
export { type HonoAuthOptions, type HonoAuthVariables, honoAuth } from './http/hono-auth.ts'
