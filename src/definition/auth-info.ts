/** The verified token's facts, and whatever the verifier attached. */
export interface AuthInfo {
  token: string
  clientId: string
  scopes: string[]
  /** Seconds since the epoch. */
  expiresAt?: number
  resource?: URL
  extra?: Record<string, unknown>
}
