/**
 * What it costs to ask: a one-round elicitation, from the call to the answered retry, beside plain calls. Many run at once, as
 * a suspended call waits a turn of the event loop: that is latency, not work.
 */
import { createTool, MCPServer } from 'mayfly-mcp'
import * as z from 'zod'
import { MODERN } from './requests.ts'

export interface AskingTiming {
  readonly what: string
  /** Microseconds per conversation, one sample a round. */
  readonly samples: readonly number[]
}

const CONCURRENT = 500
const CONVERSATIONS = 2000
const form = z.object({ ok: z.boolean() })

const server = new MCPServer({
  id: 'bench',
  name: 'bench',
  version: '1.0.0',
  log: false,
  secret: 'a-secret-for-the-benchmark-that-is-long-enough',
  tools: {
    plain: createTool({ id: 'plain', execute: async () => 'done' }),
    ask: createTool({ id: 'ask', execute: async (_input, ctx) => (await ctx.elicit('Go on?', form)).action }),
    askAfterStep: createTool({
      id: 'askAfterStep',
      execute: async (_input, ctx) => {
        await ctx.step('load', () => ({ order: 42 }))
        return (await ctx.elicit('Go on?', form)).action
      },
    }),
  },
})

interface Result {
  inputRequests?: Record<string, unknown>
  requestState?: string
  content?: { text: string }[]
}

async function call(name: string, more: object = {}): Promise<Result> {
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: {
      name,
      arguments: {},
      ...more,
      _meta: {
        'io.modelcontextprotocol/protocolVersion': MODERN.protocolVersion,
        'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
      },
    },
  })
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': MODERN.protocolVersion,
    'mcp-method': 'tools/call',
    'mcp-name': name,
  }
  const response = await server.fetch(new Request('http://localhost/mcp', { method: 'POST', headers, body }))
  return ((await response.json()) as { result: Result }).result
}

async function twoPlainCalls(): Promise<void> {
  await call('plain')
  expectText(await call('plain'), 'done')
}

async function converse(name: string): Promise<void> {
  const { inputRequests, requestState } = await call(name)
  const [key] = Object.keys(inputRequests!)
  const inputResponses = { [key!]: { action: 'accept', content: { ok: true } } }
  expectText(
    await call(name, { inputResponses, ...(requestState !== undefined && { requestState }) }),
    'accept',
  )
}

function expectText({ content }: Result, text: string): void {
  if (content?.[0]?.text !== text) throw new Error(`Wrong answer: ${JSON.stringify(content)}`)
}

/** @throws Error as soon as an answer is wrong. */
export async function measureAsking(rounds: number): Promise<readonly AskingTiming[]> {
  const cases = [
    { what: 'two plain calls', run: twoPlainCalls },
    { what: 'a question, nothing to remember', run: () => converse('ask') },
    { what: 'a question after a step, sealed', run: () => converse('askAfterStep') },
  ].map((entry) => ({ ...entry, samples: [] as number[] }))
  for (let round = 0; round <= rounds; round++) {
    for (const { run, samples } of cases) {
      const start = performance.now()
      for (let done = 0; done < CONVERSATIONS; done += CONCURRENT) {
        await Promise.all(Array.from({ length: CONCURRENT }, run))
      }
      // The first round warms up.
      if (round > 0) samples.push(((performance.now() - start) * 1000) / CONVERSATIONS)
    }
  }
  return cases
}
