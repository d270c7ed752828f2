/** What the client must do on every platform that is a client itself. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { createTool } from '../../../src/index.ts'
import { createMemoryTasks } from '../../../src/tasks.ts'
import { deadUrl, startMayfly, startSessionServer, startSseServer } from '../../unit/client/_servers.ts'

/** `_worker.ts`, running on a platform. */
export interface RunningWorker {
  post(init: {
    readonly method: 'POST'
    readonly headers: { readonly [name: string]: string }
    readonly body: string
  }): Promise<{ readonly status: number; text(): Promise<string> }>
  stop(): Promise<unknown>
}

const add = createTool({
  id: 'add',
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  outputSchema: z.object({ sum: z.number() }),
  execute: ({ a, b }) => ({ sum: a + b }),
})
const ask = createTool({
  id: 'ask',
  execute: async (_input, ctx) => {
    const answer = await ctx.elicit('Your name?', z.object({ name: z.string() }))
    return answer.action === 'accept' ? answer.content.name : answer.action
  },
})

export function clientScenarios(
  platform: string,
  start: () => Promise<RunningWorker>,
  { lacks = [] }: { readonly lacks?: readonly 'HTTP+SSE'[] } = {},
): void {
  describe(`MCPClient on ${platform}`, () => {
    let worker: RunningWorker
    beforeAll(async () => {
      worker = await start()
    })
    afterAll(() => worker?.stop())

    const run = async (servers: object): Promise<{ answers: Record<string, unknown>; errors: object }> => {
      const params = { name: 'call_all', arguments: { servers } }
      const response = await worker.post({
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
      })
      const text = await response.text()
      expect(response.status, text).toBe(200)
      const { result } = JSON.parse(text)
      expect(result.isError, text).not.toBe(true)
      return result.structuredContent
    }

    it('calls a modern server, and answers what it asks', async () => {
      const { answers, errors } = await run({ mayfly: { url: await startMayfly({ tools: { add, ask } }) } })

      expect(errors).toEqual({})
      expect(answers).toMatchObject({ mayfly_add: { sum: 3 }, mayfly_ask: { content: [{ text: 'Ann' }] } })
    })

    it('waits through a task, and answers what it asks', async () => {
      const tools = { add, ask: createTool({ ...ask, task: { mode: 'required', fallback: 'refuse' } }) }
      const url = await startMayfly({ tools, tasks: createMemoryTasks({ pollIntervalMs: 100 }) })

      const { answers, errors } = await run({ mayfly: { url } })

      expect(errors).toEqual({})
      expect(answers).toMatchObject({ mayfly_ask: { content: [{ text: 'Ann' }] } })
    })

    it('calls a legacy server, and ends the session', async () => {
      const { url, sessions } = await startSessionServer()

      const { answers, errors } = await run({ v1: { url } })

      expect(errors).toEqual({})
      expect(answers).toMatchObject({ v1_add: { sum: 3 }, v1_ask: { content: [{ text: 'accept: Ann' }] } })
      expect(sessions.size).toBe(0)
    })

    it(lacks.includes('HTTP+SSE') ? 'cannot call HTTP+SSE, and says so' : 'calls over HTTP+SSE', async () => {
      const { answers, errors } = await run({ sse: { url: (await startSseServer()).url } })

      const isLacking = lacks.includes('HTTP+SSE')
      expect(errors).toEqual(isLacking ? { sse: 'CONNECTION_FAILED' } : {})
      expect(answers).toMatchObject(isLacking ? {} : { sse_add: { sum: 3 } })
    })

    it('lives with servers that are dead, and with commands that cannot be started', async () => {
      const live = { url: await startMayfly({ tools: { add } }) }

      const { answers, errors } = await run({
        dead: { url: await deadUrl() },
        local: { command: '/no/such/command' },
        live,
      })

      expect(answers).toEqual({ live_add: { sum: 3 } })
      expect(errors).toEqual({
        dead: 'CONNECTION_FAILED',
        local: expect.stringMatching(/^(CONNECTION_FAILED|UNSUPPORTED)$/),
      })
    })

    it('is used by several requests at once', async () => {
      const servers = { mayfly: { url: await startMayfly({ tools: { add } }) } }

      const results = await Promise.all(Array.from({ length: 5 }, () => run(servers)))

      for (const { answers } of results) expect(answers).toEqual({ mayfly_add: { sum: 3 } })
    })
  })
}
