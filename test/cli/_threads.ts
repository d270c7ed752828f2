/**
 * Threads of people whose client would not connect, each as a server with just that fault, and the finding that names it. A thread is
 * closed, or a merged pull request, unless it says otherwise.
 */
import type { ClientId } from '../../deploy/check/clients/profile.ts'
import type { Verdict } from '../../deploy/check/outcome.ts'
import {
  createEcho,
  isInitialize,
  RESOURCE_PATH,
  type Registration,
  refusal,
  SERVER_PATH,
  type Variation,
} from './_connecting-server.ts'

export interface Thread {
  /** Behind `https://github.com/`. */
  readonly thread: string
  readonly fault: string
  readonly server: Variation
  readonly client: ClientId
  /** The id of the finding, without the client. */
  readonly finds: string
  readonly verdict: Verdict
  readonly fix: RegExp
  /** With a token, for what is behind it. */
  readonly isSignedIn?: boolean
}

const CLAUDE = 'anthropics/claude-ai-mcp/issues'
const notFound = (): Response => new Response('Not found', { status: 404 })
const page = (): Response => new Response('<!doctype html>', { headers: { 'content-type': 'text/html' } })
const isWellKnown = (path: string): boolean => path.includes('/.well-known/')
/** Refuses what is not https, and loopback. */
const httpsAlone = ({ redirect_uris: uris }: Registration): Response | undefined => {
  const odd = uris.find((uri) => !uri.startsWith('https://'))
  return odd === undefined ? undefined : refusal(`Redirect URI must use HTTPS: ${odd}`)
}
const withoutRegistration = { registration_endpoint: undefined }

