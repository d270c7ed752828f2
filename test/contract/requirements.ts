/**
 * Every behaviour Mayfly promises, with where the promise comes from: a section of the MCP specification, an RFC, or a
 * page of our own documentation where neither has an opinion. A test cites a requirement by ending its name with the
 * id in brackets; one that no test cites fails `requirements.test.ts`.
 */

export interface Requirement {
  readonly statement: string
  readonly source: readonly string[]
}

const SPEC = 'https://modelcontextprotocol.io/specification/2026-07-28'
const BASIC = `${SPEC}/basic/index`
const HTTP = `${SPEC}/basic/transports/streamable-http`
const TOOLS = `${SPEC}/server/tools`
const RESOURCES = `${SPEC}/server/resources`
const PROMPTS = `${SPEC}/server/prompts`
const COMPLETION = `${SPEC}/server/utilities/completion`
const CACHING = `${SPEC}/server/utilities/caching`
const PAGINATION = `${SPEC}/server/utilities/pagination`
const LOGGING = `${SPEC}/server/utilities/logging`
const EVENTS = 'https://modelcontextprotocol.io/seps/3415-events-extension'
const SUBSCRIPTIONS = `${SPEC}/basic/patterns/subscriptions`
const PROGRESS = `${SPEC}/basic/patterns/progress`
const MRTR = `${SPEC}/basic/patterns/mrtr`
const ELICITATION = `${SPEC}/client/elicitation`
const CANCELLATION = `${SPEC}/basic/patterns/cancellation`
const AUTHORIZATION = `${SPEC}/basic/authorization/index`
const DISCOVERY = `${SPEC}/basic/authorization/authorization-server-discovery`
const LEGACY = 'https://modelcontextprotocol.io/specification/2025-11-25'
const OLDEST = 'https://modelcontextprotocol.io/specification/2025-03-26'
const RFC = 'https://www.rfc-editor.org/rfc'

