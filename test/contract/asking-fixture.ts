/** A server whose tools ask, under each policy; the launchers give it a rendezvous and a secret. */
import { createTool, jsonSchema, MCPServer, type MCPServerConfig } from 'mayfly-mcp'
import * as z from 'zod'

/** Milliseconds a legacy client has to answer. */
export const ASK_TIMEOUT_MS = 1500

let ran = 0

const form = z.object({ name: z.string() })

const ask = createTool({
  id: 'ask',
  description: 'Asks for a name',
  inputSchema: z.object({ policy: z.enum(['explain', 'arguments', 'rendezvous']).default('rendezvous') }),
  execute: async ({ policy }, ctx) => {
    const answer = await ctx.elicit('What is your name?', form, { legacy: policy })
    return answer.action === 'accept' ? `Hello ${answer.content.name}` : `The user chose ${answer.action}`
  },
})

const wizard = createTool({
  id: 'wizard',
  description: 'Asks five times, around a step',
  execute: async (_input, ctx) => {
    const names: string[] = []
    const number = await ctx.step('draw a number', () => {
      ran++
      return crypto.randomUUID()
    })
    for (let round = 1; round <= 5; round++) {
      const answer = await ctx.elicit(`Name ${round}?`, form)
      if (answer.action !== 'accept') return `Stopped in round ${round}`
      names.push(answer.content.name)
    }
    return { number, names }
  },
})

const askModel = createTool({
  id: 'ask-model',
  description: 'Asks the model of the client',
  execute: async (_input, ctx) => {
    const messages = [{ role: 'user' as const, content: { type: 'text', text: 'Say something' } }]
    return (await ctx.createMessage({ messages, maxTokens: 10 })).content
  },
})

const roots = createTool({
  id: 'roots',
  description: 'Asks for the roots',
  execute: (_input, ctx) => ctx.listRoots(),
})

const stepsRun = createTool({
  id: 'steps-run',
  description: 'How often the step of the wizard ran here',
  execute: () => String(ran),
})

const can = createTool({
  id: 'can',
  description: 'What the context says it can do',
  inputSchema: jsonSchema<{ feature: 'elicitation.form' | 'sampling' | 'roots' }>({ type: 'object' }),
  execute: ({ feature }, ctx) => ctx.can(feature),
})

export function createAskingServer(config: Pick<MCPServerConfig, 'rendezvous'>): MCPServer {
  return new MCPServer({
    id: 'asking',
    name: 'Asking',
    version: '1.0.0',
    legacy: 'rendezvous',
    secret: 'shared-by-all-processes-of-the-asking-fixture',
    askTimeoutMs: ASK_TIMEOUT_MS,
    tools: { ask, wizard, 'ask-model': askModel, roots, 'steps-run': stepsRun, can },
    ...config,
  })
}
