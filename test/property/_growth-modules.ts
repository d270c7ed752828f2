/** The modules that read what may come from a stranger, and what shows that their work is in proportion. */
export const FOLDERS = [
  ...['adapters', 'deploy/check', 'deploy/playground/browser', 'src/auth', 'src/client', 'src/definition'],
  ...[
    'src/events',
    'src/gateway',
    'src/http',
    'src/interaction',
    'src/keyed',
    'src/mcp-events',
    'src/protocol',
    'src/request',
    'src/retrieval',
  ],
  ...['src/sdk', 'src/sign-in', 'src/tasks', 'src/webhook'],
]

/** By folder, without `.ts`. */
const BY_REASON: { readonly [reason: string]: { readonly [folder: string]: string } } = {
  'of the author, or of a fixed size': {
    'adapters/_bus': 'ask client long-lived owned-name',
    'adapters/_dynamodb': 'events grants key-store lines table',
    'adapters/_lambda': 'result',
    'adapters/_node': 'buffered-response file-owner key-file key-use-file session-numbers',
    'adapters/_postgres': 'events fetch-types grants keyed-schema migration receive run task-schema',
    'adapters/_stdio': 'after-death',
    'adapters/_tasks': 'store-ask',
    'deploy/check': 'messages',
    'src/auth': 'host-caller open-names token-header',
    'src/client': 'config event-requests retries stdio',
    'src/client/mastra': 'sign-in',
    'src/definition': `
      agent compiled-tool developed error-text flights hook input-required is-object keep-unless-failed option-kind protocol-error schema secret
      middleware server-name shares stage store-owner through-middleware timeout tool tool-mistakes
      unknown-option`,
    'src/gateway': 'follow-places options',
    'src/http': 'app auth-paths hosting html known-callers mounted page-model unset-secret',
    'src/interaction': 'matrix question-keys rendezvous returned-questions step-error step-options',
    'src/request': 'access around-tool connection direct-call sendable start tool-handle',
    'src/retrieval': 'checked-store input named-model openai options store vector-query-tool',
    'src/sdk': 'app-shape description node-call node-socket',
    'src/retrieval/stores': 'http',
    'src/sign-in': 'keys oidc place sign-in',
    'src/sign-in/clients': 'machines',
    'src/keyed': 'commit given-store store',
    'src/mcp-events':
      'core dead emit errors fan-out grant held keys life places record reservation turn watched',
    'src/mcp-events/admin': 'summary',
    'src/mcp-events/store': 'store',
    'src/sign-in/browser': 'attempts',
    'src/sign-in/store': 'store',
    'src/sign-in/upstream': 'connection lease settings stand-in',
    'src/tasks': 'changes lease run-task settings waits',
  },
  'within the budgets of the page': {
    'deploy/playground/browser': `
      argument-form bar catalogue client completion copy-button deliveries dom exchange form json json-view output-check panels
      questions result run tab-store task-details task-endpoint task-run task-times trouble`,
  },
  'measured here': {
    'adapters/_fetch': 'plain-headers',
    'adapters/_lambda': 'event-to-request',
    'adapters/_node': 'outline',
    'adapters/_postgres': 'chunks',
    'deploy/check':
      'addresses authorization decodings document json-schema media-type safe-text tool-schemas',
    'deploy/playground/browser': 'param-headers schema sign-in-steps uri-template wire-file',
    'src/auth': 'scopes',
    'src/client': 'lists oauth-document printable task',
    'src/definition': `
      base64 canonical-json digest json-line print-error schema-bounds schema-budget template-variables unprintable uri uri-pattern
      uri-template`,
    'src/events': 'listen-filter',
    'src/gateway': 'failure',
    'src/http': 'connect-snippets content-type',
    'src/interaction': 'asked-again',
    'src/protocol': 'json-rpc sse-response',
    'src/request': 'address',
    'src/retrieval': 'filter',
    'src/sign-in/pages': 'display-text',
    'src/webhook': 'events',
  },
  'of limited length before': {
    'adapters/_dynamodb': 'keyed list',
    'adapters/_tasks': 'wakes',
    'deploy/check': 'answer-record authorization-server body eras lists reply report walk-report',
    'deploy/check/walk': 'read-issuer',
    'src/auth': 'fetch-json',
    'src/client': 'connect errors output-schema task-requests tools',
    'src/definition': 'bounded-fetch own-data standard-webhook utf8',
    'src/mcp-events': 'canonical cursor params poll stream subscribe unsubscribe',
    'src/mcp-events/deliver': 'answer callback-url failure sign special-addresses',
    'src/request': 'public-name',
    'src/events': 'bus outage',
    'src/gateway': 'merge relay tasks',
    'src/interaction': 'begin degraded question',
    'src/protocol': 'declared-extensions response-limit session-subscriptions',
    'src/retrieval': 'external-calls rerank',
    'src/sign-in/clients': 'document-content networks public-fetch public-keys sealed-client',
    'src/sign-in/upstream': 'errors refresh tokens',
    'src/sign-in/upstream/openid': 'faults id-token identity token-answer',
    'src/sdk': 'foreign-call listed-names mcp-path node-exchange node-misuse',
    'src/tasks': 'endpoint-secrets inbox methods stored stored-input',
    'src/tasks/admin': 'entries gate query retry shown',
  },
  'measured by the requests here': {
    'adapters/_node': 'parse-body request response sse',
    'src/auth': 'identity issuer location unknown-caller',
    'src/sign-in': 'parameters server signing',
    'src/sign-in/browser': 'away browser callback connections consents flow question session',
    'src/sign-in/clients': 'assertion limits redirects registration',
    'src/sign-in/tokens': 'basic grants machine-tokens tokens verify',
    'src/definition': 'content json-members param-header prompt resource same-data tool-result',
    'src/http': 'admission body body-pieces forwarded hosts preflight public-url refusal refusals request-id',
    'src/protocol': 'batch describe envelope era failure headers other-messages read-message reply versions',
    'src/request': `
      complete dispatch pagination params platform prompts request-url resource-contents
      resource-guards resources tool-list tools`,
  },
  'measured by its own property test': {
    'src/client': 'entries',
    'src/interaction': 'journal-records seal sealing state',
    'src/protocol': 'asking legacy-rounds',
    'src/sdk': 'guarded resource-keys served-methods',
    'src/webhook': 'signature',
  },
}

/** The reason of each file. */
export const MODULES: readonly (readonly [file: string, reason: string])[] = Object.entries(
  BY_REASON,
).flatMap(([reason, folders]) =>
  Object.entries(folders).flatMap(([folder, names]) =>
    names
      .trim()
      .split(/\s+/)
      .map((name) => [`${folder}/${name}.ts`, reason] as const),
  ),
)
