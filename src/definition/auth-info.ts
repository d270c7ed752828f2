/** A verified token, with any data that the verifier attached. */
export interface AuthInfo {
  token: string
  clientId: string
  scopes: string[]
  /** The user, as the issuer names them: the same at every call. Undefined: the token names only a client. */
  subject?: string
  /** What the issuer or the identity provider says about the caller: the claims of a JWT, or the answer of introspection. */
  claims?: Record<string, unknown>
  /** Seconds since the epoch. Undefined: it does not expire. */
  expiresAt?: number
  resource?: URL
  /**
   * Which of `anyOf` knows the caller: `'api-keys'`, or the issuer of its token. Callers of two realms are never the same, whatever their
   * names. Undefined: the server takes callers of one kind.
   */
  realm?: string
  extra?: Record<string, unknown>
  /**
   * The identity provider's access token of a person who came in by `signIn`, for calls to the provider's own APIs: refreshed if it expires
   * within a minute, by one process at a time. Resolves within 30 seconds. It is the person's: never return it to a client. Undefined for
   * all other callers, such as machines, and where a task runs later. No copy of the caller has it.
   *
   * @throws UpstreamSignInError if the provider ended the session, and the client has to sign in again; UpstreamUnavailableError if the
   * provider does not answer.
   */
  upstreamToken?(): Promise<string>
}
