/** Tasks in Durable Objects: `cd examples/tasks && npx mayfly dev cloudflare.ts --target cloudflare`. */
import { env } from 'cloudflare:workers'
import { durableObjectTaskStore, taskObject } from 'mayfly-mcp/cloudflare'
import { createTasks } from 'mayfly-mcp/tasks'
import { createReports } from './reports.ts'

const server = createReports(createTasks({ store: durableObjectTaskStore(env.TASKS) }))

export class MayflyTasks extends taskObject(() => server) {}

export default server
