/** The Worker of these tests, with connections in a Durable Object. */
import { env } from 'cloudflare:workers'
import { type DurableObjectNamespace, durableObjectGrants } from 'mayfly-mcp/cloudflare'
import { createNotes } from '../_notes.ts'

export { MayflyGrants } from 'mayfly-mcp/cloudflare'

const { PUBLIC_URL: publicUrl } = env as { readonly PUBLIC_URL?: string }

export default createNotes({
  store: ({ GRANTS }) => durableObjectGrants(GRANTS as DurableObjectNamespace),
  ...(publicUrl !== undefined && { publicUrl }),
})
