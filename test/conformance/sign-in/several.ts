/** In several processes that share a Redis. */
import { redisGrants } from 'mayfly-mcp/redis'
import { createClient } from 'redis'
import { createNotes } from './notes.ts'

export default createNotes(redisGrants(await createClient({ url: process.env.REDIS_URL! }).connect()))
