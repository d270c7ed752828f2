/** Claude's connectors: claude.ai, Claude Desktop and Cowork, whose requests all come from Anthropic's servers. */
import type { Profile } from './profile.ts'

const THREADS = 'https://github.com/anthropics/claude-ai-mcp/issues'

export const claude: Profile = {
  id: 'claude',
  name: 'Claude (claude.ai, Claude Desktop)',
  userAgent: 'Claude-User',
  steps: [
    {
      id: 'url',
      does: 'reach',
      isHosted: true,
      removesSlash: true,
      sources: [
        {
          url: 'https://support.claude.com/en/articles/11503834-building-custom-connectors-via-remote-mcp-servers',
          date: '2026-11-23',
        },
        { url: 'https://github.com/ROCTUP/1c-mcp-toolkit/issues/22', date: '2026-08-26' },
        { url: `${THREADS}/234`, date: '2026-09-15' },
      ],
    },
    {
      id: 'first-request',
      does: 'knock',
      isModernFirst: true,
      signsInAt: [401],
      stopsAt: { statuses: [301, 302], toHttp: true },
      allow:
        'Claude-User and python-httpx from 160.79.104.0/21 (https://platform.claude.com/docs/en/api/ip-addresses)',
      sources: [
        { url: 'https://github.com/hauptsacheNet/typo3-mcp-server/issues/110', date: '2026-08-19' },
        { url: `${THREADS}/49`, date: '2026-02-13' },
        { url: `${THREADS}/294`, date: '2026-05-19' },
        { url: `${THREADS}/459`, date: '2026-06-25' },
        { url: 'https://github.com/brightbeanxyz/brightbean-studio/pull/64', date: '2026-06-10' },
      ],
    },
    {
      id: 'no-sign-in',
      does: 'look for OAuth',
      sources: [
        { url: `${THREADS}/457`, date: '2026-09-22' },
        { url: 'https://github.com/earthobservations/wetterdienst/pull/1772', date: '2026-07-27' },
        { url: 'https://github.com/jimprosser/obsidian-web-mcp/pull/18', date: '2026-05-02' },
      ],
    },
    {
      id: 'resource',
      does: 'read resource',
      places: ['challenge', 'path', 'root'],
      isChallengeFinal: false,
      compares: 'URL except a trailing slash',
      mismatch: 'ignore it',
      without: 'use the origin',
      takesHeaders: true,
      sources: [
        { url: `${THREADS}/199`, date: '2026-05-09' },
        { url: `${THREADS}/560`, date: '2026-07-08' },
        { url: `${THREADS}/1017`, date: '2026-09-10' },
      ],
    },
    {
      id: 'issuer',
      does: 'read issuer',
      tries: 'first',
      triesRoot: true,
      fallsBack: false,
      sources: [
        { url: `${THREADS}/82`, date: '2026-05-12' },
        { url: `${THREADS}/134`, date: '2026-06-07' },
      ],
    },
    {
      id: 'pkce',
      does: 'require PKCE',
      absent: 'stop',
      sources: [
        { url: `${THREADS}/786`, date: '2026-08-06' },
        { url: `${THREADS}/946`, date: '2026-08-28' },
      ],
    },
    {
      id: 'registration',
      does: 'register',
      ways: ['document', 'dynamic'],
      otherwise: { how: 'a client id in the advanced settings of the connector', isAsked: false },
      request: {
        redirect_uris: ['https://claude.ai/api/mcp/auth_callback'],
        token_endpoint_auth_method: 'client_secret_post',
        grant_types: ['authorization_code', 'refresh_token'],
      },
      tokenMethods: ['client_secret_post', 'none'],
      wantsClientUri: true,
      sources: [
        { url: `${THREADS}/306`, date: '2026-05-19' },
        { url: `${THREADS}/82`, date: '2026-03-30' },
        { url: `${THREADS}/667`, date: '2026-07-22' },
        { url: 'https://github.com/twentyhq/twenty/pull/19858', date: '2026-04-19' },
        { url: 'https://github.com/dmalis/dropthis/issues/20', date: '2026-09-03' },
      ],
    },
    {
      id: 'refresh',
      does: 'refresh',
      sources: [
        { url: `${THREADS}/840`, date: '2026-08-12' },
        { url: `${THREADS}/228`, date: '2026-08-13' },
      ],
    },
    {
      id: 'tools',
      does: 'list tools',
      names: { pattern: /^[\w-]{1,64}$/, rule: 'letters, digits, "_" and "-", 64 at most' },
      refusal: 'wrong',
      refusesRootUnions: true,
      sources: [
        { url: 'https://github.com/loomle/loomle/issues/168', date: '2026-06-03' },
        { url: 'https://github.com/makenotion/notion-mcp-server/issues/340', date: '2026-08-05' },
      ],
    },
  ],
}
