/** The options of clients, and of their methods. */
import { createMemoryOAuthStorage, createOAuthProvider, MCPClient } from 'mayfly-mcp/client'
import { gateway } from 'mayfly-mcp/gateway'
import { MCPClient as MastraClient } from 'mayfly-mcp/mastra-client'
import { MCPClient as McpUseClient } from 'mayfly-mcp/mcp-use-client'
import { createStdioTransport } from 'mayfly-mcp/stdio-client'
import type { Taker, Takers } from './_walk.ts'

const URL_OF_NOBODY = 'http://127.0.0.1:1/mcp'
const ANY = { timeoutMs: 50, log() {}, logLevel: 'info', onToolError: 'throw', tasks: true, maxTaskMs: 50 }
const CONFIG = {
  timeoutMs: 50,
  maxResponseBytes: 1000,
  clientInfo: { name: 'a', version: '1' },
  onError() {},
  servers: {
    http: { url: URL_OF_NOBODY, token: 't', headers: { a: 'b' }, requestInit: { cache: 'no-store' }, ...ANY },
    stdio: { command: 'node', args: [], env: { A: 'b' }, cwd: '/', stderr: 'ignore', ...ANY },
    own: { transport: () => {}, ...ANY },
  },
}
const OPEN = {
  servers: 'the names of servers',
  'servers.http.headers': 'the names of headers',
  'servers.http.requestInit': 'passed to fetch',
  'servers.stdio.env': 'the names of variables',
}
const REQUEST = { timeoutMs: 20 }
const WAIT = { ...REQUEST, maxTaskMs: 20, onTask() {} }
const DEFINITION = { name: 'a', inputSchema: { type: 'object' } }

type Client = InstanceType<typeof MCPClient>
let made = 0

/** Every request fails since nobody listens: only an unknown setting is a TypeError. */
async function ask<Asked extends { disconnect(): Promise<void> }>(
  client: Asked,
  run: (client: Asked) => unknown,
): Promise<void> {
  try {
    await run(client)
  } catch (error) {
    if (error instanceof TypeError) throw error
  } finally {
    await client.disconnect()
  }
}

function askMastra(run: (client: InstanceType<typeof MastraClient>) => unknown): Promise<void> {
  const servers = { a: { url: URL_OF_NOBODY, timeout: 50 } }
  return ask(new MastraClient({ id: `mastra-${made++}`, servers, onError() {} }), run)
}

function method(
  run: (client: Client, options: never) => unknown,
  options: object,
  more: Partial<Taker> = {},
) {
  const call = (given: never): Promise<void> => {
    const servers = { http: { url: URL_OF_NOBODY, timeoutMs: 50 } }
    return ask(new MCPClient({ id: `options-${made++}`, servers, onError() {} }), (client) =>
      run(client, given),
    )
  }
  return { call, options, ...more }
}
const listing = (run: (client: Client, options: never) => unknown) => method(run, { perServerTimeoutMs: 20 })

const client = (Client: typeof MCPClient | typeof MastraClient): Taker => ({
  call: async (options) => {
    await new Client(options).disconnect()
  },
  options: CONFIG,
  open: OPEN,
})

const cancelled = () => ({ action: 'cancel' as const })

/** The client's side of a question in mcp-use's entry points. */
export const ANSWERS: { readonly [name: string]: string } = {
  accept: 'the content of a form is up to the form',
  acceptWithDefaults: 'the parameters of a question, in wire form',
  applyDefaults: 'the parameters of a question, in wire form',
  cancel: 'takes nothing',
  decline: 'a reason',
  getDefaults: 'the parameters of a question, in wire form',
  reject: 'a reason',
  validate: 'the parameters of a question, in wire form',
}

