/** Tools as one writes them for SDK v2, with its own types and its own way of asking. */
import {
  acceptedContent,
  type CallToolResult,
  inputRequired,
  type ServerContext,
} from '@modelcontextprotocol/server'
import * as z from 'zod'

const text = (value: unknown): CallToolResult => ({
  content: [{ type: 'text', text: JSON.stringify(value) }],
})

export const described = (ctx: ServerContext): CallToolResult =>
  text({
    id: ctx.mcpReq.id,
    method: ctx.mcpReq.method,
    isAborted: ctx.mcpReq.signal.aborted,
    client: ctx.http?.authInfo?.clientId,
    tenant: ctx.http?.req?.headers.get('x-tenant'),
    shop: ctx.mcpReq._meta?.['example/shop'],
    isEnvelopeApart: ctx.mcpReq._meta?.['io.modelcontextprotocol/protocolVersion'] === undefined,
  })

export const PARTS = z.object({ parts: z.number() })

export const reported = async ({ parts }: { parts: number }, ctx: ServerContext): Promise<CallToolResult> => {
  const progressToken = ctx.mcpReq._meta?.progressToken
  for (let progress = 1; progress <= parts && progressToken !== undefined; progress++) {
    await ctx.mcpReq.notify({
      method: 'notifications/progress',
      params: { progressToken, progress, total: parts },
    })
  }
  await ctx.mcpReq.log('warning', { parts }, 'parts')
  return text({ parts })
}

/** Legacy style: the SDK itself refuses these on a modern request. */
export const pushed = async (ctx: ServerContext): Promise<CallToolResult> => {
  const { action, content } = await ctx.mcpReq.elicitInput({
    message: 'Your name?',
    requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  })
  const { model } = await ctx.mcpReq.requestSampling({
    messages: [{ role: 'user', content: { type: 'text', text: 'Say hi' } }],
    maxTokens: 10,
  })
  const { roots } = await ctx.mcpReq.send({ method: 'roots/list' })
  return text({ action, content, model, roots })
}

export const ORDER = z.object({ order: z.string() })
const CONFIRM = z.object({ confirm: z.boolean() })
const REASON = z.object({ reason: z.string() })

/** Two rounds: the second question depends on the first answer, which travels in `requestState`. */
export const asked = async ({ order }: { order: string }, { mcpReq }: ServerContext) => {
  const state = mcpReq.requestState<string>()
  if (state === undefined) {
    const confirmed = acceptedContent(mcpReq.inputResponses, 'confirm', CONFIRM)
    if (confirmed === undefined) {
      return inputRequired({
        inputRequests: {
          confirm: inputRequired.elicit({ message: `Refund ${order}?`, requestedSchema: CONFIRM }),
          where: inputRequired.listRoots(),
        },
      })
    }
    return inputRequired({
      inputRequests: { reason: inputRequired.elicit({ message: 'Why?', requestedSchema: REASON }) },
      requestState: JSON.stringify({ confirmed, where: mcpReq.inputResponses?.where }),
    })
  }
  return text({ ...JSON.parse(state), why: acceptedContent(mcpReq.inputResponses, 'reason', REASON) })
}

/** One round, for clients that only know forms. */
export const confirmed = async ({ order }: { order: string }, { mcpReq }: ServerContext) => {
  const answer = acceptedContent(mcpReq.inputResponses, 'confirm', CONFIRM)
  if (answer !== undefined) return text({ order, state: mcpReq.requestState(), confirmed: answer })
  return inputRequired({
    inputRequests: {
      confirm: inputRequired.elicit({ message: `Refund ${order}?`, requestedSchema: CONFIRM }),
    },
    requestState: 'asked',
  })
}
