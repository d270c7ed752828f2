/** The fixture on the official SDK v2, fresh per request as its `createMcpHandler` does it. */
import {
  completable,
  createMcpHandler,
  McpServer,
  ResourceTemplate,
  type ServerContext,
} from '@modelcontextprotocol/server'
import {
  type FixtureTool,
  INSTRUCTIONS,
  PROMPTS,
  promptSchema,
  RESOURCES,
  SERVER_INFO,
  startingWith,
  TOOLS,
} from './fixture.ts'
import type { Peer } from './peer.ts'

export function createSdkPeer(): Peer {
  const handler = createMcpHandler(createServer)
  const { notify } = handler
  return {
    name: 'SDK v2',
    fetch: (request) => handler.fetch(request),
    publish: {
      toolsListChanged: () => notify.toolsChanged(),
      promptsListChanged: () => notify.promptsChanged(),
      resourcesListChanged: () => notify.resourcesChanged(),
      resourceUpdated: (uri) => notify.resourceUpdated(uri),
    },
  }
}

function createServer(): McpServer {
  const server = new McpServer(SERVER_INFO, {
    instructions: INSTRUCTIONS,
    capabilities: { logging: {}, resources: { subscribe: true, listChanged: true } },
  })
  // The SDK leaves subscribing to the author, and a stateless server can only acknowledge it.
  server.server.setRequestHandler('resources/subscribe', () => ({}))
  server.server.setRequestHandler('resources/unsubscribe', () => ({}))
  for (const tool of TOOLS) addTool(server, tool)
  for (const { name, uri, uriTemplate, values = {}, read, ...metadata } of RESOURCES) {
    if (uri === undefined) {
      const complete = Object.fromEntries(
        Object.entries(values).map(([variable, known]) => [variable, startingWith(known)]),
      )
      const template = new ResourceTemplate(uriTemplate!, { list: undefined, complete })
      server.registerResource(name, template, metadata, (url, variables) => ({
        contents: read(url.href, variables as Record<string, string>),
      }))
    } else {
      server.registerResource(name, uri, metadata, (url) => ({ contents: read(url.href, {}) }))
    }
  }
  for (const prompt of PROMPTS) {
    const { name, title, description, get } = prompt
    const argsSchema = promptSchema(prompt, (schema, values) => completable(schema, startingWith(values)))
    const config = {
      ...(title !== undefined && { title }),
      ...(description !== undefined && { description }),
    }
    const describe = description === undefined ? {} : { description }
    if (argsSchema === undefined)
      server.registerPrompt(name, config, () => ({ ...describe, messages: get({}) }))
    else {
      server.registerPrompt(name, { ...config, argsSchema }, (args) => ({
        ...describe,
        messages: get(args as Record<string, string>),
      }))
    }
  }
  return server
}

function addTool(server: McpServer, { name, input, output, call, ...facts }: FixtureTool): void {
  const run = (args: Record<string, unknown>, { mcpReq }: ServerContext) =>
    call(args, {
      log: (level, data) => mcpReq.log(level, data),
      progress: async (progress, total) => {
        const progressToken = mcpReq._meta?.progressToken
        if (progressToken === undefined) return
        await mcpReq.notify({
          method: 'notifications/progress',
          params: { progressToken, progress, total },
        })
      },
    })
  const config = { ...facts, ...(output !== undefined && { outputSchema: output }) }
  if (input === undefined) server.registerTool(name, config, (context) => run({}, context))
  else server.registerTool(name, { ...config, inputSchema: input }, run)
}
