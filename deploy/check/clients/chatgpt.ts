/** ChatGPT's connectors and plugins, whose requests all come from OpenAI's servers. */
import type { Profile, Source } from './profile.ts'

const GUIDE: Source = { url: 'https://developers.openai.com/plugins/build/auth', date: '2026-11-23' }

export const chatgpt: Profile = {
  id: 'chatgpt',
  name: 'ChatGPT',
  steps: [
    {
      id: 'url',
      does: 'reach',
      isHosted: true,
      removesSlash: false,
      sources: [GUIDE],
    },
    {
      id: 'first-request',
      does: 'knock',
      isModernFirst: false,
      signsInAt: [401],
      sources: [GUIDE, { url: 'https://github.com/nowledge-co/community/issues/496', date: '2026-08-11' }],
    },
    {
      id: 'resource',
      does: 'read resource',
      places: ['challenge', 'path', 'root'],
      isChallengeFinal: false,
      compares: 'nothing',
      mismatch: 'ignore it',
      without: 'stop',
      takesHeaders: false,
      sources: [
        GUIDE,
        { url: 'https://zuplo.com/learn/mcp/compatibility/clients/chatgpt-connectors', date: '2026-07-31' },
      ],
    },
    {
      id: 'issuer',
      does: 'read issuer',
      tries: 'each',
      triesRoot: false,
      fallsBack: false,
      sources: [GUIDE],
    },
    {
      id: 'pkce',
      does: 'require PKCE',
      absent: 'stop',
      sources: [{ url: 'https://github.com/forcedotcom/mcp-hosted/issues/47', date: '2026-08-29' }],
    },
    {
      id: 'registration',
      does: 'register',
      ways: ['document', 'dynamic'],
      otherwise: { how: 'a client id in the settings of the connector', isAsked: false },
      request: {
        redirect_uris: ['https://chatgpt.com/connector_platform_oauth_redirect'],
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code', 'refresh_token'],
      },
      sources: [GUIDE, { url: 'https://github.com/Dexter-DAO/dexter-mcp/issues/2', date: '2025-09-20' }],
    },
    {
      id: 'tools',
      does: 'list tools',
      names: { pattern: /^[\w-]{1,64}$/, rule: 'letters, digits, "_" and "-", 64 at most' },
      refusal: 'degrades',
      refusesRootUnions: true,
      annotations: ['readOnlyHint', 'destructiveHint', 'openWorldHint'],
      sources: [
        { url: 'https://github.com/openai/codex/issues/8174', date: '2025-12-17' },
        { url: 'https://github.com/makenotion/notion-mcp-server/issues/340', date: '2026-08-05' },
        { url: 'https://github.com/nowledge-co/community/issues/481', date: '2026-08-09' },
      ],
    },
    {
      id: 'events',
      does: 'find events',
      mode: 'webhook',
      sources: [{ url: 'https://developers.openai.com/plugins/build/mcp-events', date: '2026-11-29' }],
    },
  ],
}
