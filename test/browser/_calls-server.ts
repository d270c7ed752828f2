/** What the playground is tried with while a call runs and after it: progress, logs, failures, questions, links, sound. */
import * as z from 'zod'
import { createResource, createTool, MCPServer, ProtocolError } from '../../src/index.ts'

/** 8 000 Hz, one sample. */
const WAV = 'UklGRiUAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQEAAACA'

const watch = createTool({
  id: 'watch',
  description: 'Reports seven of ten steps, then runs until it is cancelled',
  execute: async (_input, ctx) => {
    for (let step = 1; step <= 7; step++)
      await ctx.reportProgress({ progress: step, total: 10, message: `${step * 12} so far` })
    await ctx.log('warning', 'The light is going')
    await new Promise((_resolve, reject) => ctx.signal.addEventListener('abort', reject))
  },
})

const count = createTool({
  id: 'count',
  description: 'Counts, and says so',
  execute: async (_input, ctx) => {
    await ctx.reportProgress({ progress: 1 })
    await ctx.log('info', 'counted 1')
    return 'done'
  },
})

const fails = createTool({
  id: 'fails',
  description: 'Fails as a tool does',
  execute: () => {
    throw new Error('connect ECONNREFUSED 127.0.0.1:5432')
  },
})

const refuses = createTool({
  id: 'refuses',
  description: 'Fails as the protocol does',
  execute: () => {
    throw new ProtocolError(-32602, 'no such order')
  },
})

const asks = createTool({
  id: 'asks',
  description: 'Asks for a confirmation',
  execute: async (_input, ctx) => {
    const answer = await ctx.elicit('Really?', z.object({ confirm: z.boolean() }))
    return `The user chose ${answer.action}`
  },
})

const text = createTool({
  id: 'text',
  description: 'Answers with JSON in a text',
  execute: () => ({
    content: [
      { type: 'text', text: '{"order":12345678901234567890,"items":["rose",{"stems":3}],"paid":true}' },
    ],
  }),
})

const linked = createTool({
  id: 'linked',
  description: 'Names a resource',
  execute: () => ({
    content: [{ type: 'resource_link', uri: 'notes://one', name: 'The first note' }],
  }),
})

const sound = createTool({
  id: 'sound',
  description: 'Answers with a sound',
  execute: () => ({ content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] }),
})

const echo = createTool({
  id: 'echo',
  description: 'Answers with what it is given',
  inputSchema: z.object({ word: z.string(), times: z.number().int().default(1) }),
  execute: (input) => input,
})

export default new MCPServer({
  id: 'calls',
  name: 'Calls',
  version: '1.0.0',
  secret: 'of-no-value-outside-these-tests-1',
  tools: { watch, count, fails, refuses, asks, text, linked, sound, echo },
  resources: [
    createResource({
      uri: 'notes://one',
      name: 'One',
      mimeType: 'text/plain',
      read: () => 'The mill weir is best.',
    }),
  ],
})
