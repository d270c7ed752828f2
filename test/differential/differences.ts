/**
 * Where Mayfly answers otherwise than the official SDK, on purpose. Each difference says which answers it applies to,
 * why, and what Mayfly answers instead, so that a listed difference is checked as strictly as an agreement. One that
 * applies nowhere, or changes nothing, fails the test.
 */
import type { CorpusEntry } from './corpus/_entry.ts'
import type { Outcome, OutcomeMessage } from './outcome.ts'

export interface Difference {
  readonly name: string
  /** Why, with what backs it. */
  readonly reason: string
  /** By id, or by what was asked and what the SDK answers. */
  readonly applies: readonly string[] | ((entry: CorpusEntry, sdk: Outcome) => boolean)
  /** Mayfly answers `entry` as the SDK answers this other request. */
  readonly asIf?: (entry: CorpusEntry) => CorpusEntry
  /** What Mayfly answers, given what the SDK answers. */
  readonly instead?: (sdk: Outcome, entry: CorpusEntry) => Outcome
}

const SERVER_INFO = 'io.modelcontextprotocol/serverInfo'

const hasCode = ({ messages }: Outcome, code: number): boolean =>
  messages.some((message) => 'code' in message && message.code === code)

const hasMember = ({ messages }: Outcome, member: string): boolean =>
  messages.some((message) => 'result' in message && Object.hasOwn(message.result as object, member))

const withCode = (sdk: Outcome, code: number, data: Record<string, unknown> = {}): Outcome => ({
  ...sdk,
  messages: sdk.messages.map((message) => ('code' in message ? { ...message, code, data } : message)),
})

const without = (sdk: Outcome, isDropped: (message: OutcomeMessage) => boolean): Outcome => ({
  ...sdk,
  messages: sdk.messages.filter((message) => !isDropped(message)),
})

const refusal = (status: number, code: number, id?: unknown): Outcome => ({
  status,
  hasAllow: false,
  messages: [{ id, code, data: {} }],
})

const bodyOf = (entry: CorpusEntry) =>
  JSON.parse(String(entry.body)) as { id: unknown; params: { uri: string } }

const mapResult = (sdk: Outcome, change: (result: Record<string, unknown>) => unknown): Outcome => ({
  ...sdk,
  messages: sdk.messages.map((message) =>
    'result' in message ? { ...message, result: change(message.result as Record<string, unknown>) } : message,
  ),
})

