/** Servers that lead those who sign in astray. */
import { type Exchange, type HostileServer, startHostile } from './server.ts'

/** What a server that wants a token says of where to get one. Undefined members are left out. */
export interface Astray {
  /** Where the challenge says the metadata are. Default: where they should be. */
  readonly metadataUrl?: string
  /** The authorization server that the metadata name. Default: this server. */
  readonly issuer?: string
  /** Members of the authorization server's metadata, in place of what is right. */
  readonly endpoints?: { readonly [name: string]: unknown }
  /** The id of a client that registers. Default `registered`. */
  readonly clientId?: string
  /** Tokens it takes. Default: none. */
  readonly accepts?: (token: string) => boolean
  /** The scope that the challenge to the nth request names. */
  readonly scope?: (count: number) => string | undefined
  /** Answers requests for a fresh token. Default: tokens cannot be refreshed. */
  readonly refresh?: (exchange: Exchange) => void
  /** Answers other requests for a token. Default: there is one. */
  readonly token?: (exchange: Exchange) => void
}

/** A server, and its own authorization server, that wants a token. */
export function wantingToken(astray: Astray = {}): Promise<HostileServer> {
  let challenges = 0
  return startHostile((exchange) => {
    const { path, headers, body, json, server, response } = exchange
    if (path.startsWith('/.well-known/')) return metadata(exchange, astray)
    if (path === '/register') return registration(exchange, astray)
    if (path === '/token') {
      if (body.includes('refresh_token')) astray.refresh?.(exchange)
      else if (astray.token !== undefined) astray.token(exchange)
      else {
        const refreshing = astray.refresh === undefined ? {} : { refresh_token: 'fresh' }
        const access_token = `token-of-${server.origin}`
        json({ access_token, token_type: 'Bearer', expires_in: 600, ...refreshing })
      }
      return true
    }
    if (!path.startsWith('/mcp')) return false
    const [, token] = /^Bearer (.+)$/.exec(headers.authorization ?? '') ?? []
    if (token !== undefined && astray.accepts?.(token) === true) return false
    const metadataUrl = astray.metadataUrl ?? `${server.origin}/.well-known/oauth-protected-resource/mcp`
    const scope = astray.scope?.(challenges++)
    const said = [`resource_metadata="${metadataUrl}"`, ...(scope === undefined ? [] : [`scope="${scope}"`])]
    response.writeHead(401, { 'www-authenticate': `Bearer ${said.join(', ')}` }).end()
    return true
  })
}

function metadata(
  { path, json, server: { origin } }: Exchange,
  { issuer = origin, endpoints }: Astray,
): boolean {
  if (path.startsWith('/.well-known/oauth-protected-resource')) {
    json({ resource: `${origin}/mcp`, authorization_servers: [issuer] })
  } else {
    json({
      issuer: origin,
      authorization_endpoint: `${origin}/authorize`,
      token_endpoint: `${origin}/token`,
      registration_endpoint: `${origin}/register`,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      ...endpoints,
    })
  }
  return true
}

function registration({ body, json }: Exchange, { clientId = 'registered' }: Astray): boolean {
  json({ ...(JSON.parse(body) as object), client_id: clientId }, 201)
  return true
}

/** Takes note of what comes, and answers nothing useful: a place where secrets must not arrive. */
export const collector = (): Promise<HostileServer> =>
  startHostile(({ response }) => {
    response.writeHead(404).end()
    return true
  })

/** Everything that a server was told, as one text to look for secrets in. */
export function told(server: HostileServer): string {
  return JSON.stringify(server.seen)
}
