/** A task of ten steps with a sleep and a question, for processes that are killed. */
import { createTool } from 'mayfly-mcp'
import * as z from 'zod'

/** @param begins Called as each step begins, with its task and number. */
export function createKilledJob(begins: (line: string) => unknown) {
  return createTool({
    id: 'job',
    inputSchema: z.object({ name: z.string() }),
    task: { mode: 'required', pollIntervalMs: 100 },
    execute: async ({ name }, ctx) => {
      for (let n = 0; n < 10; n++) {
        await ctx.step(`step ${n}`, async () => {
          await begins(`${name} ${n}\n`)
          await new Promise((resolve) => setTimeout(resolve, 20))
        })
        if (n === 3) await ctx.sleep('a moment', 150)
        if (n === 6) {
          const answer = await ctx.elicit('Go on?', z.object({ text: z.string() }))
          if (answer.action !== 'accept' || answer.content.text !== name) return 'another answer'
        }
      }
      return `done ${name}`
    },
  })
}
