/** The server of these tests, over any store: people sign in with the provider that `ISSUER` names. */
import { createTool, MCPServer } from 'mayfly-mcp'
import { oidc, type SignInOptions, signIn } from 'mayfly-mcp/sign-in'

export interface NotesOptions {
  readonly store: SignInOptions['store']
  /** Default: the variable `PUBLIC_URL`, where there are some while the server loads. */
  readonly publicUrl?: string
}

const who = createTool({
  id: 'who',
  execute: async (_input, { auth }) => ({
    sub: auth?.subject,
    name: auth?.extra?.name,
    scopes: auth?.scopes,
    upstreamToken: await auth?.upstreamToken?.(),
  }),
})

export function createNotes({
  store,
  publicUrl = globalThis.process?.env.PUBLIC_URL,
}: NotesOptions): MCPServer {
  return new MCPServer({
    id: 'notes',
    name: 'Notes',
    version: '1.0.0',
    tools: { who },
    http: publicUrl ? { publicUrl } : {},
    auth: signIn({
      // Or a token that was revoked by another process would be good for five seconds more.
      cacheMs: 0,
      upstream: oidc({
        issuer: ({ ISSUER }) => ISSUER,
        clientId: 'mayfly',
        clientSecret: ({ CLIENT_SECRET }) => CLIENT_SECRET,
      }),
      store,
      scopes: { 'notes:read': 'Read your notes', 'notes:write': 'Change your notes' },
      initialScopes: ['notes:read'],
      required: ['notes:read'],
    }),
  })
}
