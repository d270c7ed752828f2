/**
 * The options that all verifiers share.
 */
import { type Names, refuseUnknown } from '../definition/unknown-option.ts'

export interface GateOptions {
  /** Scopes that every call needs. Default: none. */
  scopes?: readonly string[]
  /**
   * Scopes for the challenge of a 401, which clients then request; never required. For issuers that name scopes differently in requests and
   * tokens (`api://shop-mcp/shop`), and for `offline_access`. Default: `scopes`.
   */
  scopeHints?: readonly string[]
  /** Scopes for `scopes_supported` of the metadata. Default: `scopeHints`. */
  scopesSupported?: readonly string[]
  /** What may be used without a token, by name; resources by URI or URI template. Default: nothing. */
  anonymous?: {
    readonly tools?: readonly string[]
    readonly prompts?: readonly string[]
    readonly resources?: readonly string[]
  }
  /** Issuer URLs for the metadata. Default: those of the verifier. */
  authorizationServers?: readonly string[]
  /** The URL of a page for developers (RFC 9728 `resource_documentation`). */
  documentationUrl?: string
  /** The name that clients show while signing in (RFC 9728 `resource_name`). Default: the server's. */
  resourceName?: string
}

/** The names of the options that all verifiers share. */
export const GATE_OPTIONS: Names<GateOptions> = {
  scopes: 'strings',
  scopeHints: 'strings',
  scopesSupported: 'strings',
  anonymous: 'object',
  authorizationServers: 'strings',
  documentationUrl: 'string',
  resourceName: 'string',
}
const ANONYMOUS: Names<NonNullable<GateOptions['anonymous']>> = {
  tools: 'strings',
  prompts: 'strings',
  resources: 'strings',
}

/** RFC 6749 §3.3. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/

/** For options that were checked by `GATE_OPTIONS`. @throws TypeError naming the option. */
export function checkGateOptions({ anonymous, ...options }: GateOptions): void {
  checkList('scopes', options.scopes, isScope, 'scopes, each a string without spaces')
  checkList('scopeHints', options.scopeHints, isScope, 'scopes, each a string without spaces')
  checkList('scopesSupported', options.scopesSupported, isScope, 'scopes, each a string without spaces')
  checkList('authorizationServers', options.authorizationServers, isUrl, 'URLs')
  const { resourceName } = options
  if (resourceName === '') throw new TypeError('"resourceName" must not be empty.')
  refuseUnknown('"anonymous"', anonymous, ANONYMOUS)
}

function checkList(
  option: string,
  value: readonly string[] = [],
  isRight: (item: string) => boolean,
  items: string,
): void {
  if (!value.every(isRight)) throw new TypeError(`"${option}" must be a list of ${items}.`)
}

function isScope(scope: string): boolean {
  return SCOPE.test(scope)
}

function isUrl(url: string): boolean {
  return URL.canParse(url)
}
