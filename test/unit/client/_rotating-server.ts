/** An MCP server with its own authorization server, which takes the second use of a refresh token for theft. */
import type { IncomingMessage } from 'node:http'
import { listen } from './_servers.ts'

export interface RotatingServer {
  readonly url: string
  /** Bodies of the requests for tokens. */
  readonly requests: URLSearchParams[]
  /** Whether a refresh token was used twice. */
  readonly isRevoked: boolean
  /** The next code is refused. */
  refusesCode: boolean
  /** Called before a refresh is answered, which it may answer itself. */
  onRefresh: () => Response | undefined | Promise<undefined>
  expireAccess(): void
}

export async function startRotatingServer(): Promise<RotatingServer> {
  let issued = 0
  let isRevoked = false
  const valid = new Set<string>()
  const requests: URLSearchParams[] = []
  const answer = async (request: IncomingMessage, body: string): Promise<Response> => {
    const path = request.url ?? ''
    if (path.startsWith('/.well-known/oauth-protected-resource'))
      return Response.json({ resource: `${origin}/mcp`, authorization_servers: [origin] })
    if (path.startsWith('/.well-known/oauth-authorization-server')) return Response.json(metadata())
    if (path === '/register') return Response.json({ ...JSON.parse(body), client_id: 'c' }, { status: 201 })
    if (path === '/token') return issue(new URLSearchParams(body))
    if (!valid.has(request.headers.authorization ?? '')) return new Response(null, { status: 401 })
    const { id, method } = body === '' ? { id: undefined, method: '' } : JSON.parse(body)
    if (id === undefined) return new Response(null, { status: request.method === 'POST' ? 202 : 405 })
    if (method === 'initialize') {
      const serverInfo = { name: 'rotating', version: '1' }
      return toResult(id, { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo })
    }
    if (method === 'tools/call') return toResult(id, { content: [{ type: 'text', text: 'ok' }] })
    return Response.json({ jsonrpc: '2.0', id, error: { code: -32601, message: 'none' } })
  }
  const toResult = (id: unknown, result: object) => Response.json({ jsonrpc: '2.0', id, result })
  const metadata = () => ({
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none'],
  })
  const issue = async (form: URLSearchParams): Promise<Response> => {
    requests.push(form)
    const isRefresh = form.get('grant_type') === 'refresh_token'
    const other = isRefresh ? await server.onRefresh() : undefined
    if (other !== undefined) return other
    const isUsed = isRefresh && form.get('refresh_token') !== `r${issued}`
    isRevoked ||= isUsed
    if (isRevoked || (!isRefresh && server.refusesCode)) {
      if (isRevoked) valid.clear()
      return Response.json({ error: 'invalid_grant' }, { status: 400 })
    }
    valid.clear()
    valid.add(`Bearer a${++issued}`)
    return Response.json({ access_token: `a${issued}`, token_type: 'Bearer', refresh_token: `r${issued}` })
  }
  const origin = await listen(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const given = await answer(request, body)
    response.writeHead(given.status, Object.fromEntries(given.headers)).end(await given.text())
  })
  const server = {
    url: `${origin}/mcp`,
    requests,
    get isRevoked() {
      return isRevoked
    },
    refusesCode: false,
    onRefresh: (): Response | undefined | Promise<undefined> => undefined,
    expireAccess: () => valid.clear(),
  }
  return server
}
