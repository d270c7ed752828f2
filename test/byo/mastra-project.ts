/** A Mastra project as people have it: tools, an agent with a model of its own, workflows. It knows nothing of Mayfly. */
import { Agent } from '@mastra/core/agent'
import { createTool } from '@mastra/core/tools'
import { createStep, createWorkflow } from '@mastra/core/workflows'
import { tool } from 'ai'
import { MockLanguageModelV3 } from 'ai/test'
import * as z from 'zod'

export const weather = createTool({
  id: 'weather',
  description: 'The weather of a city',
  inputSchema: z.object({ city: z.string(), days: z.coerce.number().default(1) }),
  outputSchema: z.object({ city: z.string(), degrees: z.array(z.number()) }),
  mcp: { annotations: { title: 'Weather', readOnlyHint: true }, _meta: { 'example/team': 'sky' } },
  execute: async ({ city, days }) => ({ city, degrees: Array.from({ length: days }, (_, day) => 20 + day) }),
})

/** A schema whose output is no input: it must be validated once. Mastra's own servers refuse what it yields. */
export const split = createTool({
  id: 'split',
  description: 'Splits a list',
  inputSchema: z.object({ list: z.string().transform((list) => list.split(',')) }),
  execute: async ({ list }) => ({ items: list }),
})

export const caller = createTool({
  id: 'caller',
  description: 'Says who calls',
  execute: async (_input, { mcp, requestContext, abortSignal }) => ({
    client: mcp?.extra.authInfo?.clientId,
    sameClient: requestContext?.get<'authInfo', { clientId: string }>('authInfo')?.clientId,
    hasRequestId: mcp?.extra.requestId !== undefined,
    isAborted: mcp?.extra.signal.aborted,
    abortSignalIsAborted: abortSignal?.aborted,
    method: mcp?.extra.mcpReq.method,
    tenant: mcp?.extra.http?.req?.headers.get('x-tenant'),
  }),
})

export const working = createTool({
  id: 'working',
  description: 'Works in parts',
  inputSchema: z.object({ parts: z.number() }),
  execute: async ({ parts }, { mcp }) => {
    await mcp?.progress?.({ progress: parts, total: parts, message: 'done' })
    await mcp?.log?.('warning', 'worked', { parts })
    return `${parts} parts`
  },
})

/** As written for `@mastra/mcp` 1.x. */
export const refund = createTool({
  id: 'refund',
  description: 'Refunds an order',
  inputSchema: z.object({ order: z.string() }),
  execute: async ({ order }, { mcp }) => {
    const answer = await mcp!.elicitation.sendRequest({
      message: `Refund ${order}?`,
      requestedSchema: {
        type: 'object',
        properties: { confirm: { type: 'boolean' } },
        required: ['confirm'],
      },
    })
    return { order, refunded: answer.action === 'accept' && answer.content?.confirm === true }
  },
})

/** As written for `@mastra/mcp` 2.x. */
export const transfer = createTool({
  id: 'transfer',
  description: 'Transfers money',
  inputSchema: z.object({ amount: z.number() }),
  suspendSchema: z.object({ message: z.string(), amount: z.number() }),
  resumeSchema: z.object({ approved: z.boolean() }),
  execute: async ({ amount }, { suspend, resumeData, suspendPayload }) => {
    if (resumeData === undefined) {
      await suspend?.({ message: `Transfer ${amount}?`, amount })
      return { amount: 0, approved: false, asked: 0 }
    }
    return { amount, approved: resumeData.approved, asked: suspendPayload?.amount ?? 0 }
  },
})

/** Both at once: what a tool is given when it resumes is what its schema yields. */
export const pick = createTool({
  id: 'pick',
  description: 'Picks from a list',
  inputSchema: z.object({ list: z.string().transform((list) => list.split(',')) }),
  resumeSchema: z.object({ index: z.number() }),
  execute: async ({ list }, { suspend, resumeData }) => {
    if (resumeData === undefined) return void (await suspend?.({ message: `Which of ${list.length}?` }))
    return { picked: list[resumeData.index] }
  },
})

