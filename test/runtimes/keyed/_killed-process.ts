/** A process that replaces the same entries again and again until it is killed, and says which commits it knows to be made. */
import { Redis } from 'ioredis'
import { Pool } from 'pg'
import { dynamoGrants } from '../../../adapters/dynamodb.ts'
import { postgresGrants } from '../../../adapters/postgres.ts'
import { redisGrants } from '../../../adapters/redis.ts'
import { addOne } from './_adding.ts'
import { connectDynamo, TABLE } from './_dynamo.ts'

const [kind, url] = process.argv.slice(2) as [string, string]
const store =
  kind === 'Postgres'
    ? postgresGrants(new Pool({ connectionString: url }), { table: 'killed' })
    : kind === 'Redis'
      ? redisGrants(new Redis(url))
      : dynamoGrants(connectDynamo(Number(new URL(url).port)), { table: TABLE })

for (;;) if (await addOne(store)) process.stdout.write('made\n')
