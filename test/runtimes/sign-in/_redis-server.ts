import { Redis } from 'ioredis'
import { redisGrants } from 'mayfly-mcp/redis'
import { createNotes } from './_notes.ts'

export default createNotes({ store: redisGrants(new Redis(String(process.env.REDIS_URL))) })
