/** Everything, in one process: `npx mayfly dev examples/everything/server.ts --target node`. */
import { createMemoryBus, createMemoryRendezvous } from 'mayfly-mcp'
import { createMemoryTasks } from 'mayfly-mcp/tasks'
import { createEverything } from './everything.ts'

export default createEverything({
  bus: createMemoryBus(),
  rendezvous: createMemoryRendezvous(),
  tasks: createMemoryTasks(),
})
