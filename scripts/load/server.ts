/** The server under load: tools return their input, so that a client can recognize its own answer. */
import { createTool, MCPServer } from 'mayfly-mcp'
import * as z from 'zod'

const inputSchema = z.object({ nonce: z.string() })

/** Calls of `wait` under way in this process or isolate. */
let waiting = 0

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

const echo = createTool({
  id: 'echo',
  description: 'Says its nonce again, and who asks',
  inputSchema,
  execute: ({ nonce }, ctx) => ({ nonce, client: ctx.clientInfo?.name ?? '' }),
})

const count = createTool({
  id: 'count',
  description: 'Counts to three, and says so',
  inputSchema,
  execute: async ({ nonce }, ctx) => {
    for (let progress = 1; progress <= 3; progress++) {
      ctx.reportProgress({ progress, total: 3, message: nonce })
      await pause(20)
    }
    return { nonce }
  },
})

const order = createTool({
  id: 'order',
  description: 'Asks its user before it says its nonce again',
  inputSchema,
  execute: async ({ nonce }, ctx) => {
    const step = await ctx.step('remember', () => nonce)
    const answer = await ctx.elicit(`Order ${nonce}?`, z.object({ word: z.string() }), { key: 'sure' })
    return { nonce, step, word: answer.action === 'accept' ? answer.content.word : answer.action }
  },
})

const wait = createTool({
  id: 'wait',
  description: 'Waits for its client to go away, at most 10 seconds',
  inputSchema,
  execute: async ({ nonce }, { signal }) => {
    waiting++
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, 10_000)
      signal.addEventListener('abort', () => resolve(clearTimeout(timer)), { once: true })
    })
    waiting--
    return { nonce }
  },
})

const stillWaiting = createTool({
  id: 'waiting',
  description: 'How many calls wait for a client that has gone, or will go',
  execute: () => ({ waiting }),
})

export default new MCPServer({
  id: 'load',
  name: 'Load',
  version: '1.0.0',
  secret: 'of-no-value-outside-the-load-tests-of-mayfly',
  tools: { echo, count, order, wait, waiting: stillWaiting },
  resources: [{ uriTemplate: 'notes://{nonce}', read: ({ variables }) => `note ${variables.nonce}` }],
  // workerd notices that a client has gone when it writes to it.
  http: { streamAfterMs: 500, keepAliveMs: 500 },
  log: false,
})
