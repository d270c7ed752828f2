/** Sign-in as `auth` of a whole server: what the HTTP side adds counts here. */
import { createTool } from '../../../../src/index.ts'
import { createMemoryGrants, type SignInOptions, signIn } from '../../../../src/sign-in.ts'
import { callTool, createServer } from '../../_client.ts'
import { createWorld, fakeUpstream, RESOURCE, SECRET, type World } from '../_sign-in.ts'

const scopes = { 'notes:read': 'Read your notes', 'notes:write': 'Change your notes' }

const tools = {
  who: createTool({ id: 'who', execute: (_input, { auth }) => String(auth?.extra?.email) }),
  write: createTool({ id: 'write', scopes: ['notes:write'], execute: () => 'written' }),
  open: createTool({ id: 'open', execute: () => 'anyone' }),
  upstream: createTool({
    id: 'upstream',
    execute: async (_input, { auth }) => String(await auth?.upstreamToken?.()),
  }),
}

/** `world` is in front of the whole server: use it as that of `createWorld`. */
export function createWholeServer(
  options: Pick<SignInOptions, 'anonymous'> = {},
  http: object = { publicUrl: RESOURCE },
) {
  const [store, upstream] = [createMemoryGrants(), fakeUpstream()]
  const world = createWorld({ store, upstream })
  const auth = signIn({ upstream, store, scopes, secrets: [SECRET], ...options })
  const server = createServer({ auth, tools, http })
  const send = (request: Request): Promise<Response> => server.handle(request, {})
  const whole: World = {
    ...world,
    send,
    get: (path, headers = {}) => send(new Request(new URL(path, RESOURCE), { headers })),
    form: (path, fields, headers = {}) => {
      const form = { 'content-type': 'application/x-www-form-urlencoded', ...headers }
      const body = new URLSearchParams(fields).toString()
      return send(new Request(new URL(path, RESOURCE), { method: 'POST', headers: form, body }))
    },
    register: (metadata = {}) =>
      send(
        new Request(new URL('/oauth/register', RESOURCE), {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({
            redirect_uris: ['http://127.0.0.1:5555/cb'],
            token_endpoint_auth_method: 'none',
            ...metadata,
          }),
        }),
      ),
  }
  const call = (tool: string, token?: string, headers: { readonly [name: string]: string } = {}) =>
    callTool(
      server,
      tool,
      {},
      {
        url: RESOURCE,
        headers: { ...headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) },
      },
    )
  return { world: whole, server, call }
}
