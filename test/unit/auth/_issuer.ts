/** An issuer of tokens on loopback: keys of its own, served as JWKS, and an introspection endpoint. */
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import type { IntrospectionOptions } from '../../../src/auth.ts'
import type { MCPServer } from '../../../src/index.ts'
import { modernRequest, type SendOptions } from '../_client.ts'

export const AUDIENCE = 'https://mcp.example/mcp'

export interface Issuer extends AsyncDisposable {
  readonly url: string
  /** How often each path was asked for. */
  readonly asked: Map<string, number>
  /** The private keys by key id; those added later are served from then on. */
  addKey(kid: string, algorithm?: string): Promise<void>
  /** Not served from then on. */
  withdrawKey(kid: string): void
  sign(
    claims?: { readonly [claim: string]: unknown },
    header?: { kid?: string; alg?: string; typ?: string | undefined },
  ): Promise<string>
  /** What introspection says of a token. */
  readonly known: Map<string, object>
  /** Answers in place of all endpoints. */
  broken?: { status: number; body: string }
  /** What introspection answers about each token whose name begins with `crafted`. */
  crafted?: { status: number; body: string }
}

/** To ask that issuer about tokens. */
export function introspectionAt(
  { url }: Issuer,
  options: Partial<IntrospectionOptions> = {},
): IntrospectionOptions {
  return {
    endpoint: `${url}/introspect`,
    clientId: 'shop',
    clientSecret: 's/cret',
    issuer: url,
    audience: AUDIENCE,
    ...options,
  }
}

export async function startIssuer(): Promise<Issuer> {
  const keys = new Map<string, { privateKey: CryptoKey; algorithm: string; jwk: object }>()
  const asked = new Map<string, number>()
  const known = new Map<string, object>()
  const server = createServer(async (incoming, outgoing) => {
    const path = incoming.url ?? ''
    asked.set(path, (asked.get(path) ?? 0) + 1)
    const { status, body } = issuer.broken ?? (await answer(path, incoming))
    outgoing.writeHead(status, { 'content-type': 'application/json' }).end(body)
  })
  const answer = async (
    path: string,
    incoming: IncomingMessage,
  ): Promise<{ status: number; body: string }> => {
    const json = (value: object) => ({ status: 200, body: JSON.stringify(value) })
    if (path === '/.well-known/oauth-authorization-server') {
      return json({ issuer: issuer.url, jwks_uri: `${issuer.url}/jwks` })
    }
    if (path === '/jwks') return json({ keys: Array.from(keys.values(), ({ jwk }) => jwk) })
    if (path === '/introspect') {
      if (incoming.headers.authorization !== `Basic ${btoa('shop:s%2Fcret')}`)
        return { status: 401, body: '{}' }
      let form = ''
      for await (const chunk of incoming) form += chunk
      const token = new URLSearchParams(form).get('token') ?? ''
      if (issuer.crafted !== undefined && token.startsWith('crafted')) return issuer.crafted
      return json(known.get(token) ?? { active: false })
    }
    return { status: 404, body: '{}' }
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer: Issuer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    known,
    addKey: async (kid, algorithm = 'ES256') => {
      const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true })
      keys.set(kid, {
        privateKey,
        algorithm,
        jwk: { ...(await exportJWK(publicKey)), kid, alg: algorithm, use: 'sig' },
      })
    },
    withdrawKey: (kid) => void keys.delete(kid),
    sign: async (claims = {}, { kid = 'first', alg, ...given } = {}) => {
      const { privateKey, algorithm } = keys.get(kid)!
      const { typ } = { typ: 'at+jwt', ...given }
      const now = Math.floor(Date.now() / 1000)
      return new SignJWT({
        iss: issuer.url,
        aud: AUDIENCE,
        sub: 'ann',
        client_id: 'desk',
        iat: now,
        exp: now + 60,
        ...claims,
      })
        .setProtectedHeader({ alg: alg ?? algorithm, kid, ...(typ !== undefined && { typ }) })
        .sign(privateKey)
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  await issuer.addKey('first')
  return issuer
}

/** Calls `server/discover` with a token, or with none. */
export function discover(server: MCPServer, token?: string, options: SendOptions = {}): Promise<Response> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  return server.fetch(
    modernRequest('server/discover', {}, { ...options, headers: { ...headers, ...options.headers } }),
  )
}
