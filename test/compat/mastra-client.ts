/**
 * The examples of Mastra's reference of `MCPClient` (`reference-tools-mcp-client.md` of `@mastra/mcp` 1.18.0 and 2.0.0), in its
 * order. Only the import is another one, addresses are parameters, and what is unknown to a compiler in the original
 * (`contents[0].text` of a union) is narrowed. Each is run by `mastra-client.test.ts`.
 */
import { MCPClient, type OAuthStorage } from '../../src/mastra-client.ts'

/** "Static Tool Configuration": the time of all servers, and a listener for logs. */
export function configure(stockPrice: URL, weather: URL, logged: (line: string) => void) {
  return new MCPClient({
    servers: {
      stockPrice: {
        url: stockPrice,
        log: (logMessage) => {
          logged(`[${logMessage.level}] ${logMessage.message}`)
        },
      },
      weather: {
        url: weather,
      },
    },
    timeout: 30000, // Global 30s timeout
  })
}

/** "Static Tool Configuration": its process, as it is started there. */
export function configureProcess(command: string, args: string[]) {
  return new MCPClient({
    servers: {
      stockPrice: {
        command,
        args,
        env: {
          API_KEY: 'your-api-key',
        },
      },
    },
  })
}

/** The same example: "using resource methods". */
export async function checkWeatherResource(mcp: MCPClient) {
  const weatherResources = await mcp.resources.list()
  if (weatherResources.weather && weatherResources.weather.length > 0) {
    const currentWeatherURI = weatherResources.weather[0]!.uri
    const weatherData = await mcp.resources.read('weather', currentWeatherURI)
    const [content] = weatherData.contents
    return content && 'text' in content ? content.text : undefined
  }
  return undefined
}

/** The same example: "using prompt methods". */
export async function checkWeatherPrompt(mcp: MCPClient) {
  const weatherPrompts = await mcp.prompts.list()
  if (weatherPrompts.weather && weatherPrompts.weather.length > 0) {
    return weatherPrompts.weather.find((p) => p.name === 'current')
  }
  return undefined
}

/** "Dynamic toolsets": one client a user, with the time and the headers of a server. */
export function configureForUser(weather: URL) {
  return new MCPClient({
    servers: {
      weather: {
        url: weather,
        timeout: 20000, // Server-specific timeout
        requestInit: {
          headers: {
            Authorization: `Bearer user-123-token`,
          },
        },
      },
    },
  })
}

/** "listToolsWithErrors()" */
export async function listWithErrors(mcp: MCPClient) {
  const { tools, errors, errorDetails, durations } = await mcp.listToolsWithErrors({
    perServerTimeoutMs: 3_000,
  })
  return { names: Object.keys(tools), errors, errorDetails, durations }
}

/** "listToolsetsWithErrors()" */
export async function listToolsetsWithErrors(mcp: MCPClient) {
  const { toolsets, errors, errorDetails, durations } = await mcp.listToolsetsWithErrors({
    perServerTimeoutMs: 3_000,
  })
  return { servers: Object.keys(toolsets), errors, errorDetails, durations }
}

/** "listToolDefinitions()", "toolFromDefinition()" and "toolsFromDefinitions()" */
export async function cacheDefinitions(mcp: MCPClient, cache: Map<string, string>) {
  const { definitions, errors } = await mcp.listToolDefinitionsWithErrors()
  if (Object.keys(errors).length === 0) {
    cache.set('mcp-tools', JSON.stringify(definitions))
  }
  const kept = JSON.parse(cache.get('mcp-tools')!)
  const tool = await mcp.toolFromDefinition({
    serverName: 'weather',
    definition: kept.weather.getForecast,
  })
  return { tool, tools: await mcp.toolsFromDefinitions({ definitions: kept }) }
}

/** "getServerInstructions()" */
export async function readInstructions(mcp: MCPClient) {
  await mcp.listTools()
  const instructionsByServer = mcp.getServerInstructions()
  return instructionsByServer.weather
}

/** "resources Property": each of its methods. */
export async function useResources(mcpClient: MCPClient, told: (line: string) => void) {
  const { resources } = await mcpClient.resources.listWithErrors({ perServerTimeoutMs: 3_000 })
  for (const serverName in resources) {
    told(`Resources from ${serverName}: ${resources[serverName]?.length}`)
  }
  const templatesByServer = await mcpClient.resources.templates()
  for (const serverName in templatesByServer) {
    told(`Templates from ${serverName}: ${templatesByServer[serverName]?.length}`)
  }
  mcpClient.resources.onUpdated('weather', (params) => {
    told(`Resource updated on myWeatherServer: ${params.uri}`)
  })
  await mcpClient.resources.subscribe('weather', 'weather://current')
  await mcpClient.resources.unsubscribe('weather', 'weather://current')
  mcpClient.resources.onListChanged('weather', () => {
    told('Resource list changed on myWeatherServer.')
  })
}

