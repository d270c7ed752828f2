/** The floor of the cases that need more than echo tools: each answer is a text with a number in it. */
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose'
import type { FetchHandler } from '../peers/peer.ts'
import { AUDIENCE, ISSUER, PROMPT, QUESTION, RESOURCE } from './features.ts'

interface Message {
  readonly id: number
  readonly method: string
  readonly params: {
    readonly name?: string
    readonly arguments?: { readonly name?: string; readonly text?: string }
    readonly inputResponses?: { readonly answer: { readonly action: string } }
    readonly _meta?: { readonly progressToken?: string }
  }
}

const INIT = { headers: { 'content-type': 'application/json' } }
const STREAM = { headers: { 'content-type': 'text/event-stream' } }

export function serveFeatures(): FetchHandler {
  return async (request) => {
    const message: Message = JSON.parse(await request.text())
    if (message.params.name === 'progress') return new Response(progressStream(message), STREAM)
    return new Response(toText(message, resultOf(message)), INIT)
  }
}

/** Checks the token, and nothing else. */
export function serveAuth(keys: JSONWebKeySet): FetchHandler {
  const findKey = createLocalJWKSet(keys)
  return async (request) => {
    const token = request.headers.get('authorization')?.slice('Bearer '.length) ?? ''
    await jwtVerify(token, findKey, { issuer: ISSUER, audience: AUDIENCE })
    const message: Message = JSON.parse(await request.text())
    return new Response(toText(message, text(message.params.arguments?.text)), INIT)
  }
}

function resultOf({ method, params }: Message): object {
  if (method === 'resources/read') return { contents: [RESOURCE] }
  if (method === 'prompts/get') {
    const content = { type: 'text', text: PROMPT.textFor(params.arguments?.name ?? '') }
    return { messages: [{ role: 'user', content }] }
  }
  if (params.inputResponses !== undefined) return text(params.inputResponses.answer.action)
  const asked = {
    method: 'elicitation/create',
    params: { mode: 'form', message: QUESTION, requestedSchema: SCHEMA },
  }
  return { resultType: 'input_required', inputRequests: { answer: asked } }
}

const SCHEMA = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] }

function progressStream(message: Message): string {
  const params = { progressToken: message.params._meta?.progressToken, progress: 1, total: 2 }
  const notification = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params })
  return `data: ${notification}\n\ndata: ${toText(message, text('done'))}\n\n`
}

function text(value: string | undefined): object {
  return { content: [{ type: 'text', text: value }] }
}

function toText({ id }: Message, result: object): string {
  return JSON.stringify({ jsonrpc: '2.0', id, result })
}
