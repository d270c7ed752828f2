/** Run by Bun: prints how a second listener on the port of the first one ends, for both ways to serve. */
import { type BunServer, bun, serve } from '../../../adapters/bun.ts'
import { MCPServer } from '../../../src/index.ts'

declare const Bun: { serve(options: object): BunServer }

const server = new MCPServer({ name: 'a', version: '1', log: false })
const first = serve(server, { port: 0 })
const { port } = first
const seen = [
  () => serve(server, { port }),
  () => Bun.serve({ ...bun(server), port, hostname: '127.0.0.1' }),
].map((listen) => {
  try {
    listen()
    return 'listening'
  } catch (error) {
    return (error as { code?: string }).code
  }
})
console.log(JSON.stringify(seen))
process.exit(0)
