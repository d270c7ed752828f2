/** Change notifications over Redis: `REDIS_URL=redis://127.0.0.1:6379 npx mayfly dev redis.ts --target node`. */
import { redisBus, redisSubscriptions } from 'mayfly-mcp/redis'
import { createClient } from 'redis'
import { createNotes } from './notes.ts'

const publisher = await createClient({ url: process.env.REDIS_URL ?? 'redis://127.0.0.1:6379' }).connect()
const subscriber = await publisher.duplicate().connect()

export default createNotes(redisBus({ publisher, subscriber }), redisSubscriptions({ client: publisher }))
