/** Events over a Durable Object: `cd examples/events && npx mayfly dev cloudflare.ts --target cloudflare`. */
import { env } from 'cloudflare:workers'
import { durableObjectEvents } from 'mayfly-mcp/cloudflare'
import { createNotes } from './notes.ts'

export { MayflyEvents } from 'mayfly-mcp/cloudflare'

export default createNotes(durableObjectEvents(env.EVENTS), env.EVENTS_TOKEN)
