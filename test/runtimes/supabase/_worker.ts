/**
 * A server in what Supabase’s edge-runtime calls a user worker: plain deno with the one global that it adds, which keeps the
 * promises it is given (`ext/runtime/js/namespaces.js` of supabase/edge-runtime).
 */
import { createTool, MCPServer } from 'mayfly-mcp'

const kept: unknown[] = []

Object.assign(globalThis, { EdgeRuntime: { waitUntil: (promise: unknown) => void kept.push(promise) } })

export default new MCPServer({
  id: 'worker',
  name: 'Worker',
  version: '1.0.0',
  tools: {
    deadline: createTool({
      id: 'deadline',
      description: 'When this call ends at the latest.',
      execute: (_input, ctx) => ({ deadline: ctx.deadline, now: Date.now() }),
    }),
    outlive: createTool({
      id: 'outlive',
      description: 'Hands work to the platform.',
      execute: (_input, ctx) => {
        ctx.waitUntil(new Promise((resolve) => setTimeout(resolve, 10)))
        return 'answered'
      },
    }),
    kept: createTool({
      id: 'kept',
      description: 'What the platform was given.',
      execute: () => ({ promises: kept.filter((one) => one instanceof Promise).length }),
    }),
  },
})
