/** Each engine of `ABILITIES` is used on the runtime that has it; what cannot be used is refused by the build. */
import { existsSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ABILITIES, type Abilities, ALL_ABILITIES, type Engine } from '../../../deploy/contract/abilities.ts'
import { bindingFindings } from '../../../deploy/doctor/findings.ts'
import { targets } from '../../../deploy/targets/all.ts'
import { type ServedArtefact, serveArtefact, withEnv } from '../_artefact.ts'
import { type BusServer, startNatsServer, startPostgresServer, startRedisServer } from '../buses/_servers.ts'

const FIXTURE = 'test/runtimes/engines/fixture.ts'

/** By a test of its own: what is bound to its platform, and runners, which need one. */
const ELSEWHERE: { readonly [E in Engine]?: string } = {
  durableObjectBus: 'test/runtimes/cloudflare/bus.test.ts',
  durableObjectRendezvous: 'test/runtimes/cloudflare/rendezvous.test.ts',
  durableObjectSubscriptions: 'test/runtimes/cloudflare/legacy.test.ts',
  durableObjectTaskStore: 'test/runtimes/tasks/stores/durable-object.test.ts',
  dynamoTaskStore: 'test/runtimes/tasks/stores/dynamodb.test.ts',
  pollingRunner: 'test/unit/tasks/runners.test.ts',
  cron: 'test/unit/tasks/endpoint.test.ts',
  sqsRunner: 'test/runtimes/tasks/runners/sqs.test.ts',
  durableFunctions: 'test/runtimes/tasks/runners/durable.test.ts',
  alarm: 'test/runtimes/tasks/stores/durable-object.test.ts',
  cloudflareAlarms: 'test/runtimes/tasks/runners/cloudflare.test.ts',
  cloudflareQueues: 'test/runtimes/tasks/runners/cloudflare.test.ts',
  cloudflareWorkflows: 'test/runtimes/tasks/runners/cloudflare.test.ts',
}

const enginesOf = ({ buses, rendezvous, subscriptions, stores, runners }: Abilities): readonly Engine[] => [
  ...buses,
  ...rendezvous,
  ...subscriptions,
  ...stores,
  ...runners,
]

const triedHere = (abilities: Abilities) =>
  enginesOf(abilities).filter((engine) => ELSEWHERE[engine] === undefined)

let servers: readonly BusServer[] = []
let env: { readonly [name: string]: string } = {}
beforeAll(async () => {
  servers = await Promise.all([startRedisServer(), startPostgresServer(), startNatsServer()])
  const [redis, postgres, nats] = servers.map(({ url }) => url)
  env = { REDIS_URL: redis!, DATABASE_URL: postgres!, NATS_URL: nats! }
})
afterAll(() => Promise.all(servers.map((server) => server.stop())))

async function use(url: URL, engine: string): Promise<string> {
  const params = { name: 'use', arguments: { engine } }
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  })
  const { result } = (await response.json()) as { result: { content: { text: string }[] } }
  return result.content[0]!.text
}

const SERVED = [...targets].filter(([, { abilities }]) => triedHere(abilities).length > 0)

describe.each(SERVED)('%s', { timeout: 120_000 }, (_name, target) => {
  let served: ServedArtefact
  beforeAll(async () => {
    served = await serveArtefact(FIXTURE, withEnv(target, env))
  }, 120_000)
  afterAll(() => served?.stop())

  it.each([...triedHere(target.abilities), 'createMemoryRendezvous', 'createMemorySubscriptions'])(
    '%s works',
    async (engine) => {
      expect(await use(served.url, engine)).toBe('works')
    },
  )
})

it('vercel-edge has no sockets → the build refuses a server that needs them', {
  timeout: 120_000,
}, async () => {
  await expect(serveArtefact(FIXTURE, targets.get('vercel-edge')!)).rejects.toThrow(/node:net/)
})

it.each(['vercel-edge', 'netlify-edge'])('%s has no shared engine → doctor says so', (name) => {
  const target = targets.get(name)!
  const info = { legacy: 'explain', hasBus: true, hasRendezvous: false, hasSecret: false } as const
  const messages = bindingFindings(info, target, []).map(({ message }) => message)
  expect(messages).toContainEqual(expect.stringMatching(/opens no connection to Redis, Postgres or NATS/))
})

it('each engine that is tried elsewhere is named in that test', () => {
  for (const engine of new Set(Object.values(ABILITIES).flatMap(enginesOf))) {
    const file = ELSEWHERE[engine]
    if (file !== undefined) expect(existsSync(file), `${engine}: ${file}`).toBe(true)
    else expect(readFileSync(FIXTURE, 'utf8')).toContain(`${engine}:`)
  }
})

it('every target has its abilities', () => {
  for (const name of targets.keys()) expect(ALL_ABILITIES.has(name), name).toBe(true)
})
