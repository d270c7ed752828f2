/** Providers that sign users in, one per server. */
import type { OAuthClientProvider } from '@modelcontextprotocol/client'

/** The result of `createOAuthProvider`: a provider for each server, which cannot read what is stored for another server. */
export interface ServerOAuthProvider {
  /** The provider for the server at this URL. Its registration and tokens are stored for this URL. */
  forServer(url: string | URL): SignInProvider
}

/** The provider of one server. */
export interface SignInProvider extends OAuthClientProvider {
  /**
   * The provider that finishes the sign-in of this redirect, which works once. Undefined if this storage has no pending sign-in with its
   * `state` from the last hour. Does not affect other pending sign-ins.
   */
  finishing(callback: URLSearchParams): Promise<OAuthClientProvider | undefined>
}

/** Kept with the tokens: it is taken before they are refreshed, and saved with the new ones. */
export interface RefreshClaim {
  /** The storage. */
  readonly owner: object
  /** Whether this process may refresh. */
  take(): Promise<boolean>
  /** After a refresh without new tokens. */
  giveBack(): Promise<void>
}

/** The claim of each provider that `createOAuthProvider` made. */
export const refreshClaims = new WeakMap<OAuthClientProvider, RefreshClaim>()
