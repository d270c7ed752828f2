/** A verified token, with any data that the verifier attached. */
export interface AuthInfo {
  token: string
  clientId: string
  scopes: string[]
  /** Seconds since the epoch. Undefined: it does not expire. */
  expiresAt?: number
  resource?: URL
  /**
   * Which of `anyOf` knows the caller: `'api-keys'`, or the issuer of its token. Callers of two realms are never the same, whatever their
   * names. Undefined: the server takes callers of one kind.
   */
  realm?: string
  extra?: Record<string, unknown>
}
