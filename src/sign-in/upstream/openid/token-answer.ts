/** The answer of a token endpoint (RFC 6749 §5.1). */
import type * as oauth from 'oauth4webapi'
import { isObject } from '../../../definition/is-object.ts'
import { quoted } from '../errors.ts'
import { UpstreamFault, type UpstreamTokens } from '../upstream.ts'

export interface Members {
  readonly [name: string]: unknown
}

/** The answer of a token endpoint. */
export interface TokenAnswer {
  /** It can still be read. */
  readonly response: Response
  /** Of its JSON object; else none. */
  readonly members: Members
}

/** Members that nobody needs, and that some providers send as null: RFC 6749 §5.1 has no null. */
const OPTIONAL = ['expires_in', 'refresh_token', 'scope', 'id_token']

/** Without optional members that have no value: new tokens would be lost for them. */
export async function toTokenAnswer(response: Response): Promise<TokenAnswer> {
  const value: unknown = await response
    .clone()
    .json()
    .catch(() => undefined)
  const all = isObject(value) ? value : {}
  const empty = OPTIONAL.filter((name) => all[name] === null || all[name] === '')
  if (empty.length === 0) return { response, members: all }
  const members = without(all, empty)
  return { response: withMembers(response, members), members }
}

export function withMembers({ status, headers }: Response, members: Members): Response {
  return new Response(JSON.stringify(members), { status, headers })
}

export function textOrNone(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

export function without(members: Members, names: readonly string[]): Members {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)))
}

export function toTokens({
  access_token,
  refresh_token,
  expires_in,
  scope,
  token_type,
}: oauth.TokenEndpointResponse): UpstreamTokens {
  if (token_type !== 'bearer')
    throw new UpstreamFault(
      'answer_invalid',
      `The access token is of type ${quoted(token_type, [])}, not Bearer.`,
    )
  return {
    accessToken: access_token,
    ...(refresh_token !== undefined && { refreshToken: refresh_token }),
    ...(expires_in !== undefined && { expiresAt: Date.now() + expires_in * 1000 }),
    ...(scope !== undefined && { scopes: scope.split(' ') }),
  }
}
