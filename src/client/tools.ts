/** The tools of servers as single callable objects, in the shape of `createTool`. */
import type { Tool as ListedTool, CallToolResult as RemoteResult } from '@modelcontextprotocol/client'
import type { CallToolResult, Icon, Meta } from '../definition/content.ts'
import type { JsonSchemaAsStandard } from '../definition/json-schema.ts'
import type { JsonSchema } from '../definition/schema.ts'
import type { Tool, ToolAnnotations } from '../definition/tool.ts'
import type { Connection, RequestSettings } from './connection.ts'
import { callListener, MCPClientError } from './errors.ts'
import { printable } from './printable.ts'

/** The part of a caller's context that a call uses. The context of a Mayfly tool fits, and that of other frameworks. */
export interface ToolCallContext {
  readonly signal?: AbortSignal | undefined
  readonly abortSignal?: AbortSignal | undefined
  reportProgress?(progress: { progress: number; total?: number; message?: string }): unknown
  /** The `progressToken` of this call for `progress.onUpdate`. Default: a generated one. */
  readonly runId?: string | undefined
}

/** A tool of a server. Give it to an agent, or to your own `MCPServer`. */
export interface ClientTool {
  /** `server_tool`. */
  id: string
  /** The server's name in `servers`. */
  server: string
  title?: string
  description?: string
  /** Exposes the JSON Schema but accepts every value: the server validates. */
  inputSchema: JsonSchemaAsStandard<Record<string, unknown>>
  outputSchema?: JsonSchemaAsStandard<unknown>
  mcp: { annotations?: ToolAnnotations; icons?: Icon[]; _meta?: Meta }
  /** As the server listed it, under its own name. */
  definition: Tool
  /**
   * Calls the tool. Resolves with the structured content if the tool has an `outputSchema`, else with the whole `CallToolResult`.
   *
   * @throws MCPClientError `TOOL_FAILED` with the tool's text if it answers with `isError`; see `onToolError`.
   */
  execute(input?: unknown, context?: ToolCallContext): Promise<unknown>
}

/** Settings of `callTool`. */
export interface CallSettings extends RequestSettings {
  onProgress?: ToolCallContext['reportProgress']
  /** The `progressToken` of this call for `progress.onUpdate`. Default: a generated one. */
  progressToken?: string | undefined
}

export async function listTools(connection: Connection, settings?: RequestSettings): Promise<ClientTool[]> {
  const { tools } = await connection.request(
    'tools/list',
    (client, options, params) => client.listTools(params, options),
    settings,
  )
  const byName = new Map<string, ClientTool>()
  for (const tool of tools) {
    if (byName.has(tool.name)) connection.report(collision(connection.server, tool.name))
    else byName.set(tool.name, toClientTool(connection, tool))
  }
  return [...byName.values()]
}

function collision(server: string, tool: string): MCPClientError {
  return new MCPClientError(
    'NAME_COLLISION',
    `MCP server "${server}" lists several tools named ${printable(tool, 100)}: the first is kept.`,
    { server, operation: 'tools/list' },
  )
}

export async function callTool(
  connection: Connection,
  name: string,
  input: { readonly [name: string]: unknown } = {},
  { onProgress, progressToken = crypto.randomUUID(), ...settings }: CallSettings = {},
): Promise<CallToolResult> {
  const listeners = [...connection.progress]
  const isWatched =
    connection.config.enableProgressTracking !== false && (onProgress !== undefined || listeners.length > 0)
  const result: RemoteResult = await connection.request(
    'tools/call',
    (client, options, params) =>
      client.callTool(
        { name, arguments: { ...input }, ...params },
        {
          ...options,
          ...(isWatched && {
            onprogress: ({ progress, total, message }) => {
              const update = {
                progress,
                ...(total !== undefined && { total }),
                ...(message !== undefined && { message }),
              }
              if (onProgress !== undefined) callListener(onProgress, update, connection)
              for (const listener of listeners) {
                callListener(listener, { tool: name, progressToken, ...update }, connection)
              }
            },
          }),
        },
      ),
    settings,
  )
  // The official type is the same, except for `| undefined` on optional properties.
  return result as CallToolResult
}

export function toClientTool(connection: Connection, listed: ListedTool | Tool): ClientTool {
  // Cast for the same reason as above.
  const definition = listed as Tool
  const { name, title, description, inputSchema, outputSchema, annotations, icons, _meta } = definition
  const { server } = connection
  return {
    id: `${server}_${name}`,
    server,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    inputSchema: asStandard<Record<string, unknown>>(inputSchema),
    ...(outputSchema !== undefined && { outputSchema: asStandard<unknown>(outputSchema) }),
    mcp: {
      ...(annotations !== undefined && { annotations }),
      ...(icons !== undefined && { icons }),
      ...(_meta !== undefined && { _meta }),
    },
    definition,
    execute: async (input, context) => {
      const result = await callTool(connection, name, toArguments(input), toSettings(context))
      if (result.isError === true && connection.config.onToolError === 'return') return result
      if (result.isError === true) throw toolFailed(server, name, result)
      return outputSchema === undefined ? result : result.structuredContent
    },
  }
}

/** A Standard Schema that describes values without validating them. */
function asStandard<Value>(schema: JsonSchema): JsonSchemaAsStandard<Value> {
  return {
    '~standard': {
      version: 1,
      vendor: 'mayfly-mcp',
      jsonSchema: { input: () => ({ ...schema }), output: () => ({ ...schema }) },
      validate: (value) => ({ value: value as Value }),
    },
  }
}

function toArguments(input: unknown): { readonly [name: string]: unknown } {
  if (input === undefined || input === null) return {}
  if (typeof input === 'object' && !Array.isArray(input)) return input as { readonly [name: string]: unknown }
  throw new TypeError(`A tool is called with an object of arguments, not with ${JSON.stringify(input)}.`)
}

function toSettings(context: ToolCallContext = {}): CallSettings {
  const signal = context.signal ?? context.abortSignal
  const { reportProgress, runId } = context
  return {
    ...(runId !== undefined && { progressToken: runId }),
    ...(signal !== undefined && { signal }),
    ...(reportProgress !== undefined && { onProgress: (progress) => reportProgress.call(context, progress) }),
  }
}

function toolFailed(server: string, tool: string, result: CallToolResult): MCPClientError {
  const said = result.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
  return new MCPClientError(
    'TOOL_FAILED',
    said === '' ? `The tool ${tool} of MCP server "${server}" failed.` : said,
    {
      server,
      operation: 'tools/call',
      result,
    },
  )
}
