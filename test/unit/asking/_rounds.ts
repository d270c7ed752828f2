/** A modern client that answers what it is asked, round by round. */
import type { MCPServer } from '../../../src/index.ts'
import { type Answer, META, modern, type SendOptions } from '../_client.ts'

export const CAN_ALL = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} }

export interface Asked {
  key: string
  method: string
  params: { message?: string; mode?: string; url?: string; requestedSchema?: unknown }
}

export function askedIn({ result }: Answer): Asked[] {
  const requests = (result?.inputRequests ?? {}) as Record<string, Omit<Asked, 'key'>>
  return Object.entries(requests).map(([key, request]) => ({ key, ...request }))
}

export interface RoundOptions extends SendOptions {
  capabilities?: object
}

/** One request of the call, with what an earlier round left and the answers to it. */
export function round(
  server: Pick<MCPServer, 'handle'>,
  params: { readonly [name: string]: unknown },
  { capabilities = CAN_ALL, ...options }: RoundOptions = {},
  method = 'tools/call',
): Promise<Answer> {
  return modern(server, method, params, { ...options, meta: { [META.clientCapabilities]: capabilities } })
}

export type Responder = (asked: Asked) => unknown

/** Calls until the call is complete; returns the last answer and how many rounds it took. */
export async function converse(
  server: Pick<MCPServer, 'handle'>,
  params: { readonly [name: string]: unknown },
  respond: Responder,
  options: RoundOptions = {},
  method = 'tools/call',
): Promise<{ answer: Answer; rounds: number }> {
  let answer = await round(server, params, options, method)
  let rounds = 1
  while (answer.result?.resultType === 'input_required' && rounds < 20) {
    const inputResponses = Object.fromEntries(askedIn(answer).map((asked) => [asked.key, respond(asked)]))
    const { requestState } = answer.result
    const retry = { ...params, inputResponses, ...(requestState !== undefined && { requestState }) }
    answer = await round(server, retry, options, method)
    rounds++
  }
  return { answer, rounds }
}

export const accept = (content: object) => ({ action: 'accept', content })
