/** Shows to a test, which is another process, what Deno does to a call. */
import { createTool, MCPServer } from 'mayfly-mcp'
import * as z from 'zod'

const PERMISSIONS = ['env', 'ffi', 'net', 'read', 'run', 'sys', 'write'] as const

const { Deno } = globalThis as typeof globalThis & {
  Deno: { permissions: { query(descriptor: { name: string }): Promise<{ state: string }> } }
}

const delay = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** Whether the signal of the last `answer` was aborted, a while after its response had ended. */
let wasAborted: boolean | undefined

export default new MCPServer({
  id: 'deno',
  name: 'Deno',
  version: '1.0.0',
  tools: {
    granted: createTool({
      id: 'granted',
      description: 'The permissions that this process has.',
      execute: async () => {
        const states = await Promise.all(PERMISSIONS.map((name) => Deno.permissions.query({ name })))
        return { granted: PERMISSIONS.filter((_name, index) => states[index]!.state === 'granted') }
      },
    }),
    answer: createTool({
      id: 'answer',
      description: 'Answers, and looks at its signal a while later.',
      execute: (_input, ctx) => {
        ctx.reportProgress({ progress: 1 })
        wasAborted = undefined
        ctx.waitUntil(
          delay(200).then(() => {
            wasAborted = ctx.signal.aborted
          }),
        )
        return 'answered'
      },
    }),
    later: createTool({
      id: 'later',
      description: 'What became of the signal of `answer`.',
      execute: () => ({ wasAborted: wasAborted ?? null }),
    }),
    slow: createTool({
      id: 'slow',
      description: 'Says that it runs, and answers a while later.',
      inputSchema: z.object({ ms: z.number() }),
      execute: async ({ ms }, ctx) => {
        ctx.reportProgress({ progress: 1 })
        await delay(ms)
        return 'done'
      },
    }),
  },
})
