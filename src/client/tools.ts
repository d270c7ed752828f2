/** The tools of servers as single callable objects, in the shape of `createTool`. */
import type {
  Tool as ListedTool,
  Progress,
  CallToolResult as RemoteResult,
} from '@modelcontextprotocol/client'
import type { CallToolResult, Icon, Meta } from '../definition/content.ts'
import type { JsonSchemaAsStandard } from '../definition/json-schema.ts'
import type { JsonSchema } from '../definition/schema.ts'
import type { Tool, ToolAnnotations } from '../definition/tool.ts'
import type { Names } from '../definition/unknown-option.ts'
import { Call } from './call.ts'
import { checkTimeout } from './config.ts'
import type { Connection, RequestSettings } from './connection.ts'
import { callListener, MCPClientError } from './errors.ts'
import { outputValidator } from './output-schema.ts'
import { printable } from './printable.ts'
import { type DetailedTask, findStarted, type Task } from './task.ts'
import { WAIT_SETTINGS, type WaitSettings, waitForTask } from './task-wait.ts'

/** The part of a caller's context that a call uses. Compatible with the context of Mayfly tools and of other frameworks. */
export interface ToolCallContext {
  readonly signal?: AbortSignal | undefined
  readonly abortSignal?: AbortSignal | undefined
  reportProgress?(progress: { progress: number; total?: number; message?: string }): unknown
  /** The `progressToken` of this call for `progress.onUpdate`. Default: a generated one. */
  readonly runId?: string | undefined
  /** Called when the call becomes a task, and when the task changes. */
  onTask?(task: DetailedTask): unknown
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

/** Settings of `callTool`. `WaitSettings` apply to a call that becomes a task. */
export interface CallSettings extends WaitSettings {
  onProgress?: ToolCallContext['reportProgress']
  /** The `progressToken` of this call for `progress.onUpdate`. Default: a generated one. */
  progressToken?: string | undefined
}

/** Maximum names in one report. */
const MAX_REPORTED = 5

/** Settings of `callTool` that do not wait for a task. */
export interface HandleSettings extends CallSettings {
  /** A call that becomes a task resolves with the new task. */
  readonly task: 'handle'
}

/** The names of `CallSettings` and `HandleSettings`. */
export const CALL_SETTINGS: Names<CallSettings & HandleSettings> = {
  ...WAIT_SETTINGS,
  onProgress: 'function',
  progressToken: 'string',
  task: { handle: 1 },
}

/** The answer to a call with `task: 'handle'`: a result or a task. */
export type CallOutcome =
  | { readonly task: Task; readonly result?: undefined }
  | { readonly result: CallToolResult; readonly task?: undefined }

export async function listTools(connection: Connection, settings?: RequestSettings): Promise<ClientTool[]> {
  const { tools } = await connection.request(
    'tools/list',
    (client, options, params) => client.listTools(params, options),
    settings,
  )
  const byName = new Map<string, ClientTool>()
  const repeated = new Set<string>()
  for (const tool of tools) {
    if (byName.has(tool.name)) repeated.add(tool.name)
    else byName.set(tool.name, toClientTool(connection, tool))
  }
  if (repeated.size > 0) connection.report(collision(connection.server, [...repeated]))
  connection.outputSchemas = new Map(
    [...byName.values()].flatMap(({ definition: { name, outputSchema } }) =>
      outputSchema === undefined ? [] : [[name, outputSchema]],
    ),
  )
  return [...byName.values()]
}

/** One report for the whole list, which may consist only of duplicates. */
function collision(server: string, names: readonly string[]): MCPClientError {
  const shown = names.slice(0, MAX_REPORTED).map((name) => printable(name, 60))
  const more = names.length > MAX_REPORTED ? `, and ${names.length - MAX_REPORTED} more` : ''
  return new MCPClientError(
    'NAME_COLLISION',
    `MCP server "${server}" lists several tools named ${shown.join(', ')}${more}: the first is kept.`,
    { server, operation: 'tools/list' },
  )
}

type ToolArguments = { readonly [name: string]: unknown }

/** Calls a tool, and waits for the task that the call may become. */
export async function callTool(
  connection: Connection,
  name: string,
  input: ToolArguments = {},
  settings: CallSettings = {},
): Promise<CallToolResult> {
  checkTimeout('maxTaskMs', settings.maxTaskMs)
  const call = new Call()
  try {
    const { result, task } = await requestTool(connection, name, input, settings, call)
    if (task === undefined) return result
    return checkOutput(connection, name, await waitForTask(connection, task, call, settings), task)
  } finally {
    call.end()
  }
}

/** Calls a tool, without waiting for a task. */
export async function startTool(
  connection: Connection,
  name: string,
  input: ToolArguments = {},
  settings: CallSettings = {},
): Promise<CallOutcome> {
  const call = new Call()
  return requestTool(connection, name, input, settings, call).finally(() => call.end())
}

async function requestTool(
  connection: Connection,
  name: string,
  input: ToolArguments,
  { onProgress, progressToken = crypto.randomUUID(), signal, timeoutMs }: CallSettings,
  call: Call,
): Promise<CallOutcome> {
  const listeners = [...connection.progress]
  const isWatched =
    connection.config.enableProgressTracking !== false && (onProgress !== undefined || listeners.length > 0)
  const onprogress = ({ progress, total, message }: Progress): void => {
    const update = {
      progress,
      ...(total !== undefined && { total }),
      ...(message !== undefined && { message }),
    }
    if (onProgress !== undefined) callListener(onProgress, update, connection)
    for (const listener of listeners) {
      callListener(listener, { tool: name, progressToken, ...update }, connection)
    }
  }
  return connection.request(
    'tools/call',
    async (client, options, params) => {
      try {
        const result: RemoteResult = await client.callTool(
          { name, arguments: { ...input }, ...params },
          { ...options, ...(isWatched && { onprogress }) },
        )
        // The official type is the same, except for `| undefined` on optional properties.
        return { result: result as CallToolResult }
      } catch (error) {
        const task = findStarted(error)
        if (task === undefined) throw error
        return { task }
      }
    },
    { signal, timeoutMs },
    call,
  )
}

/** Like the official client's check of an ordinary call's result. @throws MCPClientError */
function checkOutput(
  connection: Connection,
  name: string,
  result: CallToolResult,
  task: Task,
): CallToolResult {
  const schema = connection.outputSchemas.get(name)
  if (schema === undefined || result.isError === true) return result
  const { structuredContent } = result
  const { valid, errorMessage } = outputValidator.getValidator(schema)(structuredContent)
  if (structuredContent !== undefined && valid) return result
  const { server } = connection
  const fault = structuredContent === undefined ? 'structuredContent is missing' : errorMessage
  const text = `MCP server "${server}" answered with a result that does not match the outputSchema of its tool: ${printable(String(fault))}.`
  throw new MCPClientError('REQUEST_FAILED', text, { server, operation: 'tasks/get', task })
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
      if (result.isError === true) throw toolFailed(connection, name, result)
      return outputSchema === undefined ? result : result.structuredContent
    },
  }
}

/** A Standard Schema that describes values without validating them. */
export function asStandard<Value>(schema: JsonSchema): JsonSchemaAsStandard<Value> {
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
  throw new TypeError(`Tool arguments must be an object, not ${JSON.stringify(input)}.`)
}

function toSettings(context: ToolCallContext = {}): CallSettings {
  const signal = context.signal ?? context.abortSignal
  const { reportProgress, runId, onTask } = context
  return {
    ...(onTask !== undefined && { onTask: (task) => onTask.call(context, task) }),
    ...(runId !== undefined && { progressToken: runId }),
    ...(signal !== undefined && { signal }),
    ...(reportProgress !== undefined && { onProgress: (progress) => reportProgress.call(context, progress) }),
  }
}

function toolFailed({ server, secrets }: Connection, tool: string, result: CallToolResult): MCPClientError {
  const said = result.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
  return new MCPClientError(
    'TOOL_FAILED',
    said === '' ? `The tool ${tool} of MCP server "${server}" failed.` : secrets.hide(said),
    {
      server,
      operation: 'tools/call',
      result,
    },
  )
}
