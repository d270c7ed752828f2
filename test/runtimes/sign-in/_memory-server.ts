import { createMemoryGrants } from 'mayfly-mcp/sign-in'
import { createNotes } from './_notes.ts'

export default createNotes({ store: createMemoryGrants() })