/** What `deliver` did, in order: each phase has an effect that must not happen twice. */
export const deliveries: string[] = []

export const deliver = createTool({
  id: 'deliver',
  description: 'Delivers an order',
  inputSchema: z.object({ order: z.string() }),
  suspendSchema: z.object({
    phase: z.enum(['where', 'when']),
    message: z.string(),
    where: z.string().optional(),
  }),
  resumeSchema: z.object({ answer: z.string() }),
  execute: async ({ order }, { suspend, resumeData, suspendPayload }) => {
    deliveries.push(suspendPayload?.phase ?? 'start')
    if (resumeData === undefined) return void (await suspend?.({ phase: 'where', message: 'Where to?' }))
    const { answer } = resumeData
    if (suspendPayload?.phase === 'where') {
      return void (await suspend?.({ phase: 'when', message: 'When?', where: answer }))
    }
    return { order, where: suspendPayload?.where, when: answer }
  },
})

export const failing = createTool({
  id: 'failing',
  description: 'Fails',
  execute: async () => {
    throw new Error('No such shop')
  },
})

export const wrong = createTool({
  id: 'wrong',
  description: 'Returns something else than it says',
  outputSchema: z.object({ count: z.number() }),
  execute: async () => ({ count: 'many' }) as never,
})

const TOKENS = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}

/** A model without a network: it repeats what the user said last. */
const model = new MockLanguageModelV3({
  doGenerate: async ({ prompt }) => {
    const said = prompt.findLast(({ role }) => role === 'user')?.content
    const text = typeof said === 'object' && said[0]?.type === 'text' ? said[0].text : 'nothing'
    return {
      content: [{ type: 'text', text: `You said: ${text}` }],
      finishReason: { unified: 'stop', raw: 'stop' },
      usage: TOKENS,
      warnings: [],
    }
  },
})

export const support = new Agent({
  id: 'support',
  name: 'Support',
  description: 'Knows the manuals',
  instructions: ({ requestContext }) => `Help ${String(requestContext.get('authInfo') !== undefined)}.`,
  model,
})

const count = createStep({
  id: 'count',
  inputSchema: z.object({ words: z.string() }),
  outputSchema: z.object({ count: z.number(), client: z.string() }),
  execute: async ({ inputData, requestContext }) => ({
    count: inputData.words.split(' ').length,
    client:
      requestContext.get<'authInfo', { clientId: string } | undefined>('authInfo')?.clientId ?? 'nobody',
  }),
})

const double = createStep({
  id: 'double',
  inputSchema: count.outputSchema,
  outputSchema: count.outputSchema,
  execute: async ({ inputData }) => ({ ...inputData, count: inputData.count * 2 }),
})

export const counting = createWorkflow({
  id: 'counting',
  description: 'Counts words, twice',
  inputSchema: z.object({ words: z.string() }),
  outputSchema: z.object({ count: z.number(), client: z.string() }),
})
  .then(count)
  .then(double)
  .commit()

export const stuck = createWorkflow({
  id: 'stuck',
  description: 'Fails on its way',
  inputSchema: z.object({}),
  outputSchema: z.object({}),
})
  .then(
    createStep({
      id: 'break',
      inputSchema: z.object({}),
      outputSchema: z.object({}),
      execute: async () => {
        throw new Error('The conveyor is stuck')
      },
    }),
  )
  .commit()

/** Of the AI SDK, which Mastra's servers take as well. */
export const shout = tool({
  description: 'Shouts',
  inputSchema: z.object({ text: z.string() }),
  execute: async ({ text }) => text.toUpperCase(),
})

export const tools = {
  weather,
  split,
  caller,
  working,
  refund,
  transfer,
  pick,
  deliver,
  failing,
  wrong,
  shout,
}
export const agents = { support }
export const workflows = { counting, stuck }
