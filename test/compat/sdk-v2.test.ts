/** The examples of the official SDK v2, with only the import and the construction changed. */
import { expect, it } from 'vitest'
import * as z from 'zod'
import { MCPServer } from '../../src/sdk-context.ts'
import { call } from './_call.ts'

const create = (): MCPServer => new MCPServer({ name: 'demo-server', version: '1.0.0', log: false })

it('a tool with a schema, a log and a question', async () => {
  const server = create()
  server.registerTool(
    'collect-info',
    { description: 'Collect user information', inputSchema: z.object({ topic: z.string() }) },
    async ({ topic }, ctx) => {
      await ctx.mcpReq.log('info', `Asking about ${topic}`)
      const result = await ctx.mcpReq.elicitInput({
        mode: 'form',
        message: `Please answer about ${topic}`,
        requestedSchema: { type: 'object', properties: { answer: { type: 'string' } }, required: ['answer'] },
      } as { message: string })
      return { content: [{ type: 'text', text: `${result.action} ${result.content?.answer}` }] }
    },
  )
  const answers = [{ action: 'accept', content: { answer: 'yes' } }]
  expect((await call(server, 'collect-info', { topic: 'tea' }, answers)).text).toBe('accept yes')
})

it('a tool that returns its question', async () => {
  const server = create()
  server.registerTool('deploy', { inputSchema: z.object({ env: z.string() }) }, async ({ env }, ctx) => {
    const answer = ctx.mcpReq.inputResponses?.confirm as { action: string } | undefined
    if (answer === undefined) {
      return {
        resultType: 'input_required' as const,
        inputRequests: {
          confirm: {
            method: 'elicitation/create',
            params: { message: `Deploy to ${env}?`, requestedSchema: { type: 'object', properties: {} } },
          },
        },
      }
    }
    return { content: [{ type: 'text' as const, text: `${answer.action} ${env}` }] }
  })
  expect((await call(server, 'deploy', { env: 'prod' }, [{ action: 'accept', content: {} }])).text).toBe(
    'accept prod',
  )
})
