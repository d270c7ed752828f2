/** A server on the official SDK v1: it asks, reports, logs and tells of changes. */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import {
  ElicitResultSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import * as z from 'zod'

export function createV1Server(): McpServer {
  const server = new McpServer(
    { name: 'v1', version: '1.0.0' },
    { capabilities: { logging: {}, resources: { subscribe: true, listChanged: true } } },
  )
  const subscribed = new Set<string>()
  server.server.setRequestHandler(SubscribeRequestSchema, ({ params }) => {
    subscribed.add(params.uri)
    return {}
  })
  server.server.setRequestHandler(UnsubscribeRequestSchema, ({ params }) => {
    subscribed.delete(params.uri)
    return {}
  })
  server.registerTool(
    'add',
    { inputSchema: { a: z.number(), b: z.number() }, outputSchema: { sum: z.number() } },
    ({ a, b }) => ({ content: [{ type: 'text', text: `${a + b}` }], structuredContent: { sum: a + b } }),
  )
  const question = {
    mode: 'form' as const,
    message: 'Your name?',
    requestedSchema: {
      type: 'object' as const,
      properties: { name: { type: 'string' as const } },
      required: ['name'],
    },
  }
  server.registerTool('ask', {}, async () => {
    const answer = await server.server.elicitInput(question)
    return { content: [{ type: 'text', text: `${answer.action}: ${answer.content?.name}` }] }
  })
  server.registerTool('ask_on_its_stream', {}, async ({ sendRequest }) => {
    const request = { method: 'elicitation/create' as const, params: question }
    const { action, content } = await sendRequest(request, ElicitResultSchema)
    return { content: [{ type: 'text', text: `${action}: ${content?.name}` }] }
  })
  server.registerTool('count', {}, async ({ sendNotification, _meta }) => {
    const progressToken = _meta?.progressToken
    for (const progress of progressToken === undefined ? [] : [1, 2]) {
      const params = { progressToken: progressToken!, progress, total: 2 }
      await sendNotification({ method: 'notifications/progress', params })
    }
    await server.sendLoggingMessage({ level: 'warning', logger: 'counter', data: 'counted' })
    return { content: [{ type: 'text', text: `${progressToken === undefined ? 'un' : ''}watched` }] }
  })
  server.registerTool('touch', {}, async () => {
    for (const uri of subscribed) await server.server.sendResourceUpdated({ uri })
    server.sendPromptListChanged()
    server.sendResourceListChanged()
    server.sendToolListChanged()
    return { content: [{ type: 'text', text: [...subscribed].join() }] }
  })
  server.registerResource('news', 'news://today', {}, ({ href }) => ({
    contents: [{ uri: href, text: 'Nothing happened' }],
  }))
  server.registerPrompt('greet', { argsSchema: { name: z.string() } }, ({ name }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Greet ${name}` } }],
  }))
  return server
}
