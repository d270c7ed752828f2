/** The options of servers, and of what they are made of. */
import {
  createMemoryBus,
  createMemoryRateLimiter,
  createPrompt,
  createResource,
  createTool,
  jsonSchema,
  MCPServer,
  type MCPServerConfig,
} from 'mayfly-mcp'
import { createEventAdmin, createEventEndpoint } from 'mayfly-mcp/events-admin'
import { createMethod, extension } from 'mayfly-mcp/extensions'
import { fromNode } from 'mayfly-mcp/from-node'
import { apiKeys, createKeyAdmin, createMemoryKeyStore } from 'mayfly-mcp/keys'
import {
  createIntrospectionValidator,
  createTool as createMastraTool,
  createOAuthMiddleware,
  MCPServer as MastraServer,
  oauth,
  startHonoSSE,
  startSSE,
} from 'mayfly-mcp/mastra'
import { createEvent, createMemoryEvents, type EventsOptions, events } from 'mayfly-mcp/mcp-events'
import { MCPServer as McpUseServer } from 'mayfly-mcp/mcp-use'
import { openTelemetry } from 'mayfly-mcp/otel'
import { fromSdk } from 'mayfly-mcp/sdk'
import { createTool as createSdkTool, MCPServer as SdkServer } from 'mayfly-mcp/sdk-context'
import { withServerCard } from 'mayfly-mcp/server-card'
import { createMemorySubscriptions } from 'mayfly-mcp/subscriptions'
import {
  createMemoryTaskStore,
  createMemoryTasks,
  createTaskEndpoint,
  createTasks,
  pollingRunner,
} from 'mayfly-mcp/tasks'
import { createTaskAdmin } from 'mayfly-mcp/tasks-admin'
import { connect } from 'mayfly-mcp/testing'
import { createEventWebhook, eventsHandler } from 'mayfly-mcp/webhook'
import { secretOf } from '../../_secrets.ts'
import { GATE } from './_auth.ts'
import { ANSWERS } from './_clients.ts'
import type { Taker, Takers } from './_walk.ts'

const META = 'open by protocol: `_meta` takes any key'
const ICONS = 'wire form of MCP: sent as it is'
const SECRET = 'a-secret-of-at-least-thirty-two-characters'

const TOOL = {
  id: 'one',
  description: 'One',
  scopes: ['shop'],
  enabled: true,
  mcp: {
    annotations: { readOnlyHint: true },
    icons: [{ src: 'https://shop.example/a.png' }],
    _meta: { a: 1 },
  },
  execute: () => '',
}
const PROMPT = {
  description: 'Review',
  scopes: ['shop'],
  complete: { code: () => [] },
  icons: [{ src: 'https://shop.example/a.png' }],
  _meta: { a: 1 },
  get: () => '',
}
const RESOURCE = {
  uri: 'docs://a',
  name: 'a',
  scopes: ['shop'],
  annotations: { priority: 1 },
  icons: [{ src: 'https://shop.example/a.png' }],
  _meta: { a: 1 },
  read: () => '',
}
const TEMPLATE = { uriTemplate: 'docs://{id}', complete: { id: () => [] }, scopes: ['shop'], read: () => '' }
const HOSTING = {
  http: { allowedHosts: ['shop.example'], maxBodyBytes: 1000 },
  audit: { record() {}, arguments: () => ({}) },
  log: false,
  auth: 'host',
  onError() {},
}
const SERVER = {
  ...HOSTING,
  id: 'shop',
  name: 'Shop',
  version: '1.0.0',
  icons: [{ src: 'https://shop.example/a.png' }],
  cache: { ttlMs: 1000, scope: 'private' },
  tools: { one: TOOL },
  agents: { helper: { description: 'Helps', generate: async () => '' } },
  workflows: { flow: { description: 'Flows', createRun: () => ({ start: async () => '' }) } },
  prompts: { review: PROMPT },
  resources: { a: RESOURCE },
}
const item = (path: string, extra: object = {}) => ({
  [`${path}.icons`]: ICONS,
  [`${path}._meta`]: META,
  ...extra,
})
const OPEN = {
  icons: ICONS,
  tools: 'the names of tools',
  agents: 'the names of agents',
  'agents.helper': 'an agent of a framework, with its own members',
  workflows: 'the names of workflows',
  'workflows.flow': 'a workflow of a framework, with its own members',
  prompts: 'the names of prompts',
  'prompts.review.complete': 'the names of arguments',
  resources: 'the names of resources',
  'resources.a.annotations': ICONS,
  ...item('tools.one.mcp'),
  ...item('prompts.review'),
  ...item('resources.a'),
}
const MISSPELT = { 'tools.one': 'requiredScopes', 'tools.one.mcp.annotations': 'readonlyHints' }
const server = (call: (options: never) => unknown): Taker => ({
  call,
  options: SERVER,
  open: OPEN,
  misspelt: MISSPELT,
})
const tool = (call: (options: never) => unknown): Taker => ({
  call,
  options: TOOL,
  open: item('mcp'),
  misspelt: { 'mcp.annotations': 'destructiveHnt' },
})
const made = (extra: Partial<MCPServerConfig> = {}) =>
  new MCPServer({
    id: 'shop',
    name: 'Shop',
    version: '1.0.0',
    description: 'A shop',
    auth: 'host',
    log: false,
    ...extra,
  })
