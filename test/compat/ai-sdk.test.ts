/** Tools as the AI SDK's documentation writes them, and the context that it gives them. */
import { expect, it } from 'vitest'
import { z } from 'zod'
import { createTool, MCPServer } from '../../src/mastra.ts'
import { call } from './_call.ts'

/** What the AI SDK's `tool()` does: it returns what it is given. */
const tool = <Tool>(definition: Tool): Tool => definition

it('a tool with the options of a call', async () => {
  const weather = tool({
    description: 'Get the weather in a location',
    inputSchema: z.object({
      location: z.string().describe('The location to get the weather for'),
    }),
    execute: async (
      { location }: { location: string },
      {
        toolCallId,
        messages,
        abortSignal,
      }: { toolCallId: string; messages: readonly unknown[]; abortSignal?: AbortSignal },
    ) => ({
      location,
      known: toolCallId.length > 0,
      messages: messages.length,
      aborted: abortSignal?.aborted,
    }),
  })
  const server = new MCPServer({ name: 'Weather', version: '1.0.0', tools: { weather }, log: false })
  expect((await call(server, 'weather', { location: 'Bern' })).structuredContent).toEqual({
    location: 'Bern',
    known: true,
    messages: 0,
    aborted: false,
  })
})

it('the same by createTool: typed by its schema', async () => {
  const weather = createTool({
    id: 'weather',
    inputSchema: z.object({ location: z.string() }),
    execute: async ({ location }, { toolCallId, messages, abortSignal }) =>
      `${location.toUpperCase()} ${toolCallId.length > 0} ${messages.length} ${abortSignal.aborted}`,
  })
  expect(await weather.execute({ location: 'Bern' })).toBe('BERN true 0 false')
})

it('`parameters`, of version 4 → TypeError that names inputSchema', () => {
  const weather = tool({ description: 'Weather', parameters: z.object({}), execute: async () => 'sunny' })
  expect(() => new MCPServer({ name: 'Weather', version: '1.0.0', tools: { weather } })).toThrow(
    'Tool "weather" has "parameters": write "inputSchema".',
  )
})
