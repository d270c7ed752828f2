/** The same server with sessions, as a long-lived process has them: legacy clients need no rendezvous to be asked. */
import { createSessions } from 'mayfly-mcp/node'
import { createMemoryTasks } from 'mayfly-mcp/tasks'
import { createEverything } from './everything.ts'

export default createSessions(createEverything({ tasks: createMemoryTasks() }))
