/** Everything, as a Worker with a Durable Object for its rendezvous: see wrangler.toml beside this file. */
import { createMemoryBus } from 'mayfly-mcp'
import { type DurableObjectNamespace, durableObjectRendezvous } from 'mayfly-mcp/cloudflare'
import { createEverything } from './everything.ts'

export { MayflyRendezvous } from 'mayfly-mcp/cloudflare'

export default createEverything({
  bus: createMemoryBus(),
  rendezvous: (env) => durableObjectRendezvous(env.RENDEZVOUS as DurableObjectNamespace),
})
