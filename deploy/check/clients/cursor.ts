/** Cursor. It uses the official TypeScript SDK, whose rules apply unless its documentation says otherwise. */
import type { Profile, Source } from './profile.ts'

const SDK: Source = {
  url: 'https://github.com/modelcontextprotocol/typescript-sdk/blob/main/src/client/auth.ts',
  date: '2026-11-23',
}

export const cursor: Profile = {
  id: 'cursor',
  name: 'Cursor',
  steps: [
    {
      id: 'url',
      does: 'reach',
      isHosted: false,
      removesSlash: false,
      sources: [{ url: 'https://docs.pipeshub.com/mcp/cursor', date: '2026-11-23' }],
    },
    {
      id: 'first-request',
      does: 'knock',
      isModernFirst: false,
      signsInAt: [401],
      stopsAt: { statuses: [301, 302, 303], toHttp: false },
      sources: [SDK, { url: 'https://fetch.spec.whatwg.org/#http-redirect-fetch', date: '2026-11-23' }],
    },
    {
      id: 'resource',
      does: 'read resource',
      places: ['challenge', 'path', 'root'],
      isChallengeFinal: true,
      compares: 'origin and parent path',
      mismatch: 'stop',
      without: 'use the origin',
      takesHeaders: true,
      sources: [SDK, { url: 'https://docs.holistics.io/docs/ai/mcp-server/cursor', date: '2026-11-23' }],
    },
    {
      id: 'issuer',
      does: 'read issuer',
      tries: 'first',
      triesRoot: false,
      fallsBack: false,
      sources: [SDK],
    },
    {
      id: 'pkce',
      does: 'require PKCE',
      absent: 'unknown',
      sources: [
        { url: 'https://github.com/empires-security/mcp-oauth2-aws-cognito/issues/9', date: '2025-07-29' },
        { url: 'https://github.com/modelcontextprotocol/typescript-sdk/pull/992', date: '2025-10-01' },
      ],
    },
    {
      id: 'registration',
      does: 'register',
      ways: ['dynamic'],
      otherwise: { how: '"auth": { "CLIENT_ID": … } in mcp.json', isAsked: false },
      request: {
        redirect_uris: [
          'cursor://anysphere.cursor-mcp/oauth/callback',
          'https://www.cursor.com/agents/mcp/oauth/callback',
          'http://localhost:8787/callback',
        ],
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code', 'refresh_token'],
        application_type: 'web',
      },
      sources: [
        { url: 'https://github.com/erp-mafia/accounted/pull/2225', date: '2026-09-03' },
        { url: 'https://github.com/laravel/mcp/issues/173', date: '2026-03-13' },
        { url: 'https://github.com/better-auth/better-auth/issues/10946', date: '2026-08-23' },
        { url: 'https://github.com/Altinity/altinity-mcp/issues/169', date: '2026-09-09' },
        { url: 'https://docs.pipeshub.com/mcp/cursor', date: '2026-11-23' },
      ],
    },
    {
      id: 'tools',
      does: 'list tools',
      names: { pattern: /^[\w-]+$/, rule: 'letters, digits and "_"' },
      refusal: 'degrades',
      refusesRootUnions: false,
      max: 40,
      sources: [
        { url: 'https://github.com/webstudio-is/webstudio/issues/5960', date: '2026-07-30' },
        { url: 'https://gitlab.com/fforster/gitlab-mcp/-/issues/36', date: '2026-11-23' },
      ],
    },
  ],
}
