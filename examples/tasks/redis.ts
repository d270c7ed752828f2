/** Tasks in Redis: `REDIS_URL=redis://127.0.0.1:6379 npx mayfly dev redis.ts --target node`. */
import { redisTaskStore } from 'mayfly-mcp/redis'
import { createTasks, pollingRunner } from 'mayfly-mcp/tasks'
import { createClient } from 'redis'
import { createReports } from './reports.ts'

const client = await createClient({ url: process.env.REDIS_URL ?? 'redis://127.0.0.1:6379' }).connect()

export default createReports(createTasks({ store: redisTaskStore(client), runner: pollingRunner() }))
