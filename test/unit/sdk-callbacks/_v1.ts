/** Tools as one writes them for SDK v1, with its own types and schemas. */
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js'
import {
  type CallToolResult,
  CreateMessageResultSchema,
  ElicitResultSchema,
  EmptyResultSchema,
  ListRootsResultSchema,
  type ServerNotification,
  type ServerRequest,
} from '@modelcontextprotocol/sdk/types.js'
import * as z from 'zod'

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>

const text = (value: unknown): CallToolResult => ({
  content: [{ type: 'text', text: JSON.stringify(value) }],
})

export const described = (extra: Extra): CallToolResult =>
  text({
    requestId: extra.requestId,
    isAborted: extra.signal.aborted,
    client: extra.authInfo?.clientId,
    tenant: extra.requestInfo?.headers['x-tenant'],
    shop: extra._meta?.['example/shop'],
  })

export const reported = async ({ parts }: { parts: number }, extra: Extra): Promise<CallToolResult> => {
  const progressToken = extra._meta?.progressToken
  for (let progress = 1; progress <= parts && progressToken !== undefined; progress++) {
    await extra.sendNotification({
      method: 'notifications/progress',
      params: { progressToken, progress, total: parts },
    })
  }
  await extra.sendNotification({
    method: 'notifications/message',
    params: { level: 'warning', logger: 'parts', data: { parts } },
  })
  return text({ parts })
}

/** Destructured, as many do. */
export const asked = async (
  { order }: { order: string },
  { sendRequest }: Extra,
): Promise<CallToolResult> => {
  const answer = await sendRequest(
    {
      method: 'elicitation/create',
      params: {
        mode: 'form',
        message: `Refund ${order}?`,
        requestedSchema: {
          type: 'object',
          properties: { confirm: { type: 'boolean', title: 'Refund it' } },
          required: ['confirm'],
        },
      },
    },
    ElicitResultSchema,
  )
  return text({ action: answer.action, content: answer.content })
}

export const sampled = async (extra: Extra): Promise<CallToolResult> => {
  const { model, content } = await extra.sendRequest(
    {
      method: 'sampling/createMessage',
      params: { messages: [{ role: 'user', content: { type: 'text', text: 'Say hi' } }], maxTokens: 10 },
    },
    CreateMessageResultSchema,
    { timeout: 1000 },
  )
  return text({ model, content })
}

export const rooted = async (extra: Extra): Promise<CallToolResult> => {
  const { roots } = await extra.sendRequest({ method: 'roots/list' }, ListRootsResultSchema)
  return text({ roots })
}

export const pinged = async (extra: Extra): Promise<CallToolResult> => {
  await extra.sendRequest({ method: 'ping' }, EmptyResultSchema)
  return text('pong')
}

export const PARTS = { parts: z.number() }
export const ORDER = { order: z.string() }
