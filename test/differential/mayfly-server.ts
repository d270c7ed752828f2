/** The fixture as a Mayfly server. */
import { createMemoryBus, MCPServer, type McpContext, type ReportError } from '../../src/index.ts'
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

/** @param onError told of every fault of the server. */
export function createMayflyPeer(onError: ReportError): Peer {
  const server = new MCPServer({
    id: 'differential',
    ...SERVER_INFO,
    instructions: INSTRUCTIONS,
    bus: createMemoryBus(),
    // The official SDK caches nothing unless told to.
    cache: { ttlMs: 0, scope: 'private' },
    log: false,
    onError,
  })
  for (const tool of TOOLS) addTool(server, tool)
  for (const { uri, uriTemplate, values = {}, read, ...facts } of RESOURCES) {
    const complete = Object.fromEntries(
      Object.entries(values).map(([variable, known]) => [variable, startingWith(known)]),
    )
    server.registerResource(
      uri === undefined
        ? {
            uriTemplate: uriTemplate!,
            ...facts,
            complete,
            read: (request) => read(request.uri, request.variables),
          }
        : { uri, ...facts, read: (request) => read(request.uri, request.variables) },
    )
  }
  for (const prompt of PROMPTS) {
    const { name, title, description, values = {}, get } = prompt
    const argsSchema = promptSchema(prompt)
    server.registerPrompt(name, {
      ...(title !== undefined && { title }),
      ...(description !== undefined && { description }),
      ...(argsSchema !== undefined && { argsSchema }),
      complete: Object.fromEntries(
        Object.entries(values).map(([argument, known]) => [argument, startingWith(known)]),
      ),
      get,
    })
  }
  return {
    name: 'Mayfly',
    fetch: (request) => server.fetch(request),
    publish: {
      toolsListChanged: () => server.tools.notifyListChanged(),
      promptsListChanged: () => server.prompts.notifyListChanged(),
      resourcesListChanged: () => server.resources.notifyListChanged(),
      resourceUpdated: (uri) => server.resources.notifyUpdated({ uri }),
    },
  }
}

function addTool(server: MCPServer, { name, input, output, call, ...facts }: FixtureTool): void {
  const run = (args: Record<string, unknown>, context: McpContext) =>
    call(args, {
      log: (level, data) => context.log(level, data),
      progress: (progress, total) => context.reportProgress({ progress, total }),
    })
  const config = { ...facts, ...(output !== undefined && { outputSchema: output }) }
  if (input === undefined) server.registerTool(name, config, (context) => run({}, context))
  else server.registerTool(name, { ...config, inputSchema: input }, run)
}