const BASE = { id: 'shop', name: 'Shop', version: '1.0.0', auth: 'host' as const }
const GUARDED = {
  tools: { one: ['shop'] },
  prompts: { review: ['shop'] },
  resources: { 'docs://a': ['shop'] },
  methods: { 'shop/own': ['shop'] },
}
const NAMES = {
  'scopes.tools': 'the names of tools',
  'scopes.prompts': 'the names of prompts',
  'scopes.resources': 'URIs and URI templates',
  'scopes.methods': 'the names of methods',
}
const OAUTH = {
  resource: 'https://shop.example/mcp',
  authorizationServers: ['https://login.example'],
  scopesSupported: ['shop'],
  resourceName: 'Shop',
  validateToken: async () => ({ valid: false }),
}
const TASKS = {
  ttlMs: 1000,
  pollIntervalMs: 1000,
  maxOpenTasks: 1,
  maxIdleRuns: 1,
  maxRunMs: 2000,
  leaseMs: 1000,
}

export const SERVERS: {
  readonly [entry: string]: Takers
} = {
  'mayfly-mcp': {
    DEGRADED_META: 'a string',
    ErrorCode: 'an object',
    ProtocolError: 'an error in wire form',
    NonRetryableError: 'an error: a message',
    UserError: 'an error: a message',
    QuestionError: 'an error: a code and a message',
    TaskNeededError: 'an error: a message',
    createMemoryBus: 'takes nothing',
    createMemoryRendezvous: 'takes nothing',
    jsonSchema: 'takes a JSON Schema, whose dialect is open',
    MCPServer: [
      server((options) => new MCPServer(options)),
      {
        call: (options) => new MCPServer({ ...BASE, resources: options }),
        options: { listResources: () => [], getResourceContent: () => '', resourceTemplates: () => [] },
        misspelt: { '': 'canSubscribed' },
      },
      {
        call: (options) => new MCPServer({ ...BASE, prompts: options }),
        options: { listPrompts: () => [], getPromptMessages: () => '', complete: { review: {} } },
        misspelt: { '': 'scopes' },
        open: { complete: 'the names of prompts', 'complete.review': 'the names of arguments' },
      },
      {
        call: (options) =>
          new MCPServer({ ...BASE, tasks: createMemoryTasks(), tools: { one: { ...TOOL, task: options } } }),
        options: {
          mode: 'auto',
          afterMs: 1,
          waitMs: 1,
          ttlMs: 1000,
          pollIntervalMs: 1000,
          version: 1,
          fallback: 'wait',
        },
      },
    ],
    createMemoryRateLimiter: {
      call: createMemoryRateLimiter,
      options: { calls: 1, windowMs: 1000, maxKeys: 10 },
    },
    createPrompt: {
      call: createPrompt,
      options: PROMPT,
      open: { complete: 'the names of arguments', icons: ICONS, _meta: META },
    },
    createResource: [
      {
        call: createResource,
        options: RESOURCE,
        open: { annotations: ICONS, icons: ICONS, _meta: META },
      },
      { call: createResource, options: TEMPLATE, open: { complete: 'the names of variables' } },
    ],
    createTool: tool(createTool),
  },
  'methods of MCPServer': {
    registerTool: {
      call: (options) => made().registerTool('two', options, () => ''),
      options: { description: 'Two', annotations: { readOnlyHint: true }, _meta: { a: 1 }, scopes: ['shop'] },
      open: { _meta: META },
      misspelt: { annotations: 'readOnlyHnt' },
    },
    'registerTool in setup': {
      call: (options) => inSetup((request) => request.registerTool('two', options, () => '')),
      options: { description: 'Two', scopes: ['shop'] },
    },
    'handle.update': {
      call: (options) =>
        made()
          .registerTool('two', {}, () => '')
          .update(options),
      options: { description: 'Two', annotations: { readOnlyHint: true }, scopes: ['shop'] },
      misspelt: { annotations: 'readOnlyHnt' },
    },
    'handle.update in setup': {
      call: (options) => inSetup((request) => request.tool('one').update(options)),
      options: { scopes: ['shop'] },
    },
    registerResource: {
      call: (options) => made().registerResource(options),
      options: TEMPLATE,
      open: { complete: 'the names of variables' },
    },
    registerPrompt: {
      call: (options) => made().registerPrompt('two', options),
      options: { description: 'Two', scopes: ['shop'], get: () => '' },
    },
    'tasks.runDue': {
      call: (options) => made({ tasks: createMemoryTasks() }).tasks.runDue(options),
      options: { limit: 1, env: {}, deadline: 1, waitUntil() {} },
      open: { env: 'the platform’s bindings' },
    },
    'ctx.elicit': {
      call: (options) =>
        createTool({
          id: 'ask',
          execute: async (_input, ctx) => ctx.elicit('Go on?', 'ftp://a', options),
        }).execute(),
      options: { notSecret: ['a'], legacy: 'explain', key: 'a' },
    },
  },
  'mayfly-mcp/sdk': {
    fromSdk: {
      call: (options) => fromSdk(() => ({}) as never, options),
      options: { ...HOSTING, scopes: GUARDED, handler: { a: 1 } },
      open: { ...NAMES, handler: 'passed to createMcpHandler of the SDK' },
    },
  },
  'mayfly-mcp/from-node': {
    fromNode: {
      call: (options) => fromNode(() => {}, options),
      options: { ...HOSTING, scopes: GUARDED, mcpPath: '/mcp' },
      open: NAMES,
    },
  },
  'mayfly-mcp/sdk-context': {
    MCPServer: server((options) => new SdkServer(options)),
    createTool: tool(createSdkTool),
  },
  'mayfly-mcp/mcp-use': {
    MCPServer: [
      server((options) => new McpUseServer(options)),
      {
        call: (options) => new McpUseServer(BASE).tool(options as { name: string }, () => ''),
        options: { name: 'a', annotations: { title: 'A' } },
        misspelt: { annotations: 'readOnlyHnt' },
      },
    ],
    error: 'a text',
    object: 'any object',
    text: 'a text',
    ...ANSWERS,
  },
  'mayfly-mcp/mastra': {
    MCPServer: [
      server((options) => new MastraServer(options)),
      {
        call: (options) => new MastraServer({ ...BASE, ...(options as object) }),
        options: { repository: { url: 'https://shop.example' }, packages: [{ a: 1 }], remotes: [{ a: 1 }] },
        open: { packages: 'entries of Mastra’s, passed on', remotes: 'entries of Mastra’s, passed on' },
      },
      {
        call: (options) => new MastraServer({ ...BASE, resources: options }),
        options: { listResources: () => [], getResourceContent: () => '', resourceTemplates: () => [] },
        misspelt: { '': 'canSubscribed' },
      },
      {
        call: (options) => new MastraServer({ ...BASE, prompts: options }),
        options: { listPrompts: () => [], getPromptMessages: () => '' },
        misspelt: { '': 'scopes' },
      },
    ],
    createTool: tool(createMastraTool),
    createIntrospectionValidator: {
      call: (options) => createIntrospectionValidator('https://login.example/i', options),
      options: { clientId: 'shop', clientSecret: 's' },
    },
    createStaticTokenValidator: 'takes a list of tokens',
    createOAuthMiddleware: {
      call: createOAuthMiddleware,
      options: { oauth: OAUTH, mcpPath: '/mcp', openPaths: [] },
    },
    oauth: { call: oauth, options: OAUTH },
    startSSE: {
      call: startSSE,
      options: { server: made(), url: new URL('http://a'), ssePath: '/sse', messagePath: '/m' },
      onlyRefusals: true,
    },
    startHonoSSE: {
      call: startHonoSSE,
      options: { server: made(), url: new URL('http://a'), ssePath: '/sse', messagePath: '/m' },
      onlyRefusals: true,
    },
  },
  'mayfly-mcp/keys': {
    apiKeys: {
      call: (options) => apiKeys({ store: createMemoryKeyStore(), ...(options as object) }),
      options: { ...GATE, server: 'shop', header: 'x-api-key', cacheMs: 1000 },
    },
    createKeyAdmin: [
      {
        call: (options) => createKeyAdmin(createMemoryKeyStore(), options),
        options: { server: 'shop', stage: 'staging' },
      },
      {
        call: (options) => createKeyAdmin(createMemoryKeyStore(), { server: 'test' }).create(options),
        options: { name: 'ci', owner: 'ann', scopes: ['shop'], expiresAt: 9e15 },
      },
      {
        call: (options) => createKeyAdmin(createMemoryKeyStore(), { server: 'test' }).list(options),
        options: { limit: 10, after: 'a' },
      },
    ],
    createMemoryKeyStore: 'takes nothing',
    environmentKeyStore: 'takes the environment',
  },
  'mayfly-mcp/otel': { openTelemetry: { call: openTelemetry, options: {} } },
  'mayfly-mcp/extensions': {
    createMethod: [
      {
        call: createMethod,
        options: {
          paramsSchema: jsonSchema({ type: 'object' }),
          resultSchema: jsonSchema({ type: 'object' }),
          scopes: ['read'],
          nameHeader: 'id',
          declaration: 'optional',
          eras: ['modern'],
          cache: 'shared',
          execute: () => ({}),
        },
        open: {
          paramsSchema: 'a schema',
          'paramsSchema.~standard': 'a schema',
          'paramsSchema.~standard.jsonSchema': 'a schema',
          resultSchema: 'a schema',
          'resultSchema.~standard': 'a schema',
          'resultSchema.~standard.jsonSchema': 'a schema',
        },
      },
      { call: createMethod, options: { stream: async function* () {} } },
    ],
    extension: {
      call: extension,
      options: {
        id: 'com.example/own',
        settings: {},
        alsoDeclaredAs: 'own',
        eras: ['modern'],
        declaration: 'optional',
        methods: {},
        notifications: ['notifications/own/changed'],
        changes: {},
        tools: {},
        name: 'own',
        api: {},
        serve: () => undefined,
        faultIn: () => undefined,
        attach: () => {},
        close: () => {},
      },
      open: {
        settings: 'declared as it is',
        methods: 'by names of methods',
        changes: 'by names of changes',
        tools: 'by names of tools',
        api: 'the API of the extension',
      },
    },
  },
  'mayfly-mcp/tasks': {
    CodeChangedError: 'an error: what does not fit',
    createMemoryTaskStore: 'takes nothing',
    createMemoryTasks: { call: createMemoryTasks, options: TASKS },
    createTasks: {
      call: (options) => createTasks({ store: createMemoryTaskStore(), ...(options as object) }),
      options: TASKS,
    },
    createTaskEndpoint: {
      call: (options) => createTaskEndpoint({ server: made(), secret: SECRET, ...(options as object) }),
      options: { url: 'https://shop.example/tasks', limit: 1, maxDurationMs: 3000, maxBodyBytes: 1000 },
    },
    pollingRunner: { call: pollingRunner, options: { everyMs: 1000, limit: 1 } },
  },
  'mayfly-mcp/tasks-admin': {
    TaskAdminError: 'an error: a code and a message',
    createTaskAdmin: { call: createTaskAdmin, options: { secret: SECRET } },
  },
  'mayfly-mcp/events-admin': {
    EventAdminError: 'an error: a code and a message',
    createEventAdmin: { call: createEventAdmin, options: { secret: SECRET } },
    createEventEndpoint: {
      call: (options) => createEventEndpoint({ server: made(), secret: SECRET, ...(options as object) }),
      options: { maxDurationMs: 3000 },
    },
  },
  'mayfly-mcp/mcp-events': {
    createMemoryEvents: 'takes nothing',
    createEvent: {
      call: createEvent,
      options: {
        id: 'note.created',
        description: 'A new note',
        inputSchema: jsonSchema({ type: 'object' }),
        payloadSchema: jsonSchema({ type: 'object' }),
        scopes: ['read'],
        index: ['tag'],
        matches: () => true,
        canSubscribe: () => true,
        modes: ['webhook'],
        _meta: {},
      },
      open: {
        inputSchema: 'a schema',
        'inputSchema.~standard': 'a schema',
        'inputSchema.~standard.jsonSchema': 'a schema',
        payloadSchema: 'a schema',
        'payloadSchema.~standard': 'a schema',
        'payloadSchema.~standard.jsonSchema': 'a schema',
        _meta: 'sent as it is',
      },
    },
    events: {
      call: (options) =>
        events({ store: createMemoryEvents(), types: {}, ...(options as object) } as EventsOptions),
      options: {
        types: { note: createEvent({ id: 'note.created', description: 'A new note' }) },
        deliver: { post: async () => ({ status: 200 }) },
        runner: { wake: () => {} },
        allowedOrigins: ['https://chatgpt.com'],
        allowLoopback: false,
        ttlMs: 1000,
        minTtlMs: 1000,
        maxTtlMs: 1000,
        allowNoExpiry: false,
        maxSubscriptions: 1,
        maxTotalSubscriptions: 1,
        retentionMs: 1000,
        maxEvents: 1,
        pollIntervalMs: 1000,
        streamIntervalMs: 1000,
        deliveryTimeoutMs: 1000,
        suspendAfterMs: 1000,
        concurrency: 1,
        maxPerHost: 1,
      },
      open: {
        types: 'by any key',
        'types.note': 'made by createEvent',
        deliver: 'the code of a user',
        runner: 'the code of a user',
      },
    },
  },
  'mayfly-mcp/webhook': {
    createEventWebhook: {
      call: (options) =>
        createEventWebhook({
          bus: createMemoryBus(),
          secret: `whsec_${btoa(secretOf('x'))}`,
          ...(options as object),
        }),
      options: { toleranceSeconds: 300, maxBodyBytes: 1000, onError() {} },
    },
    eventsHandler: {
      call: (options) =>
        eventsHandler({ secret: `whsec_${btoa(secretOf('x'))}`, onEvent: () => {}, ...(options as object) }),
      options: { toleranceSeconds: 300, maxBodyBytes: 1000, timeoutMs: 1000, rememberMs: 1000, onError() {} },
    },
  },
  'mayfly-mcp/subscriptions': {
    createMemorySubscriptions: {
      call: createMemorySubscriptions,
      options: { ttlMs: 1000, maxCharacters: 1000 },
    },
    createSubscriptions: 'takes a store that the user implements',
  },
  'mayfly-mcp/server-card': {
    withServerCard: {
      call: (options) => withServerCard(made(), options),
      options: { url: 'https://shop.example/mcp', name: 'example.shop/shop', description: 'A shop' },
    },
  },
  'mayfly-mcp/testing': {
    TestingError: 'an error: a code and a message',
    accept: 'takes the content of a form, whose names are the form’s',
    acceptWithDefaults: 'takes a schema and the content of a form',
    applyDefaults: 'takes a schema and the content of a form',
    cancel: 'takes nothing',
    connect: {
      call: async (options) => (await connect(made(), options)).close(),
      options: { era: 'modern', capabilities: {}, env: {}, headers: { a: 'b' }, url: 'http://localhost/mcp' },
      open: {
        capabilities: 'wire form of MCP',
        env: 'the platform’s bindings',
        headers: 'the names of headers',
      },
    },
    decline: 'takes nothing',
    getDefaults: 'takes a schema',
    reject: 'takes nothing',
    validate: 'takes a schema and the content of a form',
  },
}

/** Runs `change` in `setup` of a request; its error is that of the call. */
async function inSetup(change: (request: Parameters<NonNullable<MCPServerConfig['setup']>>[0]) => unknown) {
  let thrown: unknown
  const server = made({
    tools: { one: TOOL },
    setup: (request) => {
      try {
        change(request)
      } catch (error) {
        thrown = error
      }
    },
  })
  await using _client = await connect(server)
  if (thrown !== undefined) throw thrown
}
