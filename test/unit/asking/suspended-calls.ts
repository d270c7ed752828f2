/** Run by the memory test with --expose-gc: suspends calls, and prints the heap in use after 20 000 and after 100 000. */
import { createTool, MCPServer } from '../../../src/index.ts'
import { modernRequest } from '../_client.ts'

const big = createTool({
  id: 'big',
  execute: async (_input, ctx) => {
    const ballast = new Uint8Array(1000)
    const answer = await ctx.elicit({
      message: 'Go on?',
      requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } } },
    })
    return `${answer.action} ${ballast.length}`
  },
})
const server = new MCPServer({ id: 'memory', name: 'Memory', version: '1.0.0', log: false, tools: { big } })
const meta = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } }

async function suspend(count: number): Promise<number> {
  for (let call = 0; call < count; call += 100) {
    const requests = Array.from({ length: 100 }, () =>
      server.fetch(modernRequest('tools/call', { name: 'big' }, { meta })),
    )
    for (const response of await Promise.all(requests)) await response.text()
  }
  await new Promise((resolve) => setTimeout(resolve, 50))
  globalThis.gc!()
  return process.memoryUsage().heapUsed
}

const early = await suspend(20_000)
const late = await suspend(80_000)
console.log(JSON.stringify({ early, late }))
