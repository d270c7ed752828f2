/**
 * `WWW-Authenticate: Bearer` (RFC 6750 §3, RFC 9728 §5.1).
 */

export interface Challenge {
  /** Undefined: this server has no metadata for the resource. */
  readonly metadataUrl?: string | undefined
  readonly scopes?: readonly string[]
  readonly error?: 'invalid_token' | 'insufficient_scope' | 'invalid_request' | undefined
  readonly description?: string | undefined
}

export function bearerChallenge({ metadataUrl, scopes = [], error, description }: Challenge): string {
  const parameters = [
    error !== undefined && `error="${error}"`,
    description !== undefined && `error_description="${quotable(description)}"`,
    scopes.length > 0 && `scope="${quotable(scopes.join(' '))}"`,
    metadataUrl !== undefined && `resource_metadata="${quotable(metadataUrl)}"`,
  ]
  return `Bearer ${parameters.filter(Boolean).join(', ')}`
}

/** Keeps only what RFC 6750 §3 allows in a quoted value, so that text cannot end the value or the header. */
function quotable(text: string): string {
  return text.replaceAll(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, '')
}
