/** On Lambda's own runtime client, behind each of its triggers, with connections in Redis: forms come as Base64, and cookies in three ways. */
import { afterAll, beforeAll } from 'vitest'
import { TRIGGERS } from '../../../../deploy/targets/lambda/events.ts'
import { type BusServer, startRedisServer } from '../../buses/_servers.ts'
import { type Built, buildFunction, type FunctionOptions } from '../../lambda/_function.ts'
import { signInFlow } from '../_flow.ts'

let built: Built
let redis: BusServer
beforeAll(async () => {
  redis = await startRedisServer()
  built = await buildFunction('../sign-in/_redis-server.ts')
})
afterAll(async () => {
  built?.[Symbol.dispose]()
  await redis?.stop()
})

interface Way extends Pick<FunctionOptions, 'trigger' | 'handler' | 'stage'> {
  readonly path?: string
}

const ways: readonly (readonly [string, Way])[] = [
  ...TRIGGERS.map(
    (trigger) => [trigger, { trigger, ...(trigger === 'rest-api' && { path: '/prod/mcp' }) }] as const,
  ),
  ['function-url that streams', { trigger: 'function-url', handler: 'index.streamingHandler' }],
  ['http-api with a stage', { trigger: 'http-api', stage: 'live', path: '/live/mcp' }],
]

for (const [name, { path, ...options }] of ways) {
  const isBalancer = options.trigger.startsWith('alb')
  signInFlow(
    `Lambda behind ${name}`,
    {
      async start(variables, port) {
        const running = await built.start({ ...options, port, env: { ...variables, REDIS_URL: redis.url } })
        return { url: running.url, stop: () => Promise.resolve(running[Symbol.asyncDispose]()) }
      },
      // A load balancer takes the host from the client, and without multi-value headers one cookie of each response.
      vouchesForHost: !isBalancer,
      ...(options.trigger === 'alb' && { maxCookies: 1 }),
    },
    path,
  )
}
