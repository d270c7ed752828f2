/** Tasks in the memory of one process: `npx mayfly dev memory.ts --target node`. */
import { createMemoryTasks } from 'mayfly-mcp/tasks'
import { createReports } from './reports.ts'

export default createReports(createMemoryTasks())