/** "list()" of resources, templates and prompts: any name may be read, also where the compiler knows the servers. */
export async function listByServer(weather: URL) {
  const mcpClient = new MCPClient({ id: 'by-server', servers: { weather: { url: weather } } })
  const lines: string[] = []
  const resourcesByServer = await mcpClient.resources.list()
  for (const serverName in resourcesByServer) {
    lines.push(`Resources from ${serverName}: ${resourcesByServer[serverName]!.length}`)
  }
  const templatesByServer = await mcpClient.resources.templates()
  for (const serverName in templatesByServer) {
    lines.push(`Templates from ${serverName}: ${templatesByServer[serverName]!.length}`)
  }
  const promptsByServer = await mcpClient.prompts.list()
  for (const serverName in promptsByServer) {
    for (const prompt of promptsByServer[serverName]!) lines.push(`Prompt ${prompt.name}`)
  }
  const toolsets = await mcpClient.listToolsets()
  for (const serverName in toolsets) lines.push(...Object.keys(toolsets[serverName]!))
  await mcpClient.disconnect()
  return lines
}

/** "elicitation.onRequest": the schema decides what is answered. */
export async function answerQuestions(mcpClient: MCPClient) {
  await mcpClient.elicitation.onRequest('weather', async (request) => {
    if (!('requestedSchema' in request)) return { action: 'decline' }
    const { properties, required = [] } = request.requestedSchema
    const content: Record<string, string> = {}
    for (const [fieldName, fieldSchema] of Object.entries(properties || {})) {
      if (required.includes(fieldName)) content[fieldName] = `${fieldSchema.title ?? fieldName}!`
    }
    return { action: 'accept', content }
  })
}

/** "prompts Property" */
export async function usePrompts(mcpClient: MCPClient) {
  const { messages } = await mcpClient.prompts.get({
    serverName: 'weather',
    name: 'current',
    args: { location: 'London' },
  })
  mcpClient.prompts.onListChanged('weather', () => {})
  await mcpClient.tools.onListChanged('weather', async () => {})
  return messages
}

/** "progress Property": with a `runId`, and switched off for a server. */
export async function followProgress(on: URL, off: URL, told: (line: string) => void) {
  const mcpClient = new MCPClient({
    servers: {
      myServer: {
        url: on,
        // Enabled by default; set to false to disable
        enableProgressTracking: true,
      },
      quietServer: {
        url: off,
        enableProgressTracking: false,
      },
    },
  })
  for (const server of ['myServer', 'quietServer'] as const) {
    await mcpClient.progress.onUpdate(server, (params) => {
      told(`${params.progress} / ${params.total}`)
      if (params.message) told(`Message: ${params.message}`)
      if (params.progressToken) told(`Token: ${params.progressToken}`)
    })
  }
  const tools = await mcpClient.listTools()
  await tools.myServer_getForecast!.execute({}, { runId: 'run-1' })
  await tools.quietServer_getForecast!.execute({}, { runId: 'run-2' })
  await mcpClient.disconnect()
}

/** "Custom Token Storage": what implements Mastra's `OAuthStorage` fits `createOAuthProvider`. */
export class DatabaseOAuthStorage implements OAuthStorage {
  readonly #rows = new Map<string, string>()
  readonly #userId: string

  constructor(userId: string) {
    this.#userId = userId
  }

  async set(key: string, value: string): Promise<void> {
    this.#rows.set(`${this.#userId}:${key}`, value)
  }

  async get(key: string): Promise<string | undefined> {
    return this.#rows.get(`${this.#userId}:${key}`)
  }

  async delete(key: string): Promise<void> {
    this.#rows.delete(`${this.#userId}:${key}`)
  }
}

/** "Handling auth failures inside custom fetch" and "Using SSE request headers", option 2. */
export function configureFetch(url: URL, waitForToken: () => Promise<string | null>) {
  return new MCPClient({
    servers: {
      weather: {
        url,
        fetch: async (url, init) => {
          const method = (init?.method || 'GET').toUpperCase()
          if (method === 'GET') {
            return new Response(null, { status: 405, statusText: 'Method Not Allowed' })
          }
          const token = await waitForToken()
          if (!token) {
            return fetch(url, init)
          }
          const headers = new Headers(init?.headers)
          headers.set('authorization', `Bearer ${token}`)
          return fetch(url, { ...init, headers })
        },
      },
    },
  })
}

/** A `fetch` that spreads the headers, as those of plain objects. */
export function configureSpreadingFetch(url: URL, token: string) {
  return new MCPClient({
    id: 'spreading',
    servers: {
      weather: {
        url,
        fetch: async (url, init) => {
          return fetch(url, { ...init, headers: { ...init?.headers, Authorization: `Bearer ${token}` } })
        },
      },
    },
  })
}

/** The examples of what is not taken over. Each throws a TypeError that names what to write instead. */
export const REFUSED: readonly [example: string, server: object, remedy: string][] = [
  ['Require approval for all tools', { requireToolApproval: true }, 'mcp.annotations'],
  ['Dynamic approval with a function', { requireToolApproval: () => true }, 'before you call execute()'],
  ['Edge runtime schema validation', { jsonSchemaValidator: {} }, 'does not compile schemas'],
  ['Server instructions', { forwardInstructions: true }, 'getServerInstructions()'],
  ['Restricting outbound hosts', { allowedHosts: ['api.example.com'] }, 'a fetch that refuses'],
  [
    'Using custom fetch for dynamic authentication',
    { fetch: async (url: string, _init: object, _requestContext: object) => fetch(url) },
    'let fetch use the data of that request',
  ],
  ['Using SSE request headers, option 1', { eventSourceInit: { fetch } }, 'over HTTP+SSE as well'],
]
