/**
 * The tools the conformance suite calls, but for those that ask the client.
 */
import { createTool, jsonSchema } from 'mayfly-mcp'
import * as z from 'zod'
import { PNG, WAV } from './media.ts'

/** Progress is sent at most every 100 ms: a tool that wants each of its reports seen leaves that much between them. */
const PAUSE_MS = 120

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

const embedded = (uri: string, mimeType: string, text: string) => ({
  type: 'resource' as const,
  resource: { uri, mimeType, text },
})

export const tools = {
  test_simple_text: createTool({
    id: 'test_simple_text',
    description: 'Answers with text',
    execute: () => 'This is a simple text response for testing.',
  }),
  test_image_content: createTool({
    id: 'test_image_content',
    description: 'Answers with an image',
    execute: () => ({ content: [{ type: 'image', data: PNG, mimeType: 'image/png' }] }),
  }),
  test_audio_content: createTool({
    id: 'test_audio_content',
    description: 'Answers with audio',
    execute: () => ({ content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] }),
  }),
  test_embedded_resource: createTool({
    id: 'test_embedded_resource',
    description: 'Answers with an embedded resource',
    execute: () => ({
      content: [embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
    }),
  }),
  test_multiple_content_types: createTool({
    id: 'test_multiple_content_types',
    description: 'Answers with text, an image and a resource',
    execute: () => ({
      content: [
        { type: 'text', text: 'Multiple content types test:' },
        { type: 'image', data: PNG, mimeType: 'image/png' },
        embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
      ],
    }),
  }),
  test_tool_with_logging: createTool({
    id: 'test_tool_with_logging',
    description: 'Logs to the client while it works',
    execute: async (_input, ctx) => {
      ctx.log('info', 'Tool execution started')
      await pause(50)
      ctx.log('info', 'Tool processing data')
      await pause(50)
      ctx.log('info', 'Tool execution completed')
      return 'Tool with logging executed successfully'
    },
  }),
  test_logging_tool: createTool({
    id: 'test_logging_tool',
    description: 'Logs once, where the client asked for it',
    execute: (_input, ctx) => {
      ctx.log('info', 'A message nobody may have asked for')
      return 'Logged'
    },
  }),
  test_tool_with_progress: createTool({
    id: 'test_tool_with_progress',
    description: 'Reports progress while it works',
    execute: async (_input, ctx) => {
      for (const progress of [0, 50, 100]) {
        ctx.reportProgress({ progress, total: 100, message: `Completed step ${progress} of 100` })
        await pause(PAUSE_MS)
      }
      return 'Progress reported'
    },
  }),
  test_error_handling: createTool({
    id: 'test_error_handling',
    description: 'Fails',
    execute: () => {
      throw new Error('This tool intentionally returns an error for testing')
    },
  }),
  test_missing_capability: createTool({
    id: 'test_missing_capability',
    description: 'Needs a client with sampling',
    execute: (_input, ctx) => {
      ctx.requireClientCapabilities({ sampling: {} })
      return 'The client has sampling'
    },
  }),
  test_region_header: createTool({
    id: 'test_region_header',
    description: 'Has parameters that travel as headers too',
    inputSchema: z.object({
      region: z.string().meta({ 'x-mcp-header': 'Region' }),
      priority: z.number().int().optional().meta({ 'x-mcp-header': 'Priority' }),
    }),
    execute: ({ region }) => `Region ${region}`,
  }),
  json_schema_2020_12_tool: createTool({
    id: 'json_schema_2020_12_tool',
    description: 'Has an input schema with the vocabulary of JSON Schema 2020-12',
    inputSchema: jsonSchema({
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
    }),
    execute: (input) => `Called with ${JSON.stringify(input)}`,
  }),
}
