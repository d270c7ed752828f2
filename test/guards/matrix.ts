/**
 * Which guard is met by which entry: the table of SECURITY.md, as data. A cell is a scenario that runs, or has a reason why there is
 * nothing to guard. `_entries.ts` has how each entry is called, `_scenarios.ts` what each guard must do.
 */

export const GUARDS = {
  host: 'Host and Origin',
  headerSize: 'header size (431)',
  content: 'content type and encoding (415)',
  bodySize: 'body size (413)',
  bodyTime: 'body time (408)',
  json: 'JSON limits',
  headers: 'headers that contradict the body',
  token: 'token (401)',
  scopes: 'scopes (403)',
  middleware: 'middleware',
  unknown: 'callers that nobody knows (401)',
  rate: 'rate limit (429)',
  concurrency: 'calls at once (503)',
  deadline: 'deadline',
  disconnect: 'client gone',
  audit: 'audit',
  log: 'log',
  background: 'background work',
  unwritable: 'unwritable errors',
  size: 'response size',
} as const

export type GuardId = keyof typeof GUARDS

export interface EntryRow {
  readonly title: string
  /** Why a guard has nothing to do here. */
  readonly exempt: { readonly [G in GuardId]?: string }
}

const STREAM = 'A stream has no size.'
const NO_TOOL = 'It calls no tool.'
const NO_LIMIT = 'Node tells it no limit.'
const NO_HTTP = 'There is no HTTP.'
const TRUSTED = 'Who runs the process is trusted.'

export const ENTRIES = {
  modern: { title: 'a modern call', exempt: {} },
  legacy: { title: 'a legacy call', exempt: {} },
  batch: { title: 'a legacy batch', exempt: {} },
  listen: {
    title: '`subscriptions/listen`',
    exempt: {
      middleware: NO_TOOL,
      background: 'It runs no code of the server that could leave work behind.',
      size: STREAM,
    },
  },
  session: { title: 'a message in a session', exempt: {} },
  sessionBatch: { title: 'a batch in a session', exempt: {} },
  sessionless: { title: 'a legacy call beside sessions', exempt: {} },
  sse: { title: 'HTTP+SSE (`startSSE`)', exempt: { size: NO_LIMIT } },
  honoSse: { title: 'HTTP+SSE in Hono (`startHonoSSE`)', exempt: { size: NO_LIMIT } },
  stdio: {
    title: 'stdio',
    exempt: {
      host: NO_HTTP,
      headerSize: NO_HTTP,
      content: NO_HTTP,
      bodySize: NO_HTTP,
      bodyTime: NO_HTTP,
      headers: NO_HTTP,
      token: TRUSTED,
      scopes: TRUSTED,
      unknown: TRUSTED,
      rate: TRUSTED,
      log: 'Its stdout is for messages; the audit trail is written.',
      size: NO_LIMIT,
    },
  },
  startHttp: { title: '`startHTTP`, serverless', exempt: { size: NO_LIMIT } },
  nodeListener: { title: '`nodeListener`', exempt: {} },
  hono: { title: 'mounted in Hono', exempt: { size: NO_LIMIT } },
  sdkV1: { title: '`fromSdk`, SDK v1', exempt: {} },
  sdkV2: { title: '`fromSdk`, SDK v2, modern', exempt: {} },
  sdkV2Legacy: { title: '`fromSdk`, SDK v2, legacy', exempt: {} },
  sdkBatch: { title: '`fromSdk`, a batch', exempt: {} },
  sdkListen: {
    title: '`fromSdk`, `subscriptions/listen`',
    exempt: { middleware: NO_TOOL, size: STREAM },
  },
  fromNode: { title: '`fromNode`', exempt: {} },
} as const satisfies { readonly [id: string]: EntryRow }

export type EntryId = keyof typeof ENTRIES
