/** A process that runs the tasks of `tasks-poison.ts`: `node tasks-poison-process.ts <url of Postgres>`. */
import { MCPServer } from 'mayfly-mcp'
import { serve } from 'mayfly-mcp/node'
import { postgresTaskStore } from 'mayfly-mcp/postgres'
import { createTasks, pollingRunner } from 'mayfly-mcp/tasks'
import { Pool } from 'pg'
import { createJob, LEASE_MS, SERVER } from './tasks-poison.ts'

const store = postgresTaskStore(new Pool({ connectionString: process.argv[2]!, max: 20 }), {
  table: 'mayfly_tasks',
  onError: () => {},
})
const tasks = createTasks({ store, runner: pollingRunner({ everyMs: 500 }), leaseMs: LEASE_MS })
const server = new MCPServer({ ...SERVER, tools: { job: createJob() }, tasks, onError: () => {} })
await serve(server, { port: 0 })
