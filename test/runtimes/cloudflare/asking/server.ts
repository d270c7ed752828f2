/** The asking fixture as a Worker, with a Durable Object for its rendezvous. */
import { type DurableObjectNamespace, durableObjectRendezvous } from 'mayfly-mcp/cloudflare'
import { createAskingServer } from '../../../contract/asking-fixture.ts'

export { MayflyRendezvous } from 'mayfly-mcp/cloudflare'

export default createAskingServer({
  rendezvous: (env) => durableObjectRendezvous(env.RENDEZVOUS as DurableObjectNamespace),
})
