/**
 * What the pages of sign-in show. `renderPage` of pages.ts makes a whole HTML document of it, and `pagePolicy` its
 * Content-Security-Policy. Every text is treated as untrusted: clients choose their names.
 */

/** "May this client use the server as you?" The form is sent by POST to `action`, with the hidden fields and `decision`: `approve` or `deny`. */
export interface ConsentPage {
  readonly page: 'consent'
  /** The MCP server's name for people. */
  readonly server: string
  readonly client: PageClient
  /** Undefined: not known yet, the provider comes next. */
  readonly person?: PagePerson | undefined
  /** The provider's name, such as `Google`. */
  readonly upstream: string
  /** What the provider is asked for. */
  readonly upstreamScopes: readonly string[]
  readonly scopes: readonly PageScope[]
  /** The link "Not you?": signs in with another account. Undefined: there is none. */
  readonly switchUrl?: string | undefined
  /** The page where the person can take it back. Undefined: it is not linked. */
  readonly connectionsUrl?: string | undefined
  readonly action: string
  readonly fields: { readonly [name: string]: string }
}

export interface PageClient {
  /** As the client calls itself: it proves nothing. */
  readonly name: string
  /** The host of its metadata document, which is verified. Undefined: anybody may have registered the name. */
  readonly host?: string | undefined
  /** Where the browser goes afterwards: `client.example`, or `cursor:` for the scheme of an app. */
  readonly redirectHost: string
  readonly redirectUri: string
  /** An app on the person's own computer. */
  readonly isLoopback: boolean
}

export interface PagePerson {
  readonly name?: string | undefined
  readonly email?: string | undefined
}

export interface PageScope {
  readonly name: string
  /** A sentence, such as "Change your notes". */
  readonly sentence: string
}

/** The clients that somebody has let in. Each form is sent by POST to `action` with the hidden fields and `revoke`: the connection's `id`. */
export interface ConnectionsPage {
  readonly page: 'connections'
  readonly server: string
  readonly person: PagePerson
  readonly upstream: string
  readonly connections: readonly PageConnection[]
  /** Whether one was just removed. */
  readonly isRemoved: boolean
  /** Shows the button "Sign out", whose form has `sign_out` instead of `revoke`. Default false. */
  readonly canSignOut?: boolean
  readonly action: string
  readonly fields: { readonly [name: string]: string }
}

export interface PageConnection {
  readonly id: string
  readonly client: Omit<PageClient, 'redirectUri'>
  readonly scopes: readonly PageScope[]
  /** Milliseconds since the epoch. */
  readonly since: number
}

/** Something went wrong, and the browser cannot be sent back to the client. */
export interface ErrorPage {
  readonly page: 'error'
  readonly server: string
  readonly title: string
  /** What happened and what to do next. */
  readonly message: string
  /**
   * A link, `Return to ${host}`: anybody can register a client with any URL, so the browser is not sent there unasked (RFC 9700 §4.11.2).
   */
  readonly returnTo?: { readonly url: string; readonly host: string } | undefined
}

/** Of `mayfly dev`: stands in for an identity provider. The form is sent by GET to `action` with the hidden fields, `name` and `email`. */
export interface WhoPage {
  readonly page: 'who'
  readonly server: string
  /** Where it leads without an answer. Undefined: there is no such link. */
  readonly cancelUrl?: string | undefined
  readonly action: string
  readonly fields: { readonly [name: string]: string }
}

export type SignInPage = ConsentPage | ConnectionsPage | ErrorPage | WhoPage
