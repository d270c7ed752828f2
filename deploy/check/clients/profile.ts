/** The profile of a client: plain data, where each step has its source and a date. `walk/walk.ts` interprets it. */

export interface Source {
  readonly url: string
  /** The date of the source. For sources without a date, such as source code and most documentation, the day it was read: `2026-08-12`. */
  readonly date: string
}

export interface Profile {
  readonly id: ClientId
  /** The client's name for people. */
  readonly name: string
  /** Its `User-Agent`, if firewalls are known to refuse it. Default: that of `mayfly check`, which is always appended. */
  readonly userAgent?: string
  /** In the order of the client. */
  readonly steps: readonly Step[]
}

export type ClientId = 'claude' | 'chatgpt' | 'vscode' | 'cursor'

/** Required: a profile does not contain steps without a source. */
interface Known {
  /** Stable, for scripts; shown as `<client>.<id>`. */
  readonly id: string
  readonly sources: readonly [Source, ...Source[]]
}

/** Accepts the URL that its user enters. */
export interface Reach extends Known {
  readonly does: 'reach'
  /** Whether it runs on its vendor's servers and accepts only public https URLs. */
  readonly isHosted: boolean
  /** Whether it removes a trailing slash from the URL. */
  readonly removesSlash: boolean
}

/** Sends its first request, without a token. */
export interface Knock extends Known {
  readonly does: 'knock'
  /** Whether it tries `server/discover` of 2026-07-28 before `initialize`. */
  readonly isModernFirst: boolean
  /** Statuses on which it signs in. */
  readonly signsInAt: readonly number[]
  /** Redirects that it does not follow; undefined: unknown. */
  readonly stopsAt?: { readonly statuses: readonly number[]; readonly toHttp: boolean }
  /** The addresses or agent that a firewall must allow, if that is a known cause. */
  readonly allow?: string
}

/** Checks whether a server without authentication has OAuth metadata, which would make the client sign in. */
export interface LookForOAuth extends Known {
  readonly does: 'look for OAuth'
}

/** Finds the protected resource metadata (RFC 9728). */
export interface ReadResource extends Known {
  readonly does: 'read resource'
  /** Where it looks, in this order. */
  readonly places: readonly ('challenge' | 'path' | 'root')[]
  /** Whether it looks only there if a challenge names metadata. */
  readonly isChallengeFinal: boolean
  /** How much of `resource` must equal the URL that was entered. */
  readonly compares: 'URL' | 'URL except a trailing slash' | 'origin and parent path' | 'nothing'
  /** What it does with a document for another resource. */
  readonly mismatch: 'stop' | 'ignore it'
  /** What it does without a document that it accepts: stop, or use the server itself as the authorization server. */
  readonly without: 'stop' | 'use the origin'
  /** Whether its users can enter a token as a header, for servers without an authorization server. */
  readonly takesHeaders: boolean
}

/** Finds the authorization server's metadata (RFC 8414, OpenID Connect Discovery). */
export interface ReadIssuer extends Known {
  readonly does: 'read issuer'
  /** Whether it tries the others if the first one has no metadata. */
  readonly tries: 'first' | 'each'
  /** Whether it also looks at the root of an issuer with a path. */
  readonly triesRoot: boolean
  /** Whether it looks at the server's own origin if none of the issuers has metadata. */
  readonly fallsBack: boolean
}

/** Looks for S256 in `code_challenge_methods_supported`. */
export interface RequirePkce extends Known {
  readonly does: 'require PKCE'
  /** How it treats a document without that member. */
  readonly absent: 'stop' | 'unknown'
}

/** Registers with the authorization server. */
export interface Register extends Known {
  readonly does: 'register'
  /** The ways in order of preference: by a client ID metadata document, or dynamically (RFC 7591). */
  readonly ways: readonly ('document' | 'dynamic')[]
  /** What its user can do if none of them works, and whether the client prompts for it. */
  readonly otherwise: { readonly how: string; readonly isAsked: boolean }
  /** What it registers, with its real redirect URIs, since servers check them. */
  readonly request: {
    readonly redirect_uris: readonly string[]
    readonly token_endpoint_auth_method: 'none' | 'client_secret_post'
    readonly grant_types: readonly string[]
    readonly application_type?: 'native' | 'web'
  }
  /** How it can authenticate at the token endpoint; undefined: not known. */
  readonly tokenMethods?: readonly string[]
  /** Whether it was once observed to give up on an answer without `registration_client_uri`. */
  readonly wantsClientUri?: boolean
}

/** Requests scopes, and with them a refresh token. */
export interface Refresh extends Known {
  readonly does: 'refresh'
}

/** Reads the list of tools, with the limits of its models. */
export interface ListTools extends Known {
  readonly does: 'list tools'
  /** What happens to a list with a name or a schema that it refuses. */
  readonly refusal: 'wrong' | 'degrades'
  /** The names that it accepts. */
  readonly names?: { readonly pattern: RegExp; readonly rule: string }
  /** Whether it refuses `oneOf`, `anyOf` and `allOf` at the root of an input schema. */
  readonly refusesRootUnions: boolean
  /** How many tools it accepts. */
  readonly max?: number
  /** Annotations that it needs to know what a tool does. */
  readonly annotations?: readonly string[]
}

/** Looks for events that it can subscribe to (SEP-3415). */
export interface FindEvents extends Known {
  readonly does: 'find events'
  readonly mode: 'webhook'
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
  | FindEvents

/** Titles are the same for each client, so that reports can be compared. */
export const TITLES: { readonly [does in Step['does']]: string } = {
  reach: 'accepts the URL',
  knock: 'sends a first request without a token',
  'look for OAuth': 'finds no sign-in on a server that is open',
  'read resource': 'reads the protected resource metadata',
  'read issuer': 'reads the authorization server metadata',
  'require PKCE': 'finds PKCE with S256',
  register: 'registers',
  refresh: 'gets a refresh token',
  'list tools': 'lists the tools',
  'find events': 'finds events that wake it up',
}
