/** One server to which clients connect, with its authorization server beside it, and what may be varied about it. */
import { createTool, jsonSchema, type MCPServerConfig } from '../../src/index.ts'
import { type Breakage, broken, methodOf, type Running } from './_check-servers.ts'

export const RESOURCE_PATH = '/.well-known/oauth-protected-resource'
export const SERVER_PATH = '/.well-known/oauth-authorization-server'

/** Members of a document instead of the right ones; undefined leaves one out. */
type Members = { readonly [name: string]: unknown }

export interface Variation {
  /** Answers in the place of everything else, or goes on with undefined. */
  readonly before?: (request: Request, path: string) => Response | undefined | Promise<Response | undefined>
  /** Asks for no token. */
  readonly isOpen?: boolean
  /** `WWW-Authenticate`; null: none. Default: with the URL of the metadata. */
  readonly challenge?: ((origin: string) => string) | null
  readonly resource?: Members | ((origin: string) => Members)
  /** Where the metadata is, behind the well-known path. Default: at the path of the resource and at the root. */
  readonly resourceAt?: readonly string[]
  readonly server?: Members | ((origin: string) => Members)
  /** The paths of the authorization server's metadata. */
  readonly serverAt?: readonly string[]
  /** Answers a registration. Default: with what RFC 7591 wants. */
  readonly register?: (client: Registration, origin: string) => Response
  readonly config?: Partial<MCPServerConfig>
}

export interface Registration {
  readonly redirect_uris: readonly string[]
  readonly token_endpoint_auth_method: string
}

/** `annotations`: whether it says that it only reads. */
export function createEcho(
  id = 'echo',
  {
    schema = { type: 'object' },
    annotations = READS,
  }: { schema?: Parameters<typeof jsonSchema>[0]; annotations?: object } = {},
): Tool {
  return createTool({
    id,
    description: 'Says what it is told',
    inputSchema: jsonSchema(schema),
    mcp: { annotations },
    execute: () => 'Hello',
  })
}

const READS = { readOnlyHint: true, destructiveHint: false, openWorldHint: false }

type Tool = NonNullable<MCPServerConfig['tools']>[string]

/** What a good one answers at its endpoint of registration, and how to delete what it wrote down. */
export function registered(client: Registration, origin: string): Response {
  const id = crypto.randomUUID()
  const management = {
    registration_client_uri: `${origin}/register/${id}`,
    registration_access_token: `token-of-${id}`,
  }
  return Response.json({ ...client, client_id: id, ...management }, { status: 201 })
}

/** Records what is registered and not deleted again, when given a set. */
export function connectingServer(variation: Variation = {}, kept = new Set<string>()): Promise<Running> {
  const { config = { tools: { echo: createEcho() } } } = variation
  return broken(createAnswer(variation, kept), config)
}

function createAnswer(variation: Variation, kept: Set<string>): Breakage {
  const { resourceAt = ['/mcp', ''], serverAt = [SERVER_PATH], challenge, register = registered } = variation
  const documents = ({ origin, pathname }: URL): object | undefined => {
    if (!variation.isOpen && resourceAt.some((place) => pathname === RESOURCE_PATH + place))
      return {
        resource: `${origin}/mcp`,
        authorization_servers: [origin],
        ...membersFor(variation.resource, origin),
      }
    return !variation.isOpen && serverAt.includes(pathname)
      ? { ...serverMetadata(origin), ...membersFor(variation.server, origin) }
      : undefined
  }
  return async (request, next) => {
    const url = new URL(request.url)
    const instead = await variation.before?.(request, url.pathname)
    if (instead !== undefined) return instead
    const document = documents(url)
    if (document !== undefined) return Response.json(document)
    if (url.pathname === '/register' && request.method === 'POST') {
      const answer = register((await request.json()) as Registration, url.origin)
      if (answer.ok) kept.add(String(((await answer.clone().json()) as Members).client_id))
      return answer
    }
    const deleted = /^\/register\/(.+)$/.exec(url.pathname)?.[1]
    if (deleted !== undefined && request.headers.get('authorization') === `Bearer token-of-${deleted}`)
      return new Response(null, { status: kept.delete(deleted) ? 204 : 401 })
    if (variation.isOpen || request.method === 'OPTIONS' || url.pathname.includes('/.well-known/'))
      return next()
    if (request.headers.get('authorization') === 'Bearer the-token') return next()
    const header = challenge === null ? undefined : (challenge ?? named)(url.origin)
    return new Response(null, {
      status: 401,
      headers: header === undefined ? {} : { 'www-authenticate': header },
    })
  }
}

function named(origin: string): string {
  return `Bearer resource_metadata="${origin}${RESOURCE_PATH}/mcp"`
}

function membersFor(members: Members | ((origin: string) => Members) | undefined, origin: string): Members {
  return typeof members === 'function' ? members(origin) : (members ?? {})
}

export function serverMetadata(origin: string): Members {
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    response_types_supported: ['code'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none', 'client_secret_post'],
  }
}

/** A registration that is refused as RFC 7591 §3.2.2 has it. */
export function refusal(description: string, error = 'invalid_redirect_uri', status = 400): Response {
  return Response.json({ error, error_description: description }, { status })
}

export async function isInitialize(request: Request): Promise<boolean> {
  return (await methodOf(request)) === 'initialize'
}
