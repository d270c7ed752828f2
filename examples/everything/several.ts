/** Everything, in several processes that share a Redis: `REDIS_URL=redis://127.0.0.1:6379`. */
import { redisBus, redisRendezvous, redisTaskStore } from 'mayfly-mcp/redis'
import { createTasks, pollingRunner } from 'mayfly-mcp/tasks'
import { createClient } from 'redis'
import { createEverything } from './everything.ts'

const publisher = await createClient({ url: process.env.REDIS_URL! }).connect()
const subscriber = await publisher.duplicate().connect()

export default createEverything({
  bus: redisBus({ publisher, subscriber }),
  rendezvous: redisRendezvous({ publisher, subscriber }),
  tasks: createTasks({ store: redisTaskStore(publisher), runner: pollingRunner() }),
})