export const THREADS: readonly Thread[] = [
  {
    thread: `${CLAUDE}/560`,
    fault: 'the resource of the metadata is on another host',
    server: { resource: { resource: 'https://api.other.example/mcp' }, serverAt: [] },
    client: 'claude',
    finds: 'resource',
    verdict: 'wrong',
    fix: /^set "resource" to http:\/\/127/,
  },
  {
    thread: `${CLAUDE}/199`,
    fault: 'a gateway serves no well-known path, and the 401 does not name the metadata',
    server: { challenge: null, before: (_, path) => (isWellKnown(path) ? notFound() : undefined) },
    client: 'claude',
    finds: 'resource',
    verdict: 'wrong',
    fix: /send WWW-Authenticate/,
  },
  {
    thread: 'supabase/cli/pull/4604',
    fault: 'the metadata is behind the path of the function alone, and not named',
    server: {
      challenge: () => 'Bearer',
      before: (_, path) =>
        path === `/mcp${RESOURCE_PATH}`
          ? Response.json({ resource: 'here' })
          : isWellKnown(path)
            ? notFound()
            : undefined,
    },
    client: 'claude',
    finds: 'resource',
    verdict: 'wrong',
    fix: /if a gateway hides that path/,
  },
  {
    thread: 'akutishevsky/withings-mcp/pull/17',
    fault: '401 without a challenge, and no metadata',
    server: { challenge: null, resourceAt: [], serverAt: [] },
    client: 'claude',
    finds: 'resource',
    verdict: 'wrong',
    fix: /resource_metadata=/,
  },
  {
    thread: 'akutishevsky/withings-mcp/pull/20',
    fault: 'the resource is the origin, not the endpoint',
    server: { resource: (origin) => ({ resource: origin }), serverAt: [] },
    client: 'claude',
    finds: 'resource',
    verdict: 'wrong',
    fix: /^set "resource" to .*\/mcp,/,
  },
  {
    thread: `${CLAUDE}/345`,
    fault: 'the challenge names the authorization server’s metadata',
    server: {
      challenge: (origin) => `Bearer resource_metadata="${origin}${SERVER_PATH}"`,
      resourceAt: [],
    },
    client: 'claude',
    finds: 'resource',
    verdict: 'degrades',
    fix: /^set "resource"/,
  },
  {
    thread: 'jimprosser/obsidian-web-mcp/pull/18',
    fault: 'the metadata itself wants a token',
    server: {
      challenge: () => 'Bearer',
      serverAt: [],
      before: (_, path) => (path.startsWith(RESOURCE_PATH) ? new Response(null, { status: 401 }) : undefined),
    },
    client: 'claude',
    finds: 'resource',
    verdict: 'wrong',
    fix: /^serve the metadata at/,
  },
  {
    thread: 'anthropics/claude-code/issues/31349',
    fault: 'the authorization server has no metadata',
    server: { resource: (origin) => ({ authorization_servers: [`${origin}/oauth`] }), serverAt: [] },
    client: 'claude',
    finds: 'issuer',
    verdict: 'wrong',
    fix: /oauth-authorization-server\/oauth/,
  },
  {
    thread: 'SparkDevNetwork/Rock/issues/6974',
    fault: 'the issuer has a slash at the end in one document only',
    server: { resource: (origin) => ({ authorization_servers: [`${origin}/`] }) },
    client: 'claude',
    finds: 'issuer',
    verdict: 'hint',
    fix: /^use the same string/,
  },
  {
    thread: `${CLAUDE}/786`,
    fault: 'the authorization server does not say that it knows PKCE',
    server: { server: { code_challenge_methods_supported: undefined } },
    client: 'claude',
    finds: 'pkce',
    verdict: 'wrong',
    fix: /"code_challenge_methods_supported": \["S256"\]/,
  },
  {
    thread: `${CLAUDE}/946`,
    fault: 'the same, with OpenID Connect’s document alone',
    server: {
      server: { code_challenge_methods_supported: undefined },
      serverAt: ['/.well-known/openid-configuration'],
    },
    client: 'claude',
    finds: 'pkce',
    verdict: 'wrong',
    fix: /S256/,
  },
  {
    thread: `${CLAUDE}/306`,
    fault: 'there is no way to register',
    server: { server: withoutRegistration },
    client: 'claude',
    finds: 'registration',
    verdict: 'wrong',
    fix: /a client id in the advanced settings/,
  },
  {
    thread: `${CLAUDE}/350`,
    fault: 'no way to register, once the client id of the connector is gone',
    server: { server: { ...withoutRegistration, client_id_metadata_document_supported: false } },
    client: 'claude',
    finds: 'registration',
    verdict: 'wrong',
    fix: /dynamic registration/,
  },
  {
    thread: `${CLAUDE}/82`,
    fault: 'clients with a secret may register with a token alone',
    server: {
      register: ({ token_endpoint_auth_method: method }) =>
        method === 'none'
          ? Response.json({ client_id: 'a' })
          : refusal('Token required', 'invalid_token', 401),
    },
    client: 'claude',
    finds: 'registration',
    verdict: 'wrong',
    fix: /"token_endpoint_auth_method": "none"/,
  },
  {
    thread: 'twentyhq/twenty/pull/19858',
    fault: 'the answer to a registration has no registration_client_uri',
    server: { register: (client) => Response.json({ ...client, client_id: 'a' }, { status: 201 }) },
    client: 'claude',
    finds: 'registration',
    verdict: 'hint',
    fix: /^add registration_client_uri/,
  },
  {
    thread: `${CLAUDE}/840`,
    fault: 'nobody offers offline_access',
    server: { server: { scopes_supported: ['openid', 'profile'] } },
    client: 'claude',
    finds: 'refresh',
    verdict: 'degrades',
    fix: /offline_access/,
  },
  {
    thread: `${CLAUDE}/457`,
    fault: 'an open server whose gateway wants a key for the well-known path',
    server: {
      isOpen: true,
      before: (_, path) => (isWellKnown(path) ? new Response('{}', { status: 401 }) : undefined),
    },
    client: 'claude',
    finds: 'no-sign-in',
    verdict: 'wrong',
    fix: /^answer 404 there/,
  },
  {
    thread: 'earthobservations/wetterdienst/pull/1772',
    fault: 'an open server whose site answers any path with its page',
    server: { isOpen: true, before: (_, path) => (isWellKnown(path) ? page() : undefined) },
    client: 'claude',
    finds: 'no-sign-in',
    verdict: 'wrong',
    fix: /even if a page/,
  },
  {
    thread: 'slopus/happy/pull/818',
    fault: 'an open server that breaks where the authorization server’s metadata is looked for',
    server: {
      isOpen: true,
      before: (_, path) => (path === SERVER_PATH ? new Response('', { status: 500 }) : undefined),
    },
    client: 'claude',
    finds: 'no-sign-in',
    verdict: 'wrong',
    fix: /^answer 404/,
  },
  {
    thread: `${CLAUDE}/49`,
    fault: 'a firewall refuses the agent',
    server: {
      before: ({ headers }) =>
        headers.get('user-agent')?.includes('Claude-User')
          ? new Response('Blocked', { status: 403 })
          : undefined,
    },
    client: 'claude',
    finds: 'first-request',
    verdict: 'wrong',
    fix: /allow Claude-User/,
  },
  {
    thread: `${CLAUDE}/294`,
    fault: 'a firewall refuses requests to the endpoint',
    server: { before: (_, path) => (path === '/mcp' ? new Response('', { status: 403 }) : undefined) },
    client: 'claude',
    finds: 'first-request',
    verdict: 'wrong',
    fix: /160\.79\.104\.0\/21/,
  },
  {
    thread: `${CLAUDE}/279`,
    fault: 'a firewall refuses everything',
    server: {
      before: () => new Response('<html>', { status: 403, headers: { 'cf-mitigated': 'challenge' } }),
    },
    client: 'claude',
    finds: 'first-request',
    verdict: 'wrong',
    fix: /firewall/,
  },
  {
    thread: 'brightbeanxyz/brightbean-studio/pull/64',
    fault: 'the endpoint redirects to itself with a slash',
    server: {
      before: (_, path) =>
        path === '/mcp' ? new Response(null, { status: 301, headers: { location: '/mcp/' } }) : undefined,
    },
    client: 'claude',
    finds: 'first-request',
    verdict: 'wrong',
    fix: /with and without a trailing slash/,
  },
  {
    thread: 'sickn33/agentic-awesome-skills/issues/1003',
    fault: 'initialize knows one version alone, and refuses others',
    server: {
      isOpen: true,
      before: async (request) =>
        (await isInitialize(request))
          ? Response.json({
              jsonrpc: '2.0',
              id: ((await request.clone().json()) as { id: unknown }).id,
              error: { code: -32602, message: 'Unsupported protocol version' },
            })
          : undefined,
    },
    client: 'claude',
    finds: 'first-request',
    verdict: 'wrong',
    fix: /newest supported version/,
  },
  {
    thread: 'loomle/loomle/issues/168',
    fault: 'the name of a tool has a dot',
    server: { isOpen: true, config: { tools: { 'graph.list': createEcho('graph.list') } } },
    client: 'claude',
    finds: 'tools',
    verdict: 'wrong',
    fix: /^name tools with letters/,
  },
  {
    thread: 'makenotion/notion-mcp-server/issues/340',
    fault: 'anyOf at the root of an input schema',
    server: {
      isOpen: true,
      config: {
        tools: {
          attach: createEcho('attach', {
            schema: {
              type: 'object',
              properties: { a: { type: 'string' }, b: { type: 'string' } },
              anyOf: [{ required: ['a'] }, { required: ['b'] }],
            },
          }),
        },
      },
    },
    client: 'claude',
    finds: 'tools',
    verdict: 'wrong',
    fix: /object at the root/,
  },
  {
    thread: 'openai/codex/issues/8174',
    fault: 'the names of tools have dots',
    server: { config: { tools: { 'calendar.list': createEcho('calendar.list') } } },
    isSignedIn: true,
    client: 'chatgpt',
    finds: 'tools',
    verdict: 'degrades',
    fix: /^name tools with/,
  },
  {
    thread: 'nowledge-co/community/issues/481',
    fault: 'tools do not say whether they write',
    server: { isOpen: true, config: { tools: { find: createEcho('find', { annotations: {} }) } } },
    client: 'chatgpt',
    finds: 'tools',
    verdict: 'hint',
    fix: /annotations/,
  },
  {
    thread: 'nowledge-co/community/issues/496',
    fault: 'the endpoint answers 422',
    server: {
      before: async (request) =>
        (await isInitialize(request)) ? new Response('{}', { status: 422 }) : undefined,
    },
    client: 'chatgpt',
    finds: 'first-request',
    verdict: 'wrong',
    fix: /^answer POST at this URL/,
  },
  {
    thread: 'aks129/HealthClawGuardrails/issues/290',
    fault: 'a bare challenge, and metadata nowhere',
    server: { challenge: () => 'Bearer', resourceAt: [], serverAt: [] },
    client: 'chatgpt',
    finds: 'resource',
    verdict: 'wrong',
    fix: /^serve the metadata at/,
  },
  {
    thread: 'microsoft/vscode/issues/261120',
    fault: 'a middleware removes the challenge, and the metadata is not at its place',
    server: { challenge: null, resourceAt: ['/elsewhere'], serverAt: [] },
    client: 'vscode',
    finds: 'resource',
    verdict: 'wrong',
    fix: /WWW-Authenticate/,
  },
  {
    thread: 'pomerium/pomerium/pull/6200',
    fault: 'the challenge names the metadata of the origin',
    server: {
      challenge: (origin) => `Bearer resource_metadata="${origin}${RESOURCE_PATH}"`,
      resource: (origin) => ({ resource: origin }),
    },
    client: 'vscode',
    finds: 'resource',
    verdict: 'degrades',
    fix: /^set "resource"/,
  },
  {
    thread: 'exa-labs/exa-mcp-server/pull/387',
    fault: 'the resource is that of another endpoint of the server',
    server: { resource: (origin) => ({ resource: `${origin}/mcp/oauth` }) },
    client: 'cursor',
    finds: 'resource',
    verdict: 'wrong',
    fix: /^set "resource"/,
  },
  {
    thread: 'contextstream/mcp-server/issues/57',
    fault: 'registration refuses loopback',
    server: { register: (client) => httpsAlone(client) ?? Response.json({ client_id: 'a' }) },
    client: 'vscode',
    finds: 'registration',
    verdict: 'wrong',
    fix: /http:\/\/127\.0\.0\.1:33418\//,
  },
  {
    thread: 'modelcontextprotocol/servers/issues/2444',
    fault: 'a redirect URI is not on the list of those allowed',
    server: {
      register: ({ redirect_uris: uris }) =>
        uris.includes('https://insiders.vscode.dev/redirect')
          ? refusal('Redirect URI https://insiders.vscode.dev/redirect is not in the allowlist')
          : Response.json({ client_id: 'a' }),
    },
    client: 'vscode',
    finds: 'registration',
    verdict: 'wrong',
    fix: /https:\/\/insiders\.vscode\.dev\/redirect/,
  },
  {
    thread: 'BerriAI/litellm/pull/33756',
    fault: 'registration answers with redirect URIs of its own',
    server: {
      register: (client, origin) =>
        Response.json({ ...client, client_id: 'a', redirect_uris: [`${origin}/callback`] }, { status: 201 }),
    },
    client: 'vscode',
    finds: 'registration',
    verdict: 'wrong',
    fix: /redirect_uris of the request/,
  },
  {
    thread: 'laravel/mcp/issues/173',
    fault: 'registration redirects at a URI with a scheme of its own',
    server: { register: () => new Response(null, { status: 302, headers: { location: '/' } }) },
    client: 'cursor',
    finds: 'registration',
    verdict: 'wrong',
    fix: /^answer errors as JSON/,
  },
  {
    thread: 'different-ai/openwork/pull/3059',
    fault: 'registration refuses cursor://',
    server: { register: (client) => httpsAlone(client) ?? Response.json({ client_id: 'a' }) },
    client: 'cursor',
    finds: 'registration',
    verdict: 'wrong',
    fix: /cursor:\/\/anysphere\.cursor-mcp/,
  },
  {
    thread: 'empires-security/mcp-oauth2-aws-cognito/issues/9',
    fault: 'OpenID Connect’s document does not tell of PKCE',
    server: {
      server: { code_challenge_methods_supported: undefined },
      serverAt: ['/.well-known/openid-configuration'],
    },
    client: 'cursor',
    finds: 'pkce',
    verdict: 'degrades',
    fix: /S256/,
  },
  {
    thread: 'webstudio-is/webstudio/issues/5960',
    fault: 'the names of tools have dots',
    server: { isOpen: true, config: { tools: { 'meta.index': createEcho('meta.index') } } },
    client: 'cursor',
    finds: 'tools',
    verdict: 'degrades',
    fix: /^name tools with/,
  },
]
