/** Mastra's exports for signing in, which throw with what to write instead: a missing export would fail without that advice. */

/** @deprecated Mastra's; throws a TypeError that says what to write instead: `createOAuthProvider`. */
export class MCPOAuthClientProvider {
  constructor(_options?: object) {
    throw new TypeError(
      'MCPOAuthClientProvider is not supported: write createOAuthProvider({ storage, redirectUrl, onRedirect, clientMetadata }), whose onRedirect is Mastra’s onRedirectToAuthorization.',
    )
  }
}

/** @deprecated Mastra's; throws a TypeError that says what to write instead: `token` of the server. */
export function createSimpleTokenProvider(_token?: string, _options?: object): never {
  throw new TypeError(
    'createSimpleTokenProvider is not supported: write servers: { name: { url, token } }, which also takes a function.',
  )
}