export const REQUIREMENTS = {
  'tools.list': {
    statement:
      'tools/list shows the name, title, description, schemas, annotations, icons and _meta of each tool.',
    source: [`${TOOLS}#listing-tools`],
  },
  'tools.order': {
    statement: 'Tools are listed in the order of their definition, the same in every answer.',
    source: [`${TOOLS}#listing-tools`],
  },
  'tools.name': {
    statement: 'Clients see a tool under its key in `tools`, whatever its id.',
    source: ['docs/tools.md', `${TOOLS}#tool-names`],
  },
  'tools.register': {
    statement:
      'registerTool adds what createTool does; without an inputSchema its callback gets the context alone.',
    source: ['docs/tools.md'],
  },
  'tools.unknown': {
    statement: 'Calling a tool the server does not have is -32602.',
    source: [`${TOOLS}#error-handling`],
  },
  'tools.arguments': {
    statement:
      'Absent arguments are an empty object; execute receives the validated value, defaults applied.',
    source: [`${TOOLS}#calling-tools`],
  },
  'tools.invalid-arguments': {
    statement:
      'Arguments that do not match are an isError result that names each field, and execute does not run.',
    source: [`${TOOLS}#error-handling`],
  },
  'tools.thrown-error': {
    statement: 'What a tool throws becomes an isError result with its message and never its stack.',
    source: [`${TOOLS}#error-handling`],
  },
  'tools.protocol-error': {
    statement: 'A thrown ProtocolError becomes a JSON-RPC error with its code, message and data.',
    source: [`${BASIC}#error-responses`],
  },
  'tools.hooks': {
    statement:
      'onInputAvailable sees the validated input and onOutput the output; what they throw fails nothing.',
    source: ['docs/tools.md'],
  },
  'tools.middleware': {
    statement:
      'Middleware of `use` is around each tool call: what it changes of arguments and result must match their schemas.',
    source: ['docs/tools.md'],
  },
  'tools.hidden': {
    statement: 'A tool with `enabled: false` is neither listed nor callable until setup enables it.',
    source: ['docs/tools.md'],
  },
  'results.text': {
    statement: 'A returned string is one text block.',
    source: [`${TOOLS}#text-content`],
  },
  'results.value': {
    statement: 'A returned JSON value is text, and as an object also structuredContent.',
    source: [`${TOOLS}#structured-content`],
  },
  'results.content': {
    statement:
      'A returned CallToolResult is sent as it is: text, image, audio, embedded resource, link, annotations.',
    source: [`${TOOLS}#tool-result`],
  },
  'results.output-schema': {
    statement:
      'structuredContent that does not match the outputSchema never reaches the client: isError instead.',
    source: [`${TOOLS}#output-schema`],
  },
  'results.any-json': {
    statement: 'In the modern era structuredContent may be any JSON value.',
    source: [`${TOOLS}#structured-content`],
  },
  'results.legacy-object': {
    statement: 'Legacy clients see structuredContent and outputSchema only where they are of an object.',
    source: [`${LEGACY}/server/tools#structured-content`],
  },
  'results.meta': {
    statement: 'The _meta of a result is kept beside what the protocol puts there.',
    source: [`${BASIC}#meta`],
  },
  'schemas.zod': {
    statement: 'zod schemas advertise their JSON Schema and validate, with defaults and transforms.',
    source: ['docs/tools.md', `${BASIC}#json-schema-usage`],
  },
  'schemas.standard': {
    statement:
      'Any Standard Schema validates; one that cannot say its JSON Schema is refused as input, and describes an output as no more than true.',
    source: ['docs/tools.md', `${BASIC}#json-schema-usage`],
  },
  'schemas.shape': {
    statement: 'A shape of schemas is an object schema whose optional properties are not required.',
    source: ['docs/tools.md'],
  },
  'schemas.json-schema': {
    statement: 'jsonSchema() advertises the schema unchanged and validates it in its own dialect.',
    source: [`${BASIC}#implementation-requirements`],
  },
  'schemas.dialect': {
    statement: 'A schema in an unknown dialect is refused when it is written.',
    source: [`${BASIC}#implementation-requirements`],
  },
  'schemas.no-remote-ref': {
    statement: 'A $ref to another document is refused and never fetched.',
    source: [`${BASIC}#ref-resolution`],
  },
  'schemas.checked': {
    statement: 'A JSON Schema that is none is a TypeError that names the place, when it is written.',
    source: [`${BASIC}#implementation-requirements`],
  },
  'schemas.plain-refused': {
    statement: 'Plain JSON Schema without jsonSchema() is a TypeError that says what to write.',
    source: ['docs/tools.md'],
  },
  'schemas.input-object': {
    statement: 'A tool’s inputSchema must describe an object; a tool without one takes any object.',
    source: [`${TOOLS}#tool`],
  },
  'agents.ask': {
    statement: 'An agent is the tool ask_<key>, which takes a message and answers with its text.',
    source: ['docs/tools.md'],
  },
  'agents.workflow': {
    statement: 'A workflow is the tool run_<key> with its inputSchema; it answers with the run’s result.',
    source: ['docs/tools.md'],
  },
  'agents.workflow-failure': {
    statement: 'A run that does not succeed is an isError result with its status and error.',
    source: ['docs/tools.md', `${TOOLS}#error-handling`],
  },
  'agents.description': {
    statement: 'An agent or workflow without a description is a TypeError at construction.',
    source: ['docs/tools.md'],
  },
  'agents.collision': {
    statement: 'An explicit tool wins over an agent’s or workflow’s of the same name, and a warning says so.',
    source: ['docs/tools.md', `${TOOLS}#tool-names`],
  },
  'resources.list': {
    statement: 'resources/list shows fixed resources, resources/templates/list the templates.',
    source: [`${RESOURCES}#listing-resources`, `${RESOURCES}#resource-templates`],
  },
  'resources.read': {
    statement: 'resources/read answers text as text and bytes as base64, with URI and MIME type.',
    source: [`${RESOURCES}#reading-resources`, `${RESOURCES}#binary-content`],
  },
  'resources.template': {
    statement: 'A URI that matches an RFC 6570 template is read with its percent-decoded variables.',
    source: [`${RESOURCES}#resource-templates`, `${RFC}/rfc6570`],
  },
  'resources.callbacks': {
    statement: 'Callbacks list, list templates and read, with the context of the request.',
    source: ['docs/resources-and-prompts.md'],
  },
  'resources.unknown-modern': {
    statement: 'An unknown URI is -32602 with data.uri in the modern era.',
    source: [`${RESOURCES}#error-handling`],
  },
  'resources.unknown-legacy': {
    statement: 'An unknown URI is -32002 with data.uri in the legacy era.',
    source: [`${LEGACY}/server/resources#error-handling`],
  },
  'prompts.list': {
    statement: 'prompts/list shows each prompt with its arguments and which of them are required.',
    source: [`${PROMPTS}#listing-prompts`],
  },
  'prompts.get': {
    statement: 'prompts/get answers messages, from text, from messages or from a whole result.',
    source: [`${PROMPTS}#getting-a-prompt`],
  },
  'prompts.arguments': {
    statement: 'Missing or invalid arguments are -32602 and named.',
    source: [`${PROMPTS}#error-handling`],
  },
  'prompts.unknown': {
    statement: 'An unknown prompt is -32602.',
    source: [`${PROMPTS}#error-handling`],
  },
  'prompts.callbacks': {
    statement: 'Callbacks list and fill in prompts, with the context of the request.',
    source: ['docs/resources-and-prompts.md'],
  },
  'prompts.versions': {
    statement: 'Of several versions of a prompt the first is the default, and a client can ask for another.',
    source: ['docs/resources-and-prompts.md'],
  },
  'completion.values': {
    statement: 'Arguments of prompts and variables of templates are completed, given those already resolved.',
    source: [`${COMPLETION}#requesting-completions`],
  },
  'completion.limit': {
    statement: 'At most 100 values are sent; total and hasMore tell of the rest.',
    source: [`${COMPLETION}#completion-results`],
  },
  'completion.unknown': {
    statement: 'Completing for an unknown prompt or template, or an invalid reference, is -32602.',
    source: [`${COMPLETION}#error-handling`],
  },
  'info.server': {
    statement:
      'A server has its id, name, version and description; that of mayfly-mcp/mastra describes itself as those of Mastra do.',
    source: ['docs/registry.md'],
  },
  'info.tools': {
    statement: 'getToolListInfo and getToolInfo show every tool with its schemas and what it was made from.',
    source: ['docs/tools.md'],
  },
  'info.execute': {
    statement: 'executeTool validates, runs the tool outside a request and returns or throws what it does.',
    source: ['docs/tools.md'],
  },
  'pagination.pages': {
    statement: 'Every list is paged by an opaque cursor, complete and without repetition.',
    source: [`${PAGINATION}#pagination-flow`],
  },
  'pagination.cursor': {
    statement: 'A cursor this server did not give out is -32602.',
    source: [`${PAGINATION}#error-handling`],
  },
  'pagination.scope': {
    statement: 'All pages of a list carry the same cacheScope.',
    source: [`${CACHING}#interaction-with-pagination`],
  },
  'setup.overlay': {
    statement: 'setup can enable, disable, update, remove and add tools for its request.',
    source: ['docs/context.md'],
  },
  'setup.isolation': {
    statement: 'What setup does in one request is not seen by another, concurrent or later.',
    source: ['docs/context.md', `${BASIC}#statelessness`],
  },
  'setup.failure': {
    statement: 'A setup that throws refuses the request: a ProtocolError as it is, anything else as -32603.',
    source: ['docs/context.md', `${BASIC}#error-responses`],
  },
  'context.facts': {
    statement: 'The context says who asks, in which era and version, with which capabilities, and holds env.',
    source: ['docs/context.md', `${BASIC}#meta`],
  },
  'context.extra': {
    statement:
      'In the contexts of mayfly-mcp/sdk and mayfly-mcp/mastra, mcp.extra holds the same under the names of the SDK.',
    source: ['docs/context.md'],
  },
  'context.can': {
    statement: 'ctx.can says what works in this very request, and if not why and what to do.',
    source: ['docs/degradation.md'],
  },
  'context.wait-until': {
    statement: 'waitUntil hands work to the platform; its rejection is reported and harms no one.',
    source: ['docs/context.md'],
  },
  'modern.discover': {
    statement:
      'server/discover answers versions, identity, instructions and only capabilities that are honoured.',
    source: [`${SPEC}/server/discover#response`],
  },
  'modern.envelope': {
    statement:
      'A request without the required _meta fields, or with malformed ones, is -32602 with status 400.',
    source: [`${BASIC}#meta`],
  },
  'modern.version': {
    statement: 'An unsupported version is -32022 with status 400, supported and requested.',
    source: [`${SPEC}/basic/versioning#protocol-version-negotiation`],
  },
  'modern.method': {
    statement: 'A method the server does not have is -32601 with status 404.',
    source: [`${HTTP}#protocol-version-header`],
  },
  'modern.result': {
    statement: 'Every result carries resultType and the server’s identity in _meta.',
    source: [`${BASIC}#resulttype`, `${BASIC}#meta`],
  },
  'modern.cache': {
    statement: 'Cacheable results carry ttlMs and cacheScope, private once they depend on the caller.',
    source: [`${CACHING}#cacheable-results`, `${CACHING}#choosing-a-cache-scope`],
  },
  'modern.capability': {
    statement: 'A capability that a request needs and the client did not declare is -32021 with status 400.',
    source: [`${BASIC}#meta`],
  },
  'modern.stateless': {
    statement: 'Session ids and Last-Event-ID are ignored and none is minted.',
    source: [`${HTTP}#earlier-streamable-http-revisions`, `${BASIC}#statelessness`],
  },
  'headers.version': {
    statement:
      'An MCP-Protocol-Version header that is missing or contradicts the body is -32020 with status 400.',
    source: [`${HTTP}#protocol-version-header`],
  },
  'headers.method': {
    statement: 'An Mcp-Method header that is missing or contradicts the body is -32020 with status 400.',
    source: [`${HTTP}#standard-request-headers`],
  },
  'headers.name': {
    statement: 'An Mcp-Name header that is missing or contradicts params.name or params.uri is -32020.',
    source: [`${HTTP}#standard-request-headers`],
  },
  'headers.base64': {
    statement: 'Values in the Base64 form are decoded before they are compared; broken ones are -32020.',
    source: [`${HTTP}#value-encoding`],
  },
  'headers.param': {
    statement:
      'An Mcp-Param header that is missing or contradicts the argument is -32020; numbers compare as numbers.',
    source: [`${HTTP}#server-behavior-for-custom-headers`, `${HTTP}#server-validation`],
  },
  'headers.param-absent': {
    statement: 'No Mcp-Param header is expected for an argument that is absent or null.',
    source: [`${HTTP}#server-behavior-for-custom-headers`],
  },
  'headers.param-declaration': {
    statement: 'An x-mcp-header annotation that clients would reject is a TypeError.',
    source: [`${HTTP}#schema-extension`],
  },
  'headers.case': {
    statement: 'Header names compare without case, values with it.',
    source: [`${HTTP}#case-sensitivity`],
  },
  'legacy.initialize': {
    statement: 'initialize answers identity, instructions and only capabilities that are honoured.',
    source: [`${LEGACY}/basic/lifecycle#initialization`],
  },
  'legacy.negotiation': {
    statement: 'A legacy version is answered with itself, any other with 2025-11-25.',
    source: [`${LEGACY}/basic/lifecycle#version-negotiation`],
  },
  'legacy.session': {
    statement: 'Mcp-Session-Id brings back what initialize declared; one that cannot be read is ignored.',
    source: [`${LEGACY}/basic/transports#session-management`],
  },
  'legacy.ping': {
    statement: 'ping is answered with an empty result.',
    source: [`${LEGACY}/basic/utilities/ping#behavior-requirements`],
  },
  'legacy.set-level': {
    statement: 'logging/setLevel is acknowledged, and -32602 for what is no level.',
    source: [`${LEGACY}/server/utilities/logging#setting-log-level`],
  },
  'legacy.batch': {
    statement: 'Batches are answered as one array in 2025-03-26 and refused in every other version.',
    source: [`${OLDEST}/basic/index#batching`, `${LEGACY}/basic/transports#sending-messages-to-the-server`],
  },
  'legacy.notification': {
    statement: 'Notifications and responses are 202 without a body.',
    source: [`${LEGACY}/basic/transports#sending-messages-to-the-server`],
  },
  'legacy.get-delete': {
    statement: 'GET for a stream and DELETE for a session are 405 with Allow.',
    source: [
      `${LEGACY}/basic/transports#listening-for-messages-from-the-server`,
      `${LEGACY}/basic/transports#session-management`,
    ],
  },
  'legacy.version-header': {
    statement:
      'An MCP-Protocol-Version header that names no served version is 400; its absence means 2025-03-26.',
    source: [`${LEGACY}/basic/transports#protocol-version-header`],
  },
  'legacy.method': {
    statement: 'A method the server does not have is -32601 in a 200 answer.',
    source: [`${LEGACY}/basic/index#error-responses`],
  },
  'legacy.subscribe': {
    statement: 'resources/subscribe is acknowledged though not advertised, since no update can follow.',
    source: ['docs/degradation.md', `${LEGACY}/server/resources#subscriptions`],
  },
  'streaming.json': {
    statement: 'The answer is JSON where the tool sends nothing before its result.',
    source: [`${HTTP}#sending-messages`],
  },
  'streaming.notify': {
    statement:
      'The answer becomes an SSE stream the moment the tool notifies, with the result as its last event.',
    source: [`${HTTP}#receiving-messages`],
  },
  'streaming.slow': {
    statement: 'An answer that takes longer than streamAfterMs becomes a stream, kept alive by comments.',
    source: ['docs/http.md', `${HTTP}#receiving-messages`],
  },
  'streaming.unbuffered': {
    statement: 'Streams carry X-Accel-Buffering: no.',
    source: [`${HTTP}#receiving-messages`],
  },
  'streaming.accept': {
    statement:
      'A client that takes only JSON gets JSON without notifications; one that takes only SSE gets SSE.',
    source: [`${RFC}/rfc9110#section-12.5.1`, `${HTTP}#sending-messages`],
  },
  'streaming.buffered-platform': {
    statement: 'On a platform that cannot stream every answer is JSON.',
    source: ['docs/degradation.md'],
  },
  'streaming.cancel': {
    statement: 'Closing the response stream aborts ctx.signal, and nothing more is sent.',
    source: [`${HTTP}#cancellation`, `${CANCELLATION}#transport-specific-cancellation`],
  },
  'streaming.disconnect': {
    statement: 'A client that goes away before the answer aborts ctx.signal; the answer is an empty 499.',
    source: [`${CANCELLATION}#transport-specific-cancellation`],
  },
  'streaming.deadline': {
    statement: 'A call that nears the platform’s deadline is aborted and answered with a typed error.',
    source: ['docs/http.md', `${CANCELLATION}#timeouts`],
  },
  'auth.challenge': {
    statement:
      "Who brings no good token gets 401 with `WWW-Authenticate: Bearer`, the metadata's URL and the scopes.",
    source: [
      `${RFC}/rfc9728#section-5.1`,
      `${RFC}/rfc6750#section-3`,
      `${DISCOVERY}#protected-resource-metadata-discovery-requirements`,
    ],
  },
  'auth.header-only': {
    statement: 'A token in the query string is never looked at.',
    source: [`${AUTHORIZATION}#token-requirements`, `${RFC}/rfc6750#section-2.3`],
  },
  'auth.before-body': {
    statement: 'A body is not read before its sender is known.',
    source: ['docs/auth.md'],
  },
  'auth.unavailable': {
    statement: 'Where a token cannot be checked nobody gets in, and the client is told to try again.',
    source: ['docs/auth.md'],
  },
  'auth.metadata': {
    statement:
      'The protected resource metadata is at the path-inserted URL and at the root, right behind prefixes and proxies.',
    source: [`${RFC}/rfc9728#section-3.1`, `${DISCOVERY}#protected-resource-metadata-discovery-requirements`],
  },
  'auth.scopes': {
    statement: 'What a caller may not use is absent from lists.',
    source: ['docs/auth.md'],
  },
  'auth.step-up': {
    statement: '403 insufficient_scope names the scopes needed for that very operation.',
    source: [`${AUTHORIZATION}#runtime-insufficient-scope-errors`, `${RFC}/rfc6750#section-3.1`],
  },
  'auth.context': {
    statement: 'A tool knows who calls it, under our name and the one of other frameworks.',
    source: ['docs/auth.md'],
  },
  'auth.private-lists': {
    statement: 'Lists are private where callers are known.',
    source: [`${CACHING}`],
  },
  'auth.spelling': {
    statement: 'No other spelling of a URI reads, or hears of, what the caller may not.',
    source: ['docs/resources-and-prompts.md'],
  },
  'guarded.methods': {
    statement: 'A foreign server is sent no method outside MCP that its operator has not named.',
    source: ['docs/bring-your-own.md'],
  },
  'auth.unknown': {
    statement: 'Callers whom nobody knows may not use what needs a scope, and learn no closed name.',
    source: ['docs/auth.md'],
  },
  'auth.any-of': {
    statement:
      'Callers of several kinds are each admitted, judged and told apart by the one that knows them.',
    source: ['docs/auth.md'],
  },
  'auth.paths': {
    statement:
      'The paths of `auth` itself are served on every way to a server, behind its guards and limits.',
    source: ['docs/auth-reference.md'],
  },
  'auth.anonymous': {
    statement: 'A declared subset may be open to everybody.',
    source: ['docs/auth.md'],
  },
  'auth.page': {
    statement: 'The page shows nobody what is not for everybody.',
    source: ['docs/auth.md'],
  },
  'auth.identity': {
    statement:
      'What a verifier answers is an identity only if it names a client or a subject, or says yes; anything else is refused and reported once.',
    source: ['docs/auth.md', `${AUTHORIZATION}#token-handling`],
  },
  'auth.resource': {
    statement:
      'A verifier is told to compare with an address that the operator or the platform names, never with the Host header of a caller.',
    source: ['docs/auth.md', `${AUTHORIZATION}#token-handling`],
  },
  'auth.options': {
    statement: 'Options that would not mean what they seem to are refused when the server is made.',
    source: ['docs/auth.md'],
  },
  'auth.principal': {
    statement:
      'Tokens are one caller where they name the same client and subject; those that name neither are each their own.',
    source: ['docs/auth.md'],
  },
  'auth.outage': {
    statement: 'While the issuer fails it is asked seldom, and the keys and answers that are known are used.',
    source: ['docs/auth.md'],
  },
  'auth.static': {
    statement: 'Static tokens are compared whole.',
    source: ['docs/auth.md'],
  },
  'keys.format': {
    statement: 'An API key has a prefix, an id, a secret of more than 160 random bits and a checksum.',
    source: ['docs/auth-reference.md'],
  },
  'keys.hashed': {
    statement: 'A store has a hash of a key, never a part of its secret.',
    source: ['docs/auth-reference.md'],
  },
  'keys.shown-once': {
    statement: 'mayfly keys prints a new key once, on stdout, and neither the store nor the server gets it.',
    source: ['docs/cli.md'],
  },
  'keys.checksum': {
    statement: 'A text that cannot be a key is refused without asking the store.',
    source: ['docs/auth-reference.md'],
  },
  'keys.constant': {
    statement: 'An unknown id and a wrong secret are refused alike.',
    source: ['docs/auth-reference.md'],
  },
  'keys.expiry': {
    statement: 'An expired key is refused, also while it is remembered.',
    source: ['docs/auth-reference.md'],
  },
  'keys.revoke': {
    statement: 'A revoked key is refused after cacheMs at the latest, by default 5 seconds.',
    source: ['docs/auth-reference.md'],
  },
  'keys.cache': {
    statement: 'The store is asked about a key, known or not, once in cacheMs.',
    source: ['docs/auth-reference.md'],
  },
  'keys.limits': {
    statement: 'A bad key counts for itself, never for the owner of another.',
    source: ['docs/auth-reference.md'],
  },
  'keys.outage': {
    statement: 'While the store fails, callers with a key get 503 in time, and it is asked seldom.',
    source: ['docs/auth-reference.md'],
  },
  'keys.header': {
    statement:
      'A key is read from Authorization, and from x-api-key if the option names it; never from a URL.',
    source: ['docs/auth-reference.md'],
  },
  'keys.last-used': {
    statement: 'When a key was last used is stored once an hour, and neither delays nor fails a call.',
    source: ['docs/auth-reference.md'],
  },
  'keys.environment': {
    statement:
      'Of the keys in a variable, one that cannot be read lets no one in, and the others are served.',
    source: ['docs/auth-reference.md'],
  },
  'keys.audience': {
    statement:
      'A key is for one server and one stage: elsewhere with the same store it is refused, and one that names no server everywhere.',
    source: ['docs/auth.md'],
  },
  'keys.streams': {
    statement:
      'The open streams of a revoked key end within cacheMs and 15 seconds, and a minute after the store went down.',
    source: ['docs/auth-reference.md'],
  },
  'keys.one-id': {
    statement:
      'Of two keys in a variable or a file that have one id, neither is accepted, and both are named.',
    source: ['docs/auth-reference.md'],
  },
  'keys.stores': {
    statement: 'Every store has what was created, and what is revoked stays revoked.',
    source: ['docs/auth-reference.md'],
  },
  'auth.jwt': {
    statement:
      'A JWT is taken only with a good signature of its issuer by an asymmetric algorithm, for this audience and in its time.',
    source: [`${RFC}/rfc8725#section-3`, `${RFC}/rfc9068#section-4`, `${AUTHORIZATION}#token-handling`],
  },
  'auth.kinds': {
    statement:
      'Only access tokens are taken: by their typ, or by what an issuer is known to write; never ID, refresh or logout tokens.',
    source: [`${RFC}/rfc9068#section-4`, `${RFC}/rfc8725#section-3.11`],
  },
  'auth.bound': {
    statement: 'A token that is bound to a key is not taken as a plain bearer token, unless that is opened.',
    source: [`${RFC}/rfc9449#section-7.1`, `${RFC}/rfc8705#section-3`],
  },
  'auth.own': {
    statement:
      'What a call does to ctx.auth, at any depth, is seen by no other call, batch, task or verifier.',
    source: ['docs/auth.md'],
  },
  'auth.keys': {
    statement:
      'Keys are cached, rotated, bounded, and looked for at most once a minute for an unknown key id.',
    source: ['docs/auth.md'],
  },
  'auth.introspection': {
    statement:
      'An opaque token is taken as its issuer says, for this audience, and remembered for a short while.',
    source: [`${RFC}/rfc7662#section-2`],
  },
  'auth.presets': {
    statement: 'Each preset checks issuer, audience and keys as its provider needs it.',
    source: ['docs/auth.md'],
  },
  'limits.rate': {
    statement: 'Each principal, else each address, may call so often; more is 429 with Retry-After.',
    source: ['docs/http.md', `${RFC}/rfc6585#section-4`],
  },
  'limits.concurrency': {
    statement: 'More calls at once than the server takes on are answered 503, not queued.',
    source: ['docs/http.md', `${RFC}/rfc9110#section-15.6.4`],
  },
  'batch.guards': {
    statement:
      'Each message of a batch is held to what it would be held to alone: count, place, scopes, deadline, audit.',
    source: ['docs/http.md'],
  },
  'streaming.after': {
    statement: 'What a tool sends after its answer goes nowhere, and leaves no stream or timer behind.',
    source: ['docs/context.md'],
  },
  'listen.close': {
    statement: 'A server that closes ends its subscriptions with their result.',
    source: ['docs/events.md', `${SUBSCRIPTIONS}#graceful-closure`],
  },
  'page.private': {
    statement:
      'The page of a server with auth shows no instructions; that of a foreign server asks it once a minute.',
    source: ['docs/http.md'],
  },
  'errors.unwritable': {
    statement:
      'An error that JSON or HTTP cannot say, and a thrown value without a text, is answered with -32603 and reported.',
    source: ['docs/tools.md'],
  },
  'limits.json': {
    statement: 'JSON of too many members, or with a string that is too long, is refused.',
    source: ['docs/http.md'],
  },
  'limits.body': {
    statement:
      'A body that maxBodyBytes allows is accepted from a lone caller, or the options are refused when the server is made.',
    source: ['docs/http.md'],
  },
  'limits.slow-body': {
    statement: 'A body that does not arrive in time is refused.',
    source: ['docs/http.md', `${RFC}/rfc9110#section-15.5.9`],
  },
  'limits.headers': {
    statement: 'Headers larger than maxHeaderBytes are refused, where it is set.',
    source: ['docs/http.md', `${RFC}/rfc6585#section-5`],
  },
  'limits.slow-reader': {
    statement: 'A client that leaves 8 MB of its stream unread is cut off, which aborts its call.',
    source: ['docs/http.md'],
  },
  'limits.call': {
    statement: 'A call that takes too long is ended with a typed error, whatever the platform allows.',
    source: ['docs/http.md'],
  },
  'audit.entry': {
    statement: 'Every call and every refusal is told to the audit trail once, with who, what and outcome.',
    source: ['docs/http.md'],
  },
  'audit.redaction': {
    statement: 'Arguments are redacted in the audit trail by default, and in no log line ever.',
    source: ['docs/http.md'],
  },
  'telemetry.span': {
    statement:
      'Each request is a server span by the semantic conventions, and what the tool draws is inside it.',
    source: ['docs/http.md'],
  },
  'telemetry.tasks': {
    statement:
      'Each run of a task is a span with a link to the call that created it; due tasks are counted whenever the server looks for them.',
    source: ['docs/http.md'],
  },
  'telemetry.parent': {
    statement: 'The trace context comes from _meta, else from the headers.',
    source: ['docs/http.md'],
  },
  'platform.response-limit': {
    statement: 'A whole response over what the platform can send is refused with a typed error, not lost.',
    source: ['docs/http.md'],
  },
  'platform.public-url': {
    statement:
      'Where clients reach the server is publicUrl, else what the platform vouches for; forwarded headers count only with trustProxy.',
    source: ['docs/http.md'],
  },
  'progress.token': {
    statement: 'Progress is sent with the token of the request, and not at all without one.',
    source: [`${PROGRESS}#behavior-requirements`],
  },
  'progress.throttle': {
    statement: 'Progress is sent at most once in 100 ms, and the last report always.',
    source: [`${PROGRESS}#implementation-notes`],
  },
  'progress.increasing': {
    statement: 'Progress that does not increase is not sent.',
    source: [`${PROGRESS}#progress-flow`],
  },
  'logging.level': {
    statement: 'Log messages are sent from the level the request names, and an unknown level is -32602.',
    source: [`${LOGGING}#per-request-log-level`, `${LOGGING}#error-handling`],
  },
  'logging.silent': {
    statement: 'A modern request that names no level gets no log messages.',
    source: [`${LOGGING}#per-request-log-level`],
  },
  'malformed.json': {
    statement: 'A body that is not JSON, or not UTF-8, is -32700 with status 400.',
    source: [`${BASIC}#error-codes`, `${RFC}/rfc8259#section-8.1`],
  },
  'malformed.message': {
    statement: 'JSON that is no JSON-RPC message is -32600 with status 400.',
    source: [`${BASIC}#requests`],
  },
  'malformed.id': {
    statement: 'An id that is no string or integer is -32600, and an error without a readable id has none.',
    source: [`${BASIC}#requests`, `${BASIC}#error-responses`],
  },
  'malformed.depth': {
    statement: 'JSON nested deeper than maxJsonDepth is -32600 with status 400.',
    source: [`${RFC}/rfc8259#section-9`],
  },
  'malformed.pollution': {
    statement: 'Keys that could pollute a prototype are -32600 with status 400.',
    source: ['docs/http.md'],
  },
  'malformed.params': {
    statement: 'Parameters of the wrong type are -32602 and named.',
    source: [`${BASIC}#error-codes`],
  },
  'http.size': {
    statement: 'A body over maxBodyBytes is 413, counted as it streams.',
    source: [`${RFC}/rfc9110#section-15.5.14`],
  },
  'http.content-type': {
    statement: 'A POST that is not application/json is 415 before its body is read.',
    source: [`${RFC}/rfc9110#section-15.5.16`],
  },
  'http.method': {
    statement: 'Methods other than those served are 405 with Allow.',
    source: [`${RFC}/rfc9110#section-15.5.6`, `${HTTP}#earlier-streamable-http-revisions`],
  },
  'http.any-path': {
    statement: 'server.fetch works under any path and inside another app.',
    source: ['docs/mounting.md'],
  },
  'http.request-id': {
    statement:
      'Every answer carries x-request-id: the client’s where it is safe, else that of the call. No header of a client is the id of a call.',
    source: ['docs/http.md'],
  },
  'shares.caller': {
    statement:
      'One caller takes no more than its share of calls, streams, sessions, questions, bodies and tasks: another caller is served.',
    source: ['docs/http.md'],
  },
  'shares.hidden': {
    statement:
      'Callers who cannot be told apart may take all, and lose what is idle longest to others: sessions at once, streams after 30 seconds.',
    source: ['docs/http.md'],
  },
  'shares.subscriptions': {
    statement:
      'Every store of subscriptions keeps no more of one caller than a share of what the others leave, and forgets its oldest sessions first.',
    source: ['docs/events-reference.md'],
  },
  'waits.bounded': {
    statement:
      'Every wait for a verifier, a limiter, a store, a hook or any other code of the user ends by itself, with an answer and a line that names it.',
    source: ['docs/http.md'],
  },
  'http.no-sniff': {
    statement: 'Every answer with a body forbids sniffing, and none is stored by shared caches.',
    source: [`${RFC}/rfc9111#section-5.2.2.5`],
  },
  'guard.host': {
    statement: 'A Host that is not allowed is 403; MAYFLY_ALLOWED_HOSTS declares hosts at run time.',
    source: [HTTP, `${LEGACY}/basic/transports#security-warning`],
  },
  'guard.origin': {
    statement: 'An Origin that is not allowed is 403.',
    source: [HTTP, `${LEGACY}/basic/transports#security-warning`],
  },
  'guard.private': {
    statement:
      'A host of a private network takes origins of the same host and of this machine, or those declared.',
    source: ['docs/http.md', `${LEGACY}/basic/transports#security-warning`],
  },
  'guard.rebinding': {
    statement: 'A loopback listener serves local hosts alone, and a local host local origins alone.',
    source: [HTTP, `${LEGACY}/basic/transports#security-warning`],
  },
  'guard.request-target': {
    statement:
      'A request whose Host or target is invalid, or missing, is refused with 400, 403 or 404, never with a 5xx.',
    source: [`${RFC}/rfc9112#section-3.2`],
  },
  'cors.preflight': {
    statement: 'A preflight allows the MCP headers and each Mcp-Param header that is asked for.',
    source: ['https://fetch.spec.whatwg.org/#cors-preflight-fetch', `${HTTP}#request-metadata`],
  },
  'cors.response': {
    statement: 'Answers to browsers may be read by them, session and request id included.',
    source: ['https://fetch.spec.whatwg.org/#http-cors-protocol'],
  },
  'page.shown': {
    statement: 'A browser’s GET shows an HTML page without external assets, under a policy that allows none.',
    source: ['docs/http.md'],
  },
  'page.off': {
    statement: 'The page and the health check can be turned off.',
    source: ['docs/http.md'],
  },
  'page.health': {
    statement:
      'GET /healthz answers JSON under any prefix and Host, and says nothing but that the process answers.',
    source: ['docs/http.md'],
  },
  'listen.acknowledged': {
    statement: 'The first message of a listen stream acknowledges the part of the filter that is honoured.',
    source: [`${SUBSCRIPTIONS}#acknowledgment`],
  },
  'listen.no-bus': {
    statement: 'Without a bus a listen stream is acknowledged with an empty filter and completed at once.',
    source: ['docs/events.md', `${SUBSCRIPTIONS}#graceful-closure`],
  },
  'listen.process': {
    statement:
      'A long-lived process carries changes without a bus, on every adapter that serves one; where a platform starts several, none is advertised.',
    source: ['docs/events.md'],
  },
  'listen.delivery': {
    statement: 'A change reaches each stream that asked for it, with its subscription id, and no other.',
    source: [`${SUBSCRIPTIONS}#receiving-notifications`, `${SUBSCRIPTIONS}#opening-a-stream`],
  },
  'legacy.changes': {
    statement:
      'With a bus, a secret and stored subscriptions, legacy clients of a stateless server hear of changes; otherwise GET is 405.',
    source: ['docs/events.md'],
  },
  'listen.can-subscribe': {
    statement: 'A resource decides by canSubscribe which of its URIs a caller may be notified of.',
    source: ['docs/resources-and-prompts.md'],
  },
  'listen.filter': {
    statement: 'A filter that is none is -32602.',
    source: [`${SUBSCRIPTIONS}#notification-filter`],
  },
  'events.list': {
    statement:
      'events/list has the events that the caller may subscribe to, in pages, with schemas and modes.',
    source: [EVENTS],
  },
  'events.subscribe': {
    statement: 'events/subscribe verifies the endpoint; its id is of the caller, URL, event and arguments.',
    source: [EVENTS],
  },
  'events.unsubscribe': {
    statement: 'After events/unsubscribe, nothing more is delivered.',
    source: [EVENTS],
  },
  'events.delivery': {
    statement: 'An event is delivered, signed, to each subscription that it matches, and to no other.',
    source: [EVENTS],
  },
  'events.retries': {
    statement: 'A delivery that failed is tried again later, with the same id.',
    source: [EVENTS],
  },
  'events.expiry': {
    statement: 'After a subscription has expired or was revoked, nothing more is delivered.',
    source: [EVENTS],
  },
  'events.faults': {
    statement: 'With each write of the store rejected, delayed or lost in turn, no event is lost.',
    source: ['docs/mcp-events-running.md'],
  },
  'events.killed': {
    statement:
      'Each event that was accepted is delivered in order, with one id, although its process is killed at any moment.',
    source: ['docs/mcp-events-running.md'],
  },
  'events.races': {
    statement:
      'Of two processes with one store, none delivers what the other has ended, and a late verification changes nothing.',
    source: [EVENTS],
  },
  'events.poll': {
    statement: 'events/poll has the events after a cursor, once each, and says where some were skipped.',
    source: [EVENTS],
  },
  'events.stream': {
    statement: 'events/stream notifies of each event, and ends with its result.',
    source: [EVENTS],
  },
  'events.replay': {
    statement: 'A poll of an event with `replay` has the history of its upstream, from a cursor on.',
    source: [EVENTS, 'docs/mcp-events.md'],
  },
  'events.hooks': {
    statement: 'onSubscribe and onUnsubscribe are called for each subscription, also after a crash.',
    source: ['docs/mcp-events.md'],
  },
  'events.receive': {
    statement: 'eventsHandler passes on each event of a known subscription once, and refuses all else.',
    source: [EVENTS],
  },
  'events.client': {
    statement: 'MCPClient subscribes, refreshes and unsubscribes a webhook, and polls.',
    source: [EVENTS],
  },
  'events.client-stream': {
    statement: 'MCPClient streams events, each once, and continues at the last cursor.',
    source: [EVENTS],
  },
  'events.client-cursors': {
    statement: 'A stream of MCPClient continues at the stored cursor: each event at least once.',
    source: ['docs/client.md'],
  },
  'events.client-refresh': {
    statement:
      'MCPClient refreshes a subscription before it expires, if it is asked to, until it is refused.',
    source: [EVENTS],
  },
  'events.chatgpt': {
    statement: 'A client subscribes as OpenAI documents it for ChatGPT, also after initialize of 2025-03-26.',
    source: ['docs/mcp-events.md'],
  },
  'events.list-changed': {
    statement: 'Clients that listen are notified when the list of events has changed.',
    source: [EVENTS],
  },
  'extensions.declared': {
    statement:
      'An extension is declared with its settings by server/discover, and by initialize if it serves legacy clients.',
    source: [`${BASIC}#general-fields`, 'docs/extensions.md'],
  },
  'extensions.method': {
    statement: 'A method of an extension gets validated parameters, and its result is validated.',
    source: ['docs/extensions.md'],
  },
  'extensions.negotiated': {
    statement: 'A method of an extension that its client did not declare is -32021, with what is missing.',
    source: [`${BASIC}#general-fields`],
  },
  'extensions.legacy': {
    statement: 'A legacy client that declared an extension in initialize is served its methods.',
    source: ['docs/extensions.md'],
  },
  'extensions.scopes': {
    statement: 'A caller without the scopes of a method is refused before the method runs.',
    source: [`${AUTHORIZATION}#error-handling`],
  },
  'extensions.stream': {
    statement: 'A method that streams sends its notifications with the id of its request, then its result.',
    source: [`${SUBSCRIPTIONS}#receiving-notifications`],
  },
  'extensions.stream-end': {
    statement: 'A stream of an extension ends with its result before any limit of the platform.',
    source: [`${SUBSCRIPTIONS}#graceful-closure`],
  },
  'extensions.stream-places': {
    statement: 'The streams of extensions count for the limits of subscriptions/listen.',
    source: ['docs/extensions.md'],
  },
  'extensions.changes': {
    statement: 'A change of an extension reaches the clients that named it in subscriptions/listen.',
    source: [`${SUBSCRIPTIONS}#notification-filter`],
  },
  'extensions.routes': {
    statement:
      'A path of an extension beside the endpoint is answered behind the checks of hosts and limits.',
    source: ['docs/extensions.md'],
  },
  'listen.cancel': {
    statement: 'Closing a listen stream ends its subscription.',
    source: [`${SUBSCRIPTIONS}#cancellation`],
  },
  'listen.graceful': {
    statement:
      'A stream is kept alive by comments, and ended by a result before any limit of the platform, and with its token.',
    source: [`${SUBSCRIPTIONS}#graceful-closure`, `${HTTP}#receiving-messages`],
  },
  'listen.gap': {
    statement:
      'Where a bus may have lost events, each stream and session is told that all it listens to may have changed.',
    source: ['docs/events.md'],
  },
  'listen.coalesced': {
    statement:
      'The first of a burst of the same change leaves at once, all others as one within 100 ms; no other change waits for them.',
    source: ['docs/events.md'],
  },
  'bus.shared': {
    statement:
      'All streams and sessions of a process share one subscription to the bus, which ends with the last of them.',
    source: ['docs/events.md'],
  },
  'bus.listeners': {
    statement: 'A listener of a bus that throws keeps no other from hearing.',
    source: ['docs/events.md'],
  },
  'bus.down': {
    statement:
      'With the bus down requests are answered, with one report; once it is back, the next stream hears.',
    source: ['docs/events.md'],
  },
  'bus.sessions': {
    statement:
      'Sessions share one subscription to the bus, which is begun again where it fails, with one report.',
    source: ['docs/events.md'],
  },
  'bus.delivery': {
    statement:
      'Every bus delivers each event, whole and in order, to each subscriber of each instance, its own included.',
    source: ['docs/events.md'],
  },
  'bus.size': {
    statement:
      'Every bus carries events of up to 1 000 000 bytes of JSON, and refuses larger ones to their publisher.',
    source: ['docs/events.md'],
  },
  'bus.foreign': {
    statement: 'What is no change event on the channel of a bus is dropped, with one report.',
    source: ['docs/events.md'],
  },
  'bus.outage': {
    statement:
      'In an outage of a bus calls are answered, with one report; afterwards subscribers are told of a gap, and hear again.',
    source: ['docs/events.md'],
  },
  'redis.wait': {
    statement:
      'A wait over Redis ends at its deadline or when it is aborted, and leaves no channel behind, whatever Redis does.',
    source: ['docs/rendezvous.md'],
  },
  'redis.down': {
    statement:
      'While Redis does not answer, answers and counts are refused in time; once it is back, they go on.',
    source: ['docs/rendezvous.md'],
  },
  'redis.bus': {
    statement:
      'A bus over Redis survives lost connections, listeners that throw and subscriptions that failed.',
    source: ['docs/rendezvous.md'],
  },
  'redis.foreign': {
    statement: 'Text on our channels that is not ours is dropped, and ends no process.',
    source: ['docs/rendezvous.md'],
  },
  'redis.limiter': {
    statement: 'Every count in Redis expires: counting and expiring are one command.',
    source: ['docs/http.md'],
  },
  'bus.objects': {
    statement:
      'A bus of Durable Objects delivers between isolates, costs an idle subscriber nothing, and makes up for lost connections.',
    source: ['docs/events.md'],
  },
  'tasks.examples': {
    statement: 'A task with a question goes to its end on every store and runtime.',
    source: ['docs/tasks.md'],
  },
  'tasks.restarted': {
    statement: 'A restart of the database ends no process, and every task goes on.',
    source: ['docs/tasks-stores.md'],
  },
  'tasks.kept': {
    statement:
      'A task is kept for as long as it sleeps or waits with a timeout, and half of its ttlMs longer.',
    source: ['docs/tasks-stores.md'],
  },
  'tasks.clocks': {
    statement:
      'With a store that has a clock, machines whose clocks differ by an hour run no step twice, and sleep as long.',
    source: ['docs/tasks-stores.md'],
  },
  'tasks.leases': {
    statement:
      'A step that blocks its process for longer than a lease ends after a few runs, since each lease is longer.',
    source: ['docs/tasks.md'],
  },
  'tasks.killed': {
    statement:
      'A task whose process is killed at any moment ends, and no step that is in the store runs again.',
    source: ['docs/tasks.md'],
  },
  'tasks.runners': {
    statement:
      'A runner made of messages ends every task without a request: its messages may be early, late, twice or dead with their run.',
    source: ['docs/tasks.md'],
  },
  'tasks.crashes': {
    statement:
      'Processes that die at any write of a task change nothing of its result: no answer is lost, and never do two runs both write.',
    source: ['docs/tasks.md'],
  },
  'tasks.inspector': {
    statement: 'The command line of the Inspector drives tasks to their end.',
    source: ['docs/tasks.md'],
  },
  'webhook.signature': {
    statement: 'A webhook is accepted only if its id, timestamp and body are signed with a known secret.',
    source: ['docs/webhook.md'],
  },
  'webhook.replays': {
    statement:
      'A webhook is accepted once, and only near its timestamp; one that could not be published may be sent again.',
    source: ['docs/webhook.md'],
  },
  'webhook.body': {
    statement: 'A webhook publishes the change events in its body, or is refused with a one-line error.',
    source: ['docs/webhook.md'],
  },
  'rendezvous.objects': {
    statement: 'A wait at a Durable Object never rejects and ends in time, whatever the object does.',
    source: ['docs/rendezvous.md'],
  },
  'rendezvous.memory': {
    statement: 'Nothing of a wait in memory stays behind when it is over.',
    source: ['docs/rendezvous.md'],
  },
  'guarded.scopes': {
    statement:
      'Scopes hold for calls, reads, subscriptions, completions and methods of a server that knows none.',
    source: ['docs/bring-your-own.md'],
  },
  'guarded.hidden': {
    statement:
      'To a caller that the host does not name, a closed name and one that does not exist are answered alike.',
    source: ['docs/bring-your-own.md'],
  },
  'guarded.spelling': {
    statement: 'Where scopes are written for resources, no other spelling of a URI passes them.',
    source: ['docs/bring-your-own.md'],
  },
  'guarded.lists': {
    statement: 'Lists of a server that knows no scopes leave out what the caller may not use.',
    source: ['docs/bring-your-own.md'],
  },
  'guarded.anonymous': {
    statement:
      'Without a token a server that knows no scopes answers what tells nothing, and the declared subset.',
    source: ['docs/bring-your-own.md'],
  },
  'guarded.malformed': {
    statement: 'A message that names nothing is refused before a server that knows no scopes is made.',
    source: ['docs/bring-your-own.md'],
  },
  'guarded.config': {
    statement: 'Scopes that are none are a TypeError when they are written.',
    source: ['docs/bring-your-own.md'],
  },
  'listen.limit': {
    statement: 'Streams beyond maxListenStreams are refused with 503 until one ends.',
    source: ['docs/http.md'],
  },
  'listen.memory': {
    statement: 'Streams store their URIs once, and beyond maxListenCharacters the next is refused with 503.',
    source: ['docs/http.md'],
  },
  'log.line': {
    statement:
      'Each request is logged at most once, as one JSON object, when it is answered or its stream ends.',
    source: ['docs/http.md'],
  },
  'log.secrets': {
    statement: 'The log holds no arguments, results, tokens or query strings.',
    source: ['docs/http.md', `${LOGGING}#security`],
  },
  'log.sink': {
    statement: 'The log can be taken over or turned off.',
    source: ['docs/http.md'],
  },
  'faults.reported': {
    statement: 'An exception of user code is reported with its stack to the console and to onError.',
    source: ['docs/http.md'],
  },
  'faults.hidden': {
    statement: 'A fault of the server is -32603 without text or stack, and onError cannot change that.',
    source: [`${BASIC}#error-codes`],
  },
  'config.required': {
    statement: 'A configuration that cannot be served is a TypeError that names the option.',
    source: ['docs/http.md'],
  },
  'config.frozen': {
    statement: 'Once a request was served, registering more is a TypeError.',
    source: ['docs/tools.md'],
  },
  'ask.question': {
    statement:
      'A question without an answer ends the request with input_required; the answer reaches the tool.',
    source: [`${MRTR}#basic-workflow`],
  },
  'ask.together': {
    statement: 'Questions asked side by side go out in one round.',
    source: [`${MRTR}#inputrequests`],
  },
  'ask.rounds': {
    statement: 'Questions one after the other take a round each, and earlier answers come back.',
    source: [`${MRTR}#basic-workflow`],
  },
  'ask.refusals': {
    statement: 'decline and cancel are answers.',
    source: [`${ELICITATION}#response-actions`],
  },
  'ask.invalid': {
    statement:
      'An answer that is missing or does not fit is asked for again, at most three times; one to nothing is ignored.',
    source: [`${MRTR}#error-handling`],
  },
  'ask.reason': {
    statement:
      'A question that is asked again says in its message which field did not fit, and what was expected.',
    source: ['docs/asking.md'],
  },
  'ask.content': {
    statement:
      'An answer counts for the question it was given to, wherever that comes, and for no other content.',
    source: ['docs/asking.md'],
  },
  'ask.returned': {
    statement: 'A tool that returns its questions is asked as others are, in a session too.',
    source: [`${MRTR}#inputrequiredresult`],
  },
  'ask.state-alone': {
    statement: 'A tool may return a requestState without questions; a legacy client is not needed for that.',
    source: [`${MRTR}#server-requirements-basic-workflow`],
  },
  'ask.diverge': {
    statement: 'An answer to a question that has changed is dropped.',
    source: ['docs/asking.md'],
  },
  'ask.everywhere': {
    statement: 'Tools, prompts and resource reads can ask.',
    source: [`${MRTR}#supported-requests`],
  },
  'ask.silent': {
    statement: 'A suspended call enters no catch and no finally, and its signal aborts.',
    source: ['docs/asking.md'],
  },
  'ask.capability': {
    statement:
      'Only what the client declared is asked for; otherwise -32021 names all it lacks, and no catch swallows that.',
    source: [`${MRTR}#server-requirements-basic-workflow`],
  },
  'ask.step': {
    statement: 'A step runs once, however many rounds the call takes.',
    source: ['docs/asking.md'],
  },
  'ask.inside-step': {
    statement: 'A question inside a step is a typed error at once, which says to ask outside of it.',
    source: ['docs/asking.md'],
  },
  'ask.step-late': {
    statement: 'A step that begins after its call has ended by asking does not run.',
    source: ['docs/asking.md'],
  },
  'ask.memory': {
    statement: 'Nothing of a suspended call stays in memory.',
    source: ['docs/asking.md'],
  },
  'ask.no-secret': {
    statement:
      'Without a secret a first question works; what would have to be remembered fails and says what to set.',
    source: ['docs/asking.md'],
  },
  'ask.form': {
    statement: 'Forms hold what the specification allows, and anything else throws naming the field.',
    source: [`${ELICITATION}#requested-schema`],
  },
  'ask.sensitive': {
    statement: 'A form field that looks like a secret throws: secrets are asked for in URL mode.',
    source: [`${ELICITATION}#user-interaction-model`],
  },
  'state.refused': {
    statement:
      'A state that was changed, or made for something else, is refused with one -32602 before user code runs.',
    source: [`${MRTR}#server-requirements-basic-workflow`],
  },
  'state.bounds': {
    statement: 'A state expires, is bound to its principal, may be single-use, and is at most 32 KB.',
    source: [`${MRTR}#server-requirements-basic-workflow`],
  },
  'state.single-use': {
    statement: 'With a single-use store every round counts once, the first of a call as well.',
    source: [`${MRTR}#server-requirements-basic-workflow`],
  },
  'state.rotation': {
    statement: 'Of several secrets the first seals and all open.',
    source: ['docs/asking.md'],
  },
  'state.opaque': {
    statement: 'A state never opens after any change, and shows nothing of what it holds.',
    source: [`${MRTR}#security-considerations`],
  },
  'legacy.session-token': {
    statement:
      'Mcp-Session-Id holds what a legacy client declared; with a secret only a sealed one counts, others are ignored.',
    source: ['docs/glossary.md'],
  },
  'can.cancellation': {
    statement: 'Cancellation is promised where it reaches the call: not to legacy clients without a session.',
    source: ['docs/degradation.md'],
  },
  'legacy.explain': {
    statement: 'A legacy client that cannot be asked gets a typed explanation.',
    source: ['docs/degradation.md'],
  },
  'legacy.arguments': {
    statement: 'Under the policy `arguments` the model asks its user and calls again.',
    source: ['docs/asking.md'],
  },
  'legacy.rendezvous': {
    statement:
      'Under the policy `rendezvous` the client is asked on the stream, and its answer meets the call wherever it lands.',
    source: ['docs/rendezvous.md'],
  },
  'legacy.deadline': {
    statement: 'A client that never answers ends the call with a typed result.',
    source: ['docs/asking.md'],
  },
} satisfies Record<string, Requirement>
