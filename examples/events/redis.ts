/** Events over Redis: `REDIS_URL=redis://127.0.0.1:6379 npx mayfly dev redis.ts --target node`. */
import { redisEvents } from 'mayfly-mcp/redis'
import { createClient } from 'redis'
import { createNotes } from './notes.ts'

const client = await createClient({ url: process.env.REDIS_URL ?? 'redis://127.0.0.1:6379' }).connect()

export default createNotes(redisEvents(client), process.env.EVENTS_TOKEN)
