/** In one process. */
import { createMemoryGrants } from 'mayfly-mcp/sign-in'
import { createNotes } from './notes.ts'

export default createNotes(createMemoryGrants())
