/** The access of a caller that nobody has identified, on a server that does not authenticate callers itself. */
import { ErrorCode, ProtocolError } from '../definition/protocol-error.ts'
import type { Access, Guarded } from '../request/access.ts'

/** Everything that needs no scope. The challenge names no metadata: the app around the server decides who issues tokens. */
export const UNKNOWN_CALLER: Access = {
  isAnonymous: false,
  isKnown: false,
  allows: ({ scopes = [] }) => scopes.length === 0,
  refusal: (item) => needsToken(item, 'Bearer'),
}

/** Names no scopes: for a closed name and one that does not exist, the answer is the same (RFC 6750 §3). */
export function needsToken({ kind, name }: Guarded, challenge: string): ProtocolError {
  return new ProtocolError(
    ErrorCode.invalidRequest,
    `Unauthorized: ${kind} ${name} needs an access token.`,
    undefined,
    { status: 401, headers: { 'www-authenticate': challenge } },
  )
}
