/** Providers that sign users in, one for each server. */
import type { OAuthClientProvider } from '@modelcontextprotocol/client'

/** What `createOAuthProvider` makes: a provider for each server, none of which has what another one's storage holds. */
export interface ServerOAuthProvider {
  /** The provider of the server at this URL, which is what its registration and tokens are kept for. */
  forServer(url: string | URL): SignInProvider
}

/** One server's. */
export interface SignInProvider extends OAuthClientProvider {
  /**
   * The provider that ends the sign-in which this redirect answers, and ends it once. Undefined where this storage began none with
   * its `state` within the last hour; what is under way stays so.
   */
  finishing(callback: URLSearchParams): Promise<OAuthClientProvider | undefined>
}
