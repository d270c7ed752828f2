/** Change notifications over a Durable Object: `cd examples/notifications && npx mayfly dev cloudflare.ts --target cloudflare`. */
import { env } from 'cloudflare:workers'
import { durableObjectBus, durableObjectSubscriptions } from 'mayfly-mcp/cloudflare'
import { createNotes } from './notes.ts'

export { MayflyBus, MayflySubscriptions } from 'mayfly-mcp/cloudflare'

export default createNotes(durableObjectBus(env.CHANGES), durableObjectSubscriptions(env.SUBSCRIPTIONS))
