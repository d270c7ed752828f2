/** Events in one process: `npx mayfly dev memory.ts --target node`. */
import { createMemoryEvents } from 'mayfly-mcp/mcp-events'
import { createNotes } from './notes.ts'

export default createNotes(createMemoryEvents(), process.env.EVENTS_TOKEN)
