/** VS Code, by its source: `extHostMcp.ts` at 000d3828 and `oauth.ts` at 05f882b0. */
import type { Profile, Source } from './profile.ts'

const CLIENT: Source = {
  url: 'https://github.com/microsoft/vscode/blob/000d38288339b1052517569a7f1a8af39ad10bba/src/vs/workbench/api/common/extHostMcp.ts',
  date: '2026-11-23',
}
const OAUTH: Source = {
  url: 'https://github.com/microsoft/vscode/blob/05f882b02c51633f2e1e8252722f8c3b626d74a9/src/vs/base/common/oauth.ts',
  date: '2026-11-23',
}

export const vscode: Profile = {
  id: 'vscode',
  name: 'VS Code',
  steps: [
    {
      id: 'url',
      does: 'reach',
      isHosted: false,
      removesSlash: false,
      sources: [CLIENT],
    },
    {
      id: 'first-request',
      does: 'knock',
      isModernFirst: false,
      signsInAt: [401, 403],
      stopsAt: { statuses: [301, 302, 303], toHttp: false },
      sources: [CLIENT],
    },
    {
      id: 'resource',
      does: 'read resource',
      places: ['challenge', 'path', 'root'],
      isChallengeFinal: true,
      compares: 'URL',
      mismatch: 'ignore it',
      without: 'use the origin',
      takesHeaders: true,
      sources: [OAUTH, { url: 'https://github.com/microsoft/vscode/issues/259251', date: '2025-08-01' }],
    },
    {
      id: 'issuer',
      does: 'read issuer',
      tries: 'first',
      triesRoot: false,
      fallsBack: true,
      sources: [CLIENT, OAUTH],
    },
    {
      id: 'registration',
      does: 'register',
      ways: ['document', 'dynamic'],
      otherwise: { how: 'a client id, for which VS Code prompts its user', isAsked: true },
      request: {
        redirect_uris: [
          'https://insiders.vscode.dev/redirect',
          'https://vscode.dev/redirect',
          'http://127.0.0.1/',
          'http://127.0.0.1:33418/',
        ],
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code', 'refresh_token'],
        application_type: 'native',
      },
      sources: [
        OAUTH,
        { url: 'https://github.com/microsoft/vscode-docs/pull/8689', date: '2025-08-01' },
        { url: 'https://github.com/contextstream/mcp-server/issues/57', date: '2026-05-31' },
      ],
    },
    {
      id: 'tools',
      does: 'list tools',
      refusal: 'degrades',
      refusesRootUnions: false,
      max: 128,
      sources: [{ url: 'https://github.com/postmanlabs/postman-mcp-server/pull/26', date: '2025-08-06' }],
    },
  ],
}
