/**
 * What a profile of a client is: data alone, each step with where it is known from and of which day. `walk/walk.ts` interprets it.
 * Exports `Profile` and the kinds of `Step`.
 */

export interface Source {
  readonly url: string
  /** The day of the text; where it has none, as source code and most documentation, the day on which it was read: `2026-08-12`. */
  readonly date: string
}

export interface Profile {
  readonly id: ClientId
  /** As its users call it. */
  readonly name: string
  /**
   * What it sends as `User-Agent`, where firewalls are known to refuse it by that. Default: that of `mayfly check`, which is
   * added to it in any case.
   */
  readonly userAgent?: string
  /** In the order in which the client takes them. */
  readonly steps: readonly Step[]
}

export type ClientId = 'claude' | 'chatgpt' | 'vscode' | 'cursor'

/** A step whose source is missing is not to be written: what is not known is not claimed. */
interface Known {
  /** Stable, for scripts; shown as `<client>.<id>`. */
  readonly id: string
  readonly sources: readonly [Source, ...Source[]]
}

/** Takes the URL as its user enters it. */
export interface Reach extends Known {
  readonly does: 'reach'
  /** Whether it runs elsewhere than its user, and takes public https URLs alone. */
  readonly isHosted: boolean
  /** Whether it removes a slash at the end of the URL. */
  readonly removesSlash: boolean
}

/** Sends its first request, without a token. */
export interface Knock extends Known {
  readonly does: 'knock'
  /** Whether it tries `server/discover` of 2026-07-28 before `initialize`. */
  readonly isModernFirst: boolean
  /** Statuses at which it signs in. */
  readonly signsInAt: readonly number[]
  /** Redirects that it does not get past; undefined: not known. */
  readonly stopsAt?: { readonly statuses: readonly number[]; readonly toHttp: boolean }
  /** Whose addresses or agent a firewall must let through, where that is known as a cause. */
  readonly allow?: string
}

/** Looks whether a server that asks for no token has OAuth metadata all the same, which would make it sign in. */
export interface LookForOAuth extends Known {
  readonly does: 'look for OAuth'
}

/** Finds the protected resource metadata (RFC 9728). */
export interface ReadResource extends Known {
  readonly does: 'read resource'
  /** Where it looks, in this order. */
  readonly places: readonly ('challenge' | 'path' | 'root')[]
  /** Whether a challenge that names metadata is the only place then. */
  readonly isChallengeFinal: boolean
  /** How much of `resource` must be the URL that was entered. */
  readonly compares: 'URL' | 'URL but for a slash' | 'origin and parent path' | 'nothing'
  /** What it does with a document of another resource. */
  readonly mismatch: 'stop' | 'ignore it'
  /** What it does without a document that it accepts: stop, or take the server itself for the authorization server. */
  readonly without: 'stop' | 'use the origin'
  /** Whether its users can enter a token as a header, for servers that name no authorization server. */
  readonly takesHeaders: boolean
}

/** Finds the authorization server's metadata (RFC 8414, OpenID Connect Discovery). */
export interface ReadIssuer extends Known {
  readonly does: 'read issuer'
  /** Whether it tries the others where the first one listed has no metadata. */
  readonly tries: 'first' | 'each'
  /** Whether it also looks at the root of an issuer with a path. */
  readonly triesRoot: boolean
  /** Whether it looks at the server's own origin if no issuer that is named has metadata. */
  readonly fallsBack: boolean
}

/** Looks for S256 in `code_challenge_methods_supported`. */
export interface RequirePkce extends Known {
  readonly does: 'require PKCE'
  /** What a document without that member means to it. */
  readonly absent: 'stop' | 'unknown'
}

/** Becomes known to the authorization server. */
export interface Register extends Known {
  readonly does: 'register'
  /** How, in the order of preference: by a client ID metadata document, or dynamically (RFC 7591). */
  readonly ways: readonly ('document' | 'dynamic')[]
  /** What its user can do where none of the ways is open, and whether it asks for that by itself. */
  readonly otherwise: { readonly how: string; readonly isAsked: boolean }
  /** What it registers: its real redirect URIs, since servers refuse by them. */
  readonly request: {
    readonly redirect_uris: readonly string[]
    readonly token_endpoint_auth_method: 'none' | 'client_secret_post'
    readonly grant_types: readonly string[]
    readonly application_type?: 'native' | 'web'
  }
  /** How it can authenticate at the token endpoint; undefined: not known. */
  readonly tokenMethods?: readonly string[]
  /** Whether it was seen to give up on an answer without `registration_client_uri`. */
  readonly wantsClientUri?: boolean
}

/** Asks for scopes, and so for a refresh token. */
export interface Refresh extends Known {
  readonly does: 'refresh'
}

/** Reads the list of tools, as its models take it. */
export interface ListTools extends Known {
  readonly does: 'list tools'
  /** What becomes of a list with a name or a schema that it refuses. */
  readonly refusal: 'wrong' | 'degrades'
  /** What it accepts as a name. */
  readonly names?: { readonly pattern: RegExp; readonly rule: string }
  /** Whether it refuses `oneOf`, `anyOf` and `allOf` at the root of an input schema. */
  readonly refusesRootUnions: boolean
  /** How many it takes. */
  readonly max?: number
  /** Annotations without which it cannot tell what a tool does. */
  readonly annotations?: readonly string[]
}

export type Step =
  | Reach
  | Knock
  | LookForOAuth
  | ReadResource
  | ReadIssuer
  | RequirePkce
  | Register
  | Refresh
  | ListTools

/** Titles are the walker's: the same for each client, so that reports can be compared. */
export const TITLES: { readonly [does in Step['does']]: string } = {
  reach: 'takes the URL',
  knock: 'sends a first request without a token',
  'look for OAuth': 'finds no sign-in on a server that is open',
  'read resource': 'reads the protected resource metadata',
  'read issuer': 'reads the authorization server metadata',
  'require PKCE': 'finds PKCE with S256',
  register: 'registers',
  refresh: 'gets a refresh token',
  'list tools': 'lists the tools',
}
