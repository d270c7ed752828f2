/**
 * Which tokens are access tokens: an issuer also signs ID tokens, refresh tokens, logout tokens and others for the same audience (RFC 9068 §4,
 * RFC 8725 §3.11 and §3.12).
 */
import { InvalidTokenError } from './verifier.ts'

/** The options of `introspection` about the kind of token, which `jwt` has too. */
export interface BoundTokenOptions {
  /**
   * Accepts tokens that are bound to a key of their client by `cnf` (DPoP, RFC 9449; mTLS, RFC 8705), without a proof that the caller has
   * that key: anyone who steals one can use it. Default false.
   */
  allowBoundTokens?: boolean
}

/** The options of `jwt` about the kind of token. */
export interface TokenKindOptions extends BoundTokenOptions {
  /**
   * Values of the header `typ` that are accepted besides `at+jwt` (RFC 9068 §2.1), for issuers whose access tokens have another one. `JWT`
   * includes tokens without `typ`; what marks an ID token is refused nevertheless. Default: none.
   */
  tokenTypes?: readonly string[]
}

interface Token {
  readonly issuer: string | undefined
  /** The protected header of a JWT. Undefined for an answer of introspection. */
  readonly header?: { readonly typ?: unknown }
  readonly claims: { readonly [claim: string]: unknown }
}

const ACCESS_TOKEN = 'at+jwt'
const UNTYPED = 'jwt'

/** Claims in which issuers name the kind: Keycloak; Cognito and Hydra; RFC 7662 §2.2 and others. */
const KIND_CLAIMS = ['typ', 'token_use', 'token_type']
const ACCESS_KINDS = ['access', 'access_token', 'bearer', ACCESS_TOKEN]

/** OpenID Connect Core §2 and §3.3.2.11 for ID tokens; RFC 8417 §2.2 for logout tokens and security events. */
const FOREIGN_CLAIMS = ['nonce', 'at_hash', 'c_hash', 's_hash', 'events']

const MAX_SHOWN_CHARACTERS = 40

/** Why a verified token is refused: it is not an access token, or is bound to a key. The `cause`, for the log, says what arrived and what to set. */
export function tokenKindRefusal(token: Token, options: TokenKindOptions): InvalidTokenError | undefined {
  const { allowBoundTokens = false, tokenTypes = [] } = options
  const { claims, header } = token
  if (!allowBoundTokens && claims.cnf !== undefined) {
    return refused(
      token,
      'The token is bound to a key, which this server does not check.',
      'it has the claim "cnf", and no proof of that key can be checked here. Let the issuer issue plain bearer tokens; allowBoundTokens: true accepts them from anyone who has them',
    )
  }
  const accepted = tokenTypes.map(toType)
  const type = header && toType(header.typ)
  if (type !== undefined && type !== ACCESS_TOKEN && !accepted.includes(type)) {
    const listed = type === UNTYPED ? 'JWT' : shown(type).slice(1, -1)
    const arrived = isNamed(header?.typ)
      ? `its header has "typ": ${shown(header?.typ)}`
      : 'its header has no "typ"'
    return notAccess(
      token,
      `${arrived} instead of "at+jwt". If the access tokens of this issuer are like that, set tokenTypes: ["${listed}"]`,
    )
  }
  const kinds = [...ACCESS_KINDS, ...accepted, ...(allowBoundTokens ? ['dpop'] : [])]
  const named = KIND_CLAIMS.filter((claim) => isNamed(claims[claim]))
  const other = named.find((claim) => !kinds.includes(toType(claims[claim])))
  if (other !== undefined)
    return notAccess(
      token,
      `it has the claim "${other}": ${shown(claims[other])}. Clients must send the access token`,
    )
  if ((type !== undefined && type !== UNTYPED) || named.length > 0) return undefined
  const foreign = FOREIGN_CLAIMS.find((claim) => claims[claim] !== undefined)
  if (foreign === undefined) return undefined
  return notAccess(
    token,
    `it has the claim "${foreign}", as ID tokens and logout tokens have. Clients must send the access token`,
  )
}

/** Lower case, without the prefix that may be omitted (RFC 7515 §4.1.9). */
function toType(typ: unknown): string {
  if (!isNamed(typ)) return UNTYPED
  return typ.toLowerCase().replace(/^application\//, '')
}

function isNamed(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function notAccess(token: Token, reason: string): InvalidTokenError {
  return refused(token, 'The token is not an access token.', reason)
}

function refused({ issuer }: Token, message: string, reason: string): InvalidTokenError {
  const from = issuer === undefined ? '' : ` of ${issuer}`
  return new InvalidTokenError(message, { cause: new Error(`A valid token${from} was refused: ${reason}.`) })
}

/** As JSON, so that a value cannot steer a terminal or a log. */
function shown(value: unknown): string {
  return JSON.stringify(String(value).slice(0, MAX_SHOWN_CHARACTERS))
}
