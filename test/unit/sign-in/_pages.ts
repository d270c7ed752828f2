/** Pages of sign-in, as an ordinary server has them. */
import type { ConnectionsPage, ConsentPage, ErrorPage, WhoPage } from '../../../src/sign-in/pages/model.ts'

const READ = { name: 'notes:read', sentence: 'Read your notes' }
const WRITE = { name: 'notes:write', sentence: 'Change your notes' }

export const CONSENT: ConsentPage = {
  page: 'consent',
  server: 'Notes',
  client: {
    name: 'Claude',
    host: 'claude.ai',
    redirectHost: 'claude.ai',
    redirectUri: 'https://claude.ai/api/mcp/auth_callback',
    isLoopback: false,
  },
  person: { name: 'Ada Lovelace', email: 'ada@example.com' },
  upstream: 'Google',
  upstreamScopes: ['openid', 'profile', 'email'],
  scopes: [READ, WRITE],
  switchUrl: '/mcp/oauth/authorize?switch=abc',
  connectionsUrl: '/mcp/connections',
  action: '/mcp/oauth/authorize',
  fields: { consent: 'handle' },
}

/** Anybody may have registered it, and it is a program of the person's computer. */
export const UNKNOWN: ConsentPage = {
  ...CONSENT,
  client: {
    name: 'Inspector',
    redirectHost: '127.0.0.1:6274',
    redirectUri: 'http://127.0.0.1:6274/oauth/callback',
    isLoopback: true,
  },
}

/** The provider comes next. */
export const FIRST: ConsentPage = { ...CONSENT, person: undefined, switchUrl: undefined }

export const CONNECTIONS: ConnectionsPage = {
  page: 'connections',
  server: 'Notes',
  person: { name: 'Ada Lovelace', email: 'ada@example.com' },
  upstream: 'Google',
  connections: [
    {
      id: 'https://claude.ai/client.json',
      client: { name: 'Claude', host: 'claude.ai', redirectHost: 'claude.ai', isLoopback: false },
      scopes: [READ, WRITE],
      since: Date.UTC(2026, 10, 14, 9, 30),
    },
    {
      id: 'inspector',
      client: { name: 'Inspector', redirectHost: '127.0.0.1:6274', isLoopback: true },
      scopes: [READ],
      since: Date.UTC(2026, 6, 1),
    },
  ],
  isRemoved: true,
  canSignOut: true,
  action: '/mcp/connections',
  fields: { form: 'token' },
}

export const ERROR: ErrorPage = {
  page: 'error',
  server: 'Notes',
  title: 'You are not let in',
  message:
    'Only accounts of example.com may sign in here. Go back to your app, and sign in with another one.',
  returnTo: { url: 'https://claude.ai/cb?error=access_denied', host: 'claude.ai' },
}

export const WHO: WhoPage = {
  page: 'who',
  server: 'Notes',
  action: '/mcp/oauth/callback',
  fields: { state: 's', code: 'stand-in' },
  cancelUrl: '/mcp/oauth/callback?error=access_denied&state=s',
}
