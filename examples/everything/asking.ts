/**
 * The tools and the prompt with which the conformance suite is asked something.
 */
import { createPrompt, createTool, type ElicitAnswer, type McpContext } from 'mayfly-mcp'
import { createTool as createSdkTool, type SdkToolContext } from 'mayfly-mcp/sdk-context'
import * as z from 'zod'

const say = (answer: ElicitAnswer<unknown>) =>
  `Elicitation completed: action=${answer.action}, content=${JSON.stringify(answer.action === 'accept' ? answer.content : {})}`

const askName = (ctx: McpContext) =>
  ctx.elicit('What is your name?', z.object({ name: z.string() }), { key: 'user_name' })

/** The same question under a name that is ours to choose: returned, not waited for, as with the SDK v2. */
const returnName = ({ mcpReq }: SdkToolContext) => {
  const answer = mcpReq.inputResponses?.user_name as ElicitAnswer<unknown> | undefined
  if (typeof answer?.action === 'string') return say(answer)
  const properties = { name: { type: 'string' } }
  const requestedSchema = { type: 'object', properties, required: ['name'] }
  const params = { mode: 'form', message: 'What is your name?', requestedSchema }
  return {
    resultType: 'input_required' as const,
    inputRequests: { user_name: { method: 'elicitation/create', params } },
  }
}

const askModel = (ctx: McpContext, text: string) =>
  ctx.createMessage({ messages: [{ role: 'user', content: { type: 'text', text } }], maxTokens: 100 })

/** Something to remember, so that the round has a state. */
const remember = (ctx: McpContext) => ctx.step('remember', () => 'remembered')

const asking = (description: string, execute: (ctx: McpContext) => Promise<unknown>) =>
  createTool({ id: description, description, execute: (_input, ctx) => execute(ctx) })

export const askingTools = {
  test_elicitation: createTool({
    id: 'test_elicitation',
    description: 'Asks the user what it is told to ask',
    inputSchema: z.object({ message: z.string() }),
    execute: async ({ message }, ctx) => say(await ctx.elicit(message, z.object({ response: z.string() }))),
  }),
  test_sampling: createTool({
    id: 'test_sampling',
    description: 'Asks the model of the client',
    inputSchema: z.object({ prompt: z.string() }),
    execute: async ({ prompt }, ctx) =>
      `LLM response: ${JSON.stringify((await askModel(ctx, prompt)).content)}`,
  }),
  test_elicitation_sep1034_defaults: asking('Asks with a form that has defaults', async (ctx) =>
    say(
      await ctx.elicit(
        'Please review and update the form fields with defaults',
        z.object({
          name: z.string().default('John Doe'),
          age: z.int().min(0).max(150).default(30),
          score: z.number().default(95.5),
          status: z.enum(['active', 'inactive', 'pending']).default('active'),
          verified: z.boolean().default(true),
        }),
      ),
    ),
  ),
  test_elicitation_sep1330_enums: asking('Asks with a form of every kind of choice', async (ctx) =>
    say(
      await ctx.elicit({
        mode: 'form',
        message: 'Please select options from the enum fields',
        requestedSchema: {
          type: 'object',
          properties: {
            untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
            titledSingle: {
              type: 'string',
              oneOf: [
                { const: 'value1', title: 'First Option' },
                { const: 'value2', title: 'Second Option' },
                { const: 'value3', title: 'Third Option' },
              ],
            },
            legacyEnum: {
              type: 'string',
              enum: ['opt1', 'opt2', 'opt3'],
              enumNames: ['Option One', 'Option Two', 'Option Three'],
            },
            untitledMulti: {
              type: 'array',
              minItems: 1,
              maxItems: 3,
              items: { type: 'string', enum: ['option1', 'option2', 'option3'] },
            },
            titledMulti: {
              type: 'array',
              minItems: 1,
              maxItems: 3,
              items: {
                anyOf: [
                  { const: 'value1', title: 'First Choice' },
                  { const: 'value2', title: 'Second Choice' },
                  { const: 'value3', title: 'Third Choice' },
                ],
              },
            },
          },
        },
      }),
    ),
  ),
  test_streaming_elicitation: asking('Asks while it streams', async (ctx) => {
    ctx.reportProgress({ progress: 1, message: 'About to ask' })
    return say(await askName(ctx))
  }),
  test_input_required_result_elicitation: createSdkTool({
    id: 'test_input_required_result_elicitation',
    description: 'Asks the user once',
    execute: (_input, ctx) => returnName(ctx),
  }),
  test_input_required_result_sampling: asking(
    'Asks the model once',
    async (ctx) => (await askModel(ctx, 'What is the capital of France?')).content,
  ),
  test_input_required_result_list_roots: asking('Asks for the roots', async (ctx) => ctx.listRoots()),
  test_input_required_result_request_state: asking('Asks, and has something to remember', async (ctx) => {
    const state = await remember(ctx)
    const answer = await ctx.elicit('Please confirm', z.object({ ok: z.boolean() }))
    return `state-ok (${state}): ${say(answer)}`
  }),
  test_input_required_result_multiple_inputs: asking('Asks three things at once', async (ctx) => {
    await remember(ctx)
    const [name, greeting, roots] = await Promise.all([
      askName(ctx),
      askModel(ctx, 'Generate a greeting'),
      ctx.listRoots(),
    ])
    return `${say(name)} ${JSON.stringify(greeting.content)} ${roots.length}`
  }),
  test_input_required_result_multi_round: asking('Asks two things, one after the other', async (ctx) => {
    await remember(ctx)
    const name = await ctx.elicit('Step 1: What is your name?', z.object({ name: z.string() }))
    const color = await ctx.elicit('Step 2: What is your favorite color?', z.object({ color: z.string() }))
    return `${say(name)} ${say(color)}`
  }),
  test_input_required_result_tampered_state: asking(
    'Asks with a state that must not be changed',
    async (ctx) => {
      await remember(ctx)
      return say(await ctx.elicit('Please confirm', z.object({ ok: z.boolean() })))
    },
  ),
  test_input_required_result_capabilities: asking(
    'Asks for what the client can do, and nothing else',
    async (ctx) => {
      const answers: unknown[] = await Promise.all([
        ...(ctx.can('sampling').available ? [askModel(ctx, 'What is the capital of France?')] : []),
        ...(ctx.can('elicitation.form').available ? [askName(ctx)] : []),
      ])
      return `${answers.length} answers`
    },
  ),
}

export const askingPrompt = createPrompt({
  description: 'A prompt that asks its user first',
  get: async (_args, ctx) => {
    const answer = await ctx.elicit('What context should the prompt use?', z.object({ context: z.string() }))
    return `Use this context: ${answer.action === 'accept' ? answer.content.context : 'none'}`
  },
})
