/** The server under load, on Node in a separate process; reports its address and, on request, its memory use. */
import { serve } from 'mayfly-mcp/node'
import server from './server.ts'

const { url } = await serve(server, { port: 0 })
process.send!({ url })
process.on('message', async () => {
  // Memory that finalizers free is collected the next time.
  for (let times = 0; times < 2; times++) {
    globalThis.gc!()
    await new Promise((resolve) => setImmediate(resolve))
  }
  const { rss, heapUsed } = process.memoryUsage()
  process.send!({ rss, heapUsed })
})
process.once('disconnect', () => process.exit(0))
