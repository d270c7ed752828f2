/** What somebody who writes a provider for the official SDK's `auth` has, kept to the minimum. */
export const REDIRECT_URL = 'http://127.0.0.1:9/callback'

/** A provider with a client of its own and no token. `redirects`: where it was sent to sign in. */
export function createOwnProvider<More extends object>(redirects: URL[], more: More) {
  return {
    redirectUrl: REDIRECT_URL,
    clientMetadata: { redirect_uris: [REDIRECT_URL] },
    clientInformation: (): { client_id: string; issuer?: string } => ({ client_id: 'own' }),
    tokens: () => undefined,
    saveTokens: () => {},
    saveCodeVerifier: () => {},
    codeVerifier: () => 'verifier',
    redirectToAuthorization: (url: URL) => void redirects.push(url),
    ...more,
  }
}
