/** The tools the suite calls, but for those that ask the client. */
import {
  fromJsonSchema,
  type InMemoryServerEventBus,
  inputRequired,
  type McpServer,
} from '@modelcontextprotocol/server'
import * as z from 'zod'
import { PNG, WAV } from '../../../examples/everything/media.ts'

const PAUSE_MS = 50

const NOTHING = z.object({})

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, PAUSE_MS))

const text = (value: string) => ({ type: 'text' as const, text: value })

const IMAGE = { type: 'image' as const, data: PNG, mimeType: 'image/png' }

const embedded = (uri: string, mimeType: string, value: string) => ({
  type: 'resource' as const,
  resource: { uri, mimeType, text: value },
})

export function registerTools(server: McpServer, bus: InMemoryServerEventBus): void {
  registerContent(server)
  registerWorking(server)
  server.registerTool(
    'test_trigger_tool_change',
    { description: 'test_trigger_tool_change', inputSchema: NOTHING },
    () => {
      bus.publish({ kind: 'tools_list_changed' })
      return { content: [text('Told')] }
    },
  )
  server.registerTool(
    'test_trigger_prompt_change',
    { description: 'test_trigger_prompt_change', inputSchema: NOTHING },
    () => {
      bus.publish({ kind: 'prompts_list_changed' })
      return { content: [text('Told')] }
    },
  )
  server.registerTool(
    'test_region_header',
    { description: 'test_region_header', inputSchema: REGION },
    ({ region }) => ({
      content: [text(`Region ${region}`)],
    }),
  )
  server.registerTool(
    'json_schema_2020_12_tool',
    { description: 'json_schema_2020_12_tool', inputSchema: VOCABULARY },
    (input) => ({
      content: [text(`Called with ${JSON.stringify(input)}`)],
    }),
  )
  server.registerTool(
    'test_missing_capability',
    { description: 'test_missing_capability', inputSchema: NOTHING },
    (_args, ctx) => {
      if (ctx.mcpReq.inputResponses?.answer !== undefined)
        return { content: [text('The client has sampling')] }
      const messages = [{ role: 'user' as const, content: text('Say pong') }]
      return inputRequired({
        inputRequests: { answer: inputRequired.createMessage({ messages, maxTokens: 16 }) },
      })
    },
  )
}

function registerContent(server: McpServer): void {
  const answers = {
    test_simple_text: [text('This is a simple text response for testing.')],
    test_image_content: [IMAGE],
    test_audio_content: [{ type: 'audio' as const, data: WAV, mimeType: 'audio/wav' }],
    test_embedded_resource: [
      embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.'),
    ],
    test_multiple_content_types: [
      text('Multiple content types test:'),
      IMAGE,
      embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
    ],
  }
  for (const [name, content] of Object.entries(answers)) {
    server.registerTool(name, { description: name, inputSchema: NOTHING }, () => ({ content }))
  }
  server.registerTool(
    'test_error_handling',
    { description: 'test_error_handling', inputSchema: NOTHING },
    () => {
      throw new Error('This tool intentionally returns an error for testing')
    },
  )
}

function registerWorking(server: McpServer): void {
  server.registerTool(
    'test_tool_with_logging',
    { description: 'test_tool_with_logging', inputSchema: NOTHING },
    async (_args, ctx) => {
      for (const step of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
        await ctx.mcpReq.notify({ method: 'notifications/message', params: { level: 'info', data: step } })
        await pause()
      }
      return { content: [text('Tool with logging executed successfully')] }
    },
  )
  server.registerTool(
    'test_logging_tool',
    { description: 'test_logging_tool', inputSchema: NOTHING },
    async (_args, ctx) => {
      await ctx.mcpReq.log('info', 'A message nobody may have asked for')
      return { content: [text('Logged')] }
    },
  )
  server.registerTool(
    'test_tool_with_progress',
    { description: 'test_tool_with_progress', inputSchema: NOTHING },
    async (_args, ctx) => {
      const progressToken = ctx.mcpReq._meta?.progressToken ?? 0
      for (const progress of [0, 50, 100]) {
        const params = { progressToken, progress, total: 100, message: `Completed step ${progress} of 100` }
        await ctx.mcpReq.notify({ method: 'notifications/progress', params })
        await pause()
      }
      return { content: [text('Progress reported')] }
    },
  )
}

// `x-mcp-header` is the protocol's own keyword.
const REGION_SCHEMA: object = {
  type: 'object',
  properties: {
    region: { type: 'string', 'x-mcp-header': 'Region' },
    priority: { type: 'integer', 'x-mcp-header': 'Priority' },
  },
  required: ['region'],
}

const REGION = fromJsonSchema<{ region: string; priority?: number }>(REGION_SCHEMA)

const VOCABULARY = fromJsonSchema({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema.
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
})
