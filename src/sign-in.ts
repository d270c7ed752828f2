/**
 * The entry point `mayfly-mcp/sign-in`: people sign in to a server with an identity provider. The stores are in the entry points of their
 * engines, the providers in `mayfly-mcp/sign-in/google` and so on.
 */
export {
  type SignInAuth,
  type SignInOptions,
  signIn,
} from './sign-in/auth.ts'
export type { Machine } from './sign-in/clients/machines.ts'
export { type OidcOptions, oidc } from './sign-in/oidc.ts'
export { createMemoryGrants } from './sign-in/store/memory.ts'
export type { GrantEntry, GrantPage, GrantStore, GrantWrite } from './sign-in/store/store.ts'
export { UpstreamSignInError } from './sign-in/upstream/connection.ts'
export {
  type Upstream,
  UpstreamFault,
  type UpstreamFaultCode,
  type UpstreamIdentity,
  UpstreamRefusedError,
  type UpstreamReturn,
  type UpstreamStart,
  type UpstreamTokens,
  UpstreamUnavailableError,
} from './sign-in/upstream/upstream.ts'
