/** A verified token, with any data that the verifier attached. */
export interface AuthInfo {
  token: string
  clientId: string
  scopes: string[]
  /** Seconds since the epoch. Undefined: it does not expire. */
  expiresAt?: number
  resource?: URL
  extra?: Record<string, unknown>
}
