/** Everything, as a Worker with Durable Objects for its rendezvous and its tasks: see wrangler.toml beside this file. */
import { env as bindings } from 'cloudflare:workers'
import { createMemoryBus } from 'mayfly-mcp'
import {
  type DurableObjectNamespace,
  durableObjectRendezvous,
  durableObjectTaskStore,
  taskObject,
} from 'mayfly-mcp/cloudflare'
import { createTasks } from 'mayfly-mcp/tasks'
import { createEverything } from './everything.ts'

export { MayflyRendezvous } from 'mayfly-mcp/cloudflare'

const server = createEverything({
  bus: createMemoryBus(),
  rendezvous: (env) => durableObjectRendezvous(env.RENDEZVOUS as DurableObjectNamespace),
  tasks: createTasks({ store: durableObjectTaskStore(bindings.TASKS) }),
})

export class MayflyTasks extends taskObject(() => server) {}

export default server
