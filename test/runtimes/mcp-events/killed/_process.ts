/** A process that serves Events, to be killed: `node _process.ts <store> <url of the store> <milliseconds that its clock is ahead>`. */
import { Redis } from 'ioredis'
import { Pool } from 'pg'
import { dynamoEvents } from '../../../../adapters/dynamodb.ts'
import { serve } from '../../../../adapters/node.ts'
import { postgresEvents } from '../../../../adapters/postgres.ts'
import { redisEvents } from '../../../../adapters/redis.ts'
import { pollingRunner } from '../../../../src/tasks.ts'
import { connectDynamo, TABLE } from '../../keyed/_dynamo-client.ts'
import { setAhead } from './_clock.ts'
import { createKilled } from './_server.ts'

const [kind, url, ahead] = process.argv.slice(2) as [string, string, string]
setAhead(Number(ahead))
const store =
  kind === 'Postgres'
    ? postgresEvents(new Pool({ connectionString: url }))
    : kind === 'Redis'
      ? redisEvents(new Redis(url))
      : dynamoEvents(connectDynamo(Number(new URL(url).port)), { table: TABLE })

const server = createKilled({ store, runner: pollingRunner({ everyMs: 100 }) })
const running = await serve(server, { port: 0, hostname: '127.0.0.1' })
console.log(running.url)
