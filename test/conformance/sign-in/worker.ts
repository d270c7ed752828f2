/** On workerd, with a Durable Object for its grants. */
import { type DurableObjectNamespace, durableObjectGrants } from 'mayfly-mcp/cloudflare'
import { createNotes } from './notes.ts'

export { MayflyGrants } from 'mayfly-mcp/cloudflare'

export default createNotes(({ GRANTS }) => durableObjectGrants(GRANTS as DurableObjectNamespace))