export const CLIENTS: {
  readonly [entry: string]: Takers
} = {
  'mayfly-mcp/client': {
    MCPClient: client(MCPClient),
    MCPClientError: 'an error: a code, a message and details',
    createMemoryOAuthStorage: 'takes nothing',
    createOAuthProvider: {
      call: (options) =>
        createOAuthProvider({
          storage: createMemoryOAuthStorage(),
          ...(options as { onRedirect(): void; redirectUrl: string }),
        }),
      options: {
        redirectUrl: 'https://agent.example/callback',
        onRedirect() {},
        prefix: 'mcp',
        clientMetadata: { client_name: 'a' },
        clientInformation: { client_id: 'a', client_secret: 's', issuer: 'https://login.example' },
      },
      open: { clientMetadata: 'open by RFC 7591 §2' },
    },
  },
  'mayfly-mcp/gateway': {
    gateway: {
      call: gateway,
      options: {
        ttlMs: 1000,
        maxCallers: 1,
        servers: {
          http: {
            url: URL_OF_NOBODY,
            token: 't',
            headers: { a: 'b' },
            requestInit: {},
            scopes: ['a'],
            prefix: 'a_',
          },
          stdio: { command: 'node', args: [], env: { A: 'b' }, rerun: true },
          own: { transport: () => {}, include: () => true },
        },
      },
      open: OPEN,
    },
  },
  'mayfly-mcp/mastra-client': {
    MCPClient: [
      client(MastraClient),
      {
        call: (options) => askMastra((mastra) => mastra.resources.read(options)),
        options: { serverName: 'a', uri: 'docs://a' },
      },
      {
        call: (options) => askMastra((mastra) => mastra.prompts.get(options)),
        options: { serverName: 'a', name: 'b', args: { c: 'd' } },
        open: { args: 'the names of arguments' },
      },
    ],
    MCPClientError: 'as in mayfly-mcp/client',
    MCPOAuthClientProvider: 'always throws',
    createMemoryOAuthStorage: 'takes nothing',
    createOAuthProvider: 'as in mayfly-mcp/client',
    createSimpleTokenProvider: 'always throws',
  },
  'mayfly-mcp/mcp-use-client': {
    MCPClient: [
      {
        call: (options) => new McpUseClient(options),
        options: {
          mcpServers: {
            http: { url: URL_OF_NOBODY, authToken: 't', onElicitation: cancelled },
            stdio: { command: 'node', args: [], elicitationCallback: cancelled },
          },
        },
        open: { mcpServers: 'the names of servers' },
      },
      {
        call: (options) => new McpUseClient({ mcpServers: {} }, options),
        options: { onElicitation: cancelled },
      },
    ],
    MCPClientError: 'as in mayfly-mcp/client',
    ...ANSWERS,
  },
  'methods of MCPClient': {
    callTool: method((to, options) => to.callTool('http', 'a', {}, options), WAIT),
    'prompts.get': method((to, options) => to.prompts.get('http', 'a', {}, options), {
      ...REQUEST,
      version: '1',
    }),
    'resources.read': method((to, options) => to.resources.read('http', 'docs://a', options), REQUEST),
    'tasks.get': method((to, options) => to.tasks.get('http', 'a', options), REQUEST),
    'tasks.update': method((to, options) => to.tasks.update('http', 'a', {}, options), REQUEST),
    'tasks.cancel': method((to, options) => to.tasks.cancel('http', 'a', options), REQUEST),
    'tasks.wait': method((to, options) => to.tasks.wait('http', 'a', options), WAIT),
    listToolsWithErrors: listing((to, options) => to.listToolsWithErrors(options)),
    listToolsetsWithErrors: listing((to, options) => to.listToolsetsWithErrors(options)),
    listToolDefinitionsWithErrors: listing((to, options) => to.listToolDefinitionsWithErrors(options)),
    'resources.listWithErrors': listing((to, options) => to.resources.listWithErrors(options)),
    'resources.templatesWithErrors': listing((to, options) => to.resources.templatesWithErrors(options)),
    'prompts.listWithErrors': listing((to, options) => to.prompts.listWithErrors(options)),
    toolFromDefinition: method(
      (to, options) => to.toolFromDefinition(options),
      { serverName: 'http', definition: DEFINITION },
      {
        open: {
          definition: 'the wire form of a tool',
          'definition.inputSchema': 'a JSON Schema',
        },
      },
    ),
    toolsFromDefinitions: method(
      (to, options) => to.toolsFromDefinitions(options),
      { definitions: { http: {} } },
      { open: { definitions: 'the names of servers', 'definitions.http': 'the names of tools' } },
    ),
  },
  'mayfly-mcp/stdio-client': {
    createStdioTransport: {
      call: createStdioTransport,
      options: { command: 'node', args: [], env: { A: 'b' }, cwd: '/', stderr: 'ignore', maxLineBytes: 1000 },
      open: { env: 'the names of variables' },
    },
  },
}