export const differences: readonly Difference[] = [
  // What is accepted
  {
    name: 'Accept is read tolerantly in the legacy era too',
    reason:
      'DESIGN §9: absent, a wildcard or JSON alone is answered in JSON, a stream alone in SSE. Only clients MUST send both types (2025-11-25, Transports, "Sending Messages to the Server"), and RFC 9110 §12.5.1 lets a server disregard the header. The SDK does so too, for modern requests.',
    applies: (_entry, sdk) => sdk.status === 406,
    asIf: (entry) => ({
      ...entry,
      headers: { ...entry.headers, accept: 'application/json, text/event-stream' },
    }),
  },
  {
    name: 'members beyond the protocol are ignored',
    reason:
      'JSON-RPC 2.0 §4 and the schema of `JSONRPCRequest` (2026-07-28, schema.json, no `additionalProperties: false`) leave messages open.',
    applies: ['members beyond the protocol', 'a request that is a response too'],
    asIf: (entry) => ({ ...entry, body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' }),
  },
  {
    name: 'a preflight is answered',
    reason: 'DESIGN §9 and the Fetch standard, "CORS-preflight request": browsers run MCP clients.',
    applies: ['preflight'],
    instead: () => ({ status: 204, hasAllow: false, messages: [] }),
  },

  {
    name: 'a HEAD has no body',
    reason: 'RFC 9110 §9.3.2.',
    applies: ['HEAD'],
    instead: (sdk) => ({ ...sdk, messages: [] }),
  },

  // What is refused
  {
    name: 'a parameter header without its argument is refused',
    reason:
      '2026-07-28, Streamable HTTP, "Server Validation": a header value that does not match the corresponding body value. A filter in front may have let the call pass for it.',
    applies: ['Mcp-Param for an absent argument'],
    instead: () => refusal(400, -32020, 1),
  },
  {
    name: 'foreign origins are refused on a local host',
    reason: '2026-07-28, Streamable HTTP, "Security & Endpoint": servers MUST validate Origin, 403.',
    applies: ['a foreign origin on localhost', 'the null origin on localhost'],
    instead: () => refusal(403, -32600),
  },
  {
    name: 'JSON that is deeply nested or could pollute a prototype is refused unread',
    reason: 'DESIGN §9: JSON depth limit; the issue: prototype-polluting keys are malformed input.',
    applies: [
      'nested 100 levels',
      'nested 5000 levels',
      'a key __proto__ in params',
      'a key __proto__ at the top',
      'a key constructor.prototype',
    ],
    instead: () => refusal(400, -32600),
  },
  {
    name: 'versions that are not served are refused',
    reason:
      'DESIGN §2: legacy is 2025-03-26 to 2025-11-25. 2025-06-18, Transports, "Protocol Version Header": an unsupported version MUST be answered with 400; Lifecycle, "Version Negotiation": initialize with another one we do.',
    applies: ['ping in 2024-11-05', 'initialize in 2024-11-05'],
    instead: (sdk, entry) =>
      entry.id.startsWith('initialize')
        ? mapResult(sdk, (result) => ({ ...result, protocolVersion: '2025-11-25' }))
        : refusal(400, -32600, 1),
  },
  {
    name: 'batches exist in 2025-03-26 alone, and hold no initialize',
    reason:
      '2025-06-18, changelog, 1: batching is removed. 2025-03-26, Lifecycle, "Initialization": initialize MUST NOT be part of a batch.',
    applies: [
      'batch of initialize',
      'batch in 2025-06-18',
      'batch in 2025-11-25',
      'batch of notifications in 2025-11-25',
    ],
    instead: () => refusal(400, -32600),
  },
  {
    name: 'a cursor this server did not give out is refused',
    reason: '2026-07-28, Pagination, "Error Handling": -32602. McpServer has no pages and reads no cursor.',
    applies: (entry, sdk) => /cursor/.test(entry.id) && sdk.messages.some((message) => 'result' in message),
    instead: () => refusal(200, -32602, 1),
  },
  {
    name: 'request state that this server did not seal, and answers that are no object, are refused',
    reason:
      'DESIGN §6: forged state is refused with -32602 before user code runs; 2026-07-28, Multi Round-Trip Requests: `inputResponses` is an object. The SDK leaves both to the tool.',
    applies: [
      'call with request state ""',
      'call with request state "garbage"',
      'call with input responses []',
      'call with input responses "yes"',
      'call with input responses null',
    ],
    instead: () => refusal(200, -32602, 1),
  },
  {
    name: 'URIs that cannot be decoded, or are over 2048 long, match no template',
    reason:
      'RFC 3986 §2.1: "%zz" is no percent-encoding. The length limit keeps hostile input from the matcher.',
    applies: [
      'read a template with broken escapes@modern',
      'read a template with broken escapes@legacy',
      'read 10 000 letters@modern',
      'read 10 000 letters@legacy',
    ],
    instead: (_sdk, entry) => {
      const { uri } = bodyOf(entry).params
      return { ...refusal(200, -32602), messages: [{ id: 1, code: -32602, data: { uri } }] }
    },
  },

  // Which error it is
  {
    name: 'a request that is refused as such is -32600',
    reason:
      'JSON-RPC 2.0 §5.1: -32600 is what is no valid request. 2026-07-28, "Error Codes": new implementations SHOULD NOT use -32000 to -32019.',
    applies: (_entry, sdk) => hasCode(sdk, -32000),
    instead: (sdk) => withCode(sdk, -32600),
  },
  {
    name: 'parameters of a wrong type are -32602',
    reason: 'JSON-RPC 2.0 §5.1: -32602 are invalid parameters; -32603 would be a fault of the server.',
    applies: (entry, sdk) => hasCode(sdk, -32603) && !/throws/.test(entry.id),
    instead: (sdk) => withCode(sdk, -32602),
  },
  {
    name: 'a wrong _meta is -32602, in the answer to its request',
    reason:
      'JSON-RPC 2.0 §5.1 again: the request is one, its parameters are invalid. HTTP 400 is for what the modern envelope requires (2026-07-28, Streamable HTTP, "Server Validation").',
    applies: [
      'progress token is an object',
      'progress token is a fraction',
      'progress token is null',
      'ping with _meta as a string',
      'ping with a wrong progress token',
      '_meta is an array under a modern header',
    ],
    instead: (_sdk, entry) => refusal(entry.id.startsWith('_meta') ? 400 : 200, -32602, 1),
  },
  {
    name: 'an unknown resource is -32002 in the legacy era',
    reason: '2025-11-25, Resources, "Error Handling"; the issue asks for it.',
    applies: (entry, sdk) =>
      /^read /.test(entry.id) &&
      !('mcp-method' in entry.headers) &&
      hasCode(sdk, -32602) &&
      typeof bodyOf(entry).params.uri === 'string',
    instead: (sdk, entry) => withCode(sdk, -32002, { uri: bodyOf(entry).params.uri }),
  },
  {
    name: 'headers must not contradict the body in the legacy era either',
    reason:
      'A filter in front may go by Mcp-Method and Mcp-Name (2026-07-28, Streamable HTTP, "Server Validation"), and would be passed by a legacy message otherwise. No legacy client sends them.',
    applies: ['Mcp-Method and Mcp-Name wrong in the legacy era'],
    instead: () => refusal(400, -32020, 1),
  },
  {
    name: 'a method of an extension that is not there is unknown',
    reason:
      '2026-07-28, Streamable HTTP, "Protocol Version Header": -32601 with 404. "Standard Request Headers" names no Mcp-Name for it.',
    applies: ['tasks/get with a modern envelope'],
    instead: () => refusal(404, -32601, 1),
  },
  {
    name: 'the id of a refused request is echoed where it is one',
    reason:
      'JSON-RPC 2.0 §5: the id MUST be that of the request. A fraction, or a number that JavaScript cannot hold, is no `RequestId` (2026-07-28, schema.json), and would come back changed.',
    applies: [
      'ping in an unknown legacy version',
      'ping under an empty version header',
      'id is a fraction',
      'id is beyond the safe integers',
    ],
    instead: (sdk, entry) => {
      const { id } = bodyOf(entry)
      const messages = sdk.messages.map((message) => ({
        ...message,
        id: Number.isSafeInteger(id) ? id : undefined,
      }))
      return { ...sdk, messages }
    },
  },

  // What is answered
  {
    name: 'the title of the server is told in discovery alone',
    reason:
      '2026-07-28, "`_meta`", per-response protocol fields: serverInfo is "server name and version", and optional. Every answer pays for each byte of it.',
    applies: (_entry, sdk) =>
      /serverInfo":\{[^}]*"title"/.test(JSON.stringify(sdk.messages)) && !hasMember(sdk, 'capabilities'),
    instead: (sdk) =>
      mapResult(sdk, (result) => {
        const meta = result._meta as Record<string, { name: string; version: string }>
        const { name, version } = meta[SERVER_INFO]!
        return { ...result, _meta: { ...meta, [SERVER_INFO]: { name, version } } }
      }),
  },
  {
    name: 'initialize advertises no change notifications',
    reason:
      'DESIGN §6: never a capability that cannot be honoured. A stateless legacy server has no stream to send them on.',
    applies: (_entry, sdk) => hasMember(sdk, 'protocolVersion'),
    instead: (sdk) =>
      mapResult(sdk, (result) => {
        const capabilities = result.capabilities as Record<string, object>
        return { ...result, capabilities: { ...capabilities, tools: {}, prompts: {}, resources: {} } }
      }),
  },
  {
    name: 'variables of a template arrive decoded',
    reason: 'RFC 6570 §3.2.1: expansion percent-encodes values, so matching decodes them.',
    applies: (entry) => /^read (a template with escapes|a path that climbs)@/.test(entry.id),
    instead: (sdk) =>
      mapResult(sdk, (result) => ({
        ...result,
        contents: (result.contents as { text: string }[]).map((part) => ({
          ...part,
          text: decodeURIComponent(part.text),
        })),
      })),
  },
  {
    name: 'a legacy client that set no level gets log messages from info up',
    reason:
      '2025-11-25, schema.ts, `LoggingMessageNotification`: the server MAY decide. A level set cannot be remembered (DESIGN §6, matrix).',
    applies: (entry) => /^report .* in the legacy era$/.test(entry.id),
    instead: (sdk) => without(sdk, (message) => 'method' in message && isDebug(message.params)),
  },
  {
    name: 'progress is sent at most every 100 ms, the last always',
    reason: 'DESIGN §5; 2026-07-28, Progress, "Implementation Notes": both parties SHOULD limit the rate.',
    applies: ['report three times with a progress token'],
    instead: (sdk) => without(sdk, (message) => 'method' in message && isProgress(message.params, 2)),
  },
  {
    name: 'nothing is streamed to a client that takes JSON alone',
    reason:
      'RFC 9110 §12.5.1, DESIGN §9. Notifications are dropped; a subscription, which is nothing but them, is completed at once.',
    applies: [
      'report to a client that takes JSON alone',
      'report to a modern client that takes JSON alone',
      'listen with JSON alone accepted',
    ],
    instead: (sdk, entry) =>
      entry.id.startsWith('listen')
        ? { ...sdk, messages: [{ id: 1, result: COMPLETED_SUBSCRIPTION }] }
        : without(sdk, (message) => 'method' in message),
  },
]

const COMPLETED_SUBSCRIPTION = {
  resultType: 'complete',
  _meta: {
    'io.modelcontextprotocol/subscriptionId': 1,
    [SERVER_INFO]: {
      name: 'Differential',
      version: '1.2.3',
      title: 'Differential fixture',
    },
  },
}

function isDebug(params: unknown): boolean {
  return (params as { level?: unknown }).level === 'debug'
}

function isProgress(params: unknown, value: number): boolean {
  return (params as { progress?: unknown }).progress === value
}
