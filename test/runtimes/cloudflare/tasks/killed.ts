/** A Worker whose workerd is killed: each step tells a witness outside that it begins. */
import { env } from 'cloudflare:workers'
import { MCPServer } from 'mayfly-mcp'
import { durableObjectTaskStore, taskObject } from 'mayfly-mcp/cloudflare'
import { createTasks } from 'mayfly-mcp/tasks'
import { createKilledJob } from '../../tasks/_killed-job.ts'

const { Tasks: objects, WITNESS } = env as unknown as {
  Tasks: Parameters<typeof durableObjectTaskStore>[0]
  WITNESS: string
}

const server = new MCPServer({
  id: 'killed',
  name: 'Killed',
  version: '1.0.0',
  log: false,
  tools: {
    job: createKilledJob(async (line) => {
      await (await fetch(WITNESS, { method: 'POST', body: line })).text()
    }),
  },
  tasks: createTasks({
    store: durableObjectTaskStore(objects),
    leaseMs: 800,
    maxIdleRuns: 100,
    maxCrashes: 100,
    maxOpenTasks: 20_000,
  }),
})

export class Tasks extends taskObject(() => server) {}

export default server
