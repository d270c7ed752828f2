/** The tools and the prompt with which the suite is asked something, in the ways that SDK v2 has for it. */
import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type InputRequests,
  inputRequired,
  type McpServer,
} from '@modelcontextprotocol/server'
import * as z from 'zod'
import type { States } from './server.ts'

const NOTHING = z.object({})

const say = (value: unknown) => ({ content: [{ type: 'text' as const, text: JSON.stringify(value) }] })

const form = (message: string, name: string) =>
  inputRequired.elicit({
    message,
    requestedSchema: { type: 'object', properties: { [name]: { type: 'string' } }, required: [name] },
  })

const askName = () => form('What is your name?', 'name')
const confirm = () =>
  inputRequired.elicit({
    message: 'Please confirm',
    requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] },
  })

const askModel = (question: string) =>
  inputRequired.createMessage({
    messages: [{ role: 'user', content: { type: 'text', text: question } }],
    maxTokens: 100,
  })

export function registerAskingTools(server: McpServer, states: States): void {
  registerLegacy(server)
  /** Asks once for `requests`, and then says what was answered. */
  const asksOnce = (name: string, requests: () => InputRequests, hasState = false): void => {
    server.registerTool(name, { description: name, inputSchema: NOTHING }, async (_args, ctx) => {
      const { inputResponses } = ctx.mcpReq
      const isAnswered = Object.keys(requests()).every((key) => inputResponses?.[key] !== undefined)
      if (isAnswered) return say({ 'state-ok': ctx.mcpReq.requestState(), answers: inputResponses })
      const requestState = hasState
        ? await states.mint({ tool: name, nonce: crypto.randomUUID() })
        : undefined
      return inputRequired({
        inputRequests: requests(),
        ...(requestState !== undefined && { requestState }),
      })
    })
  }
  asksOnce('test_input_required_result_elicitation', () => ({ user_name: askName() }))
  asksOnce('test_input_required_result_sampling', () => ({
    capital_question: askModel('What is the capital of France?'),
  }))
  asksOnce('test_input_required_result_list_roots', () => ({ client_roots: inputRequired.listRoots() }))
  asksOnce('test_input_required_result_request_state', () => ({ confirm: confirm() }), true)
  asksOnce('test_input_required_result_tampered_state', () => ({ confirm: confirm() }), true)
  asksOnce(
    'test_input_required_result_multiple_inputs',
    () => ({
      user_name: askName(),
      greeting: askModel('Generate a greeting'),
      client_roots: inputRequired.listRoots(),
    }),
    true,
  )
  registerRounds(server, states)
  server.registerTool(
    'test_streaming_elicitation',
    { description: 'test_streaming_elicitation', inputSchema: NOTHING },
    () => say('Nothing asked'),
  )
  server.registerTool(
    'test_input_required_result_capabilities',
    { description: 'test_input_required_result_capabilities', inputSchema: NOTHING },
    (_args, ctx) => {
      if (ctx.mcpReq.inputResponses !== undefined) return say(ctx.mcpReq.inputResponses)
      const envelope = (ctx.mcpReq.envelope ?? {}) as Record<string, object | undefined>
      const declared = envelope[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined
      const inputRequests: InputRequests = {
        ...(declared?.elicitation !== undefined && { user_name: askName() }),
        ...(declared?.sampling !== undefined && { greeting: askModel('Generate a greeting') }),
      }
      return Object.keys(inputRequests).length === 0
        ? say('Nothing to ask')
        : inputRequired({ inputRequests })
    },
  )
}

function registerRounds(server: McpServer, states: States): void {
  const name = 'test_input_required_result_multi_round'
  server.registerTool(name, { description: name, inputSchema: NOTHING }, async (_args, ctx) => {
    const state = ctx.mcpReq.requestState<{ round?: number; name?: unknown }>()
    const { inputResponses } = ctx.mcpReq
    if (state?.round === 2) return say([state.name, acceptedContent(inputResponses, 'step2')])
    const isFirst = state?.round !== 1
    return inputRequired({
      inputRequests: isFirst
        ? { step1: form('Step 1: What is your name?', 'name') }
        : { step2: form('Step 2: What is your favorite color?', 'color') },
      requestState: await states.mint({
        round: isFirst ? 1 : 2,
        name: acceptedContent(inputResponses, 'step1'),
        nonce: crypto.randomUUID(),
      }),
    })
  })
}

/** What needs a session: a stateless server fails these, in whatever clothes. */
function registerLegacy(server: McpServer): void {
  server.registerTool(
    'test_elicitation',
    { description: 'test_elicitation', inputSchema: z.object({ message: z.string() }) },
    async ({ message }, ctx) =>
      say(
        await ctx.mcpReq.elicitInput({
          message,
          requestedSchema: { type: 'object', properties: { response: { type: 'string' } } },
        }),
      ),
  )
  server.registerTool(
    'test_sampling',
    { description: 'test_sampling', inputSchema: z.object({ prompt: z.string() }) },
    async ({ prompt }, ctx) =>
      say(
        await ctx.mcpReq.requestSampling({
          messages: [{ role: 'user', content: { type: 'text', text: prompt } }],
          maxTokens: 100,
        }),
      ),
  )
  for (const name of ['test_elicitation_sep1034_defaults', 'test_elicitation_sep1330_enums']) {
    server.registerTool(name, { description: name, inputSchema: NOTHING }, async (_args, ctx) =>
      say(
        await ctx.mcpReq.elicitInput({
          message: 'Please review',
          requestedSchema: { type: 'object', properties: { name: { type: 'string', default: 'John Doe' } } },
        }),
      ),
    )
  }
}

export function registerAskingPrompt(server: McpServer): void {
  const name = 'test_input_required_result_prompt'
  server.registerPrompt(name, { description: 'A prompt that asks its user first' }, (ctx) => {
    const answer = acceptedContent<{ context: string }>(ctx.mcpReq.inputResponses, 'user_context')
    if (answer === undefined) {
      return inputRequired({
        inputRequests: { user_context: form('What context should the prompt use?', 'context') },
      })
    }
    const text = `Use this context: ${answer.context}`
    return { messages: [{ role: 'user', content: { type: 'text', text } }] }
  })
}
