/** Default names in shared places hold the server and its stage, whatever the engine. */
import { readFileSync } from 'node:fs'
import { describe, expect, it, vi } from 'vitest'
import { queueRunner } from '../../../adapters/cloudflare.ts'
import { postgresBus, postgresTaskSchema, postgresTaskStore } from '../../../adapters/postgres.ts'
import { redisBus } from '../../../adapters/redis.ts'
import { createStoreOwner } from '../../../src/definition/store-owner.ts'
import { MCPServer } from '../../../src/index.ts'
import { createMemoryTaskStore, createTaskEndpoint, createTasks } from '../../../src/tasks.ts'
import { createTaskAdmin } from '../../../src/tasks-admin.ts'
import { ENGINES, UNNAMED } from './_engines.ts'

/** What shares a place by its kind of name. */
const SHARED = /(?:Bus|Store|Subscriptions|Limiter|Runner|Rendezvous|Queue|Cache|Lock|Grants|[a-z]Events)s?$/

const entries = JSON.parse(
  readFileSync(new URL('../../package/exports.json', import.meta.url), 'utf8'),
) as Record<string, { readonly values: readonly string[] }>

it('every exported bus, store, limiter and runner is here', () => {
  const exported = Object.entries(entries)
    .filter(([entry]) => !/client|retrieval/.test(entry))
    .flatMap(([, { values }]) => values.filter((name) => SHARED.test(name)))
  const known = [...Object.keys(ENGINES), ...Object.keys(UNNAMED)]
  expect([...new Set(exported)].filter((name) => !known.includes(name))).toEqual([])
})

const nameIn = (asked: readonly string[]): string[] => [
  ...new Set(
    asked.flatMap((text) => text.match(/mayfly[_.][a-z0-9_]*shop[a-z0-9_]*|shop@\w+|"shop\\?"/g) ?? []),
  ),
]

describe.each(Object.entries(ENGINES))('%s', (_name, engine) => {
  it('is named after its server', async () => {
    const asked = await engine.use({})
    expect(nameIn(asked), asked.join('\n')).not.toEqual([])
    // An identifier at its end may have two underscores of its own.
    expect(asked.join()).not.toMatch(/shop__|@staging/)
  })

  it('is named after its stage', async () => {
    const asked = await engine.use({ MAYFLY_STAGE: 'staging' })
    expect(asked.join('\n')).toMatch(/mayfly[_.]shop__staging|shop@staging/)
    expect(asked.join('\n')).not.toMatch(/mayfly[_.]shop(?!__staging)|"shop\\?"/)
  })

  it('keeps the name that its code gives it', async () => {
    if (engine.given === undefined) return expect(engine.given).toBeUndefined()
    const asked = await engine.use({ MAYFLY_STAGE: 'staging' }, engine.given)
    expect(asked.join('\n')).toContain(engine.given)
    expect(asked.join('\n')).not.toContain('shop__')
  })
})

describe('a bus or a store', () => {
  const client = { on() {}, publish() {}, listenerCount: () => 1, query: async () => [] } as never
  const serverOf = (id: string, bus: ReturnType<typeof redisBus>) =>
    new MCPServer({ id, name: id, version: '1.0.0', log: false, bus })

  it('given to two servers → TypeError that says how to share it', () => {
    const bus = redisBus({ publisher: client, subscriber: client })
    serverOf('a', bus)
    serverOf('a', bus)
    expect(() => serverOf('b', bus)).toThrow(/given to the servers "a" and "b".*"prefix"/)
    const shared = redisBus({ publisher: client, subscriber: client, prefix: 'both' })
    serverOf('a', shared)
    expect(() => serverOf('b', shared)).not.toThrow()
  })

  it('used without a server → TypeError that names the option', async () => {
    await expect(postgresBus({ client }).publish({ type: 'toolsListChanged' })).rejects.toThrow(
      /belongs to no server.*"prefix", such as "mayfly_shop"/,
    )
    await expect(postgresTaskStore(client).read('a'.repeat(32))).rejects.toThrow(
      /belongs to no server.*"table", such as "mayfly.shop_tasks"/,
    )
  })

  it('migrate() without a server → TypeError; with one it creates its table', async () => {
    const asked: string[] = []
    const store = postgresTaskStore({
      query: async (text: string) => {
        asked.push(text)
        return []
      },
    })
    await expect(store.migrate()).rejects.toThrow(TypeError)
    await store.migrate({ server: 'shop', stage: 'staging' })
    expect(asked.join()).toContain('CREATE TABLE IF NOT EXISTS mayfly.shop__staging_tasks (')
    await expect(store.migrate({ sever: 'shop' } as never)).rejects.toThrow(/sever/)
  })
})

describe('postgresTaskSchema', () => {
  it.each([
    [{ server: 'shop' }, 'mayfly.shop_tasks'],
    [{ server: '7-eleven', stage: 'pr-1' }, 'mayfly._7_eleven__pr_1_tasks'],
    ['mayfly_tasks', 'mayfly_tasks'],
  ])('%j → %s', (of, table) => {
    expect(postgresTaskSchema(of)).toContain(`CREATE TABLE IF NOT EXISTS ${table} (`)
  })

  it('creates the schema of the default, and no other', () => {
    expect(postgresTaskSchema({ server: 'shop' })).toMatch(/^CREATE SCHEMA IF NOT EXISTS mayfly;/)
    expect(postgresTaskSchema('private.tasks')).not.toContain('CREATE SCHEMA')
  })
})

describe('MAYFLY_STAGE', () => {
  it.each([
    ['../prod', 'MAYFLY_STAGE must be a name'],
    ['production', 'MAYFLY_STAGE names production, which is not a stage: without MAYFLY_STAGE'],
  ])('%s → 500 and an error that says so, not another name', async (stage, words) => {
    const errors: unknown[] = []
    const server = new MCPServer({
      id: 'a',
      name: 'A',
      version: '1.0.0',
      log: false,
      onError: (error) => errors.push(error),
    })
    const response = await server.fetch(new Request('https://a.example/mcp'), { MAYFLY_STAGE: stage })
    expect(response.status).toBe(500)
    expect(String(errors[0])).toContain(words)
  })

  it('of the process that is none → calls are refused by the rate limiter, not let in uncounted', async () => {
    const limit = vi.fn(() => ({ ok: true }) as const)
    const onError = vi.fn()
    const [name, version] = ['Shop', '1.0.0']
    const server = new MCPServer({ name, version, log: false, onError, http: { rateLimiter: { limit } } })
    vi.stubEnv('MAYFLY_STAGE', 'production')
    try {
      const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })
      const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
      const init = { method: 'POST', headers, body: ping }
      for (let calls = 0; calls < 2; calls++)
        expect((await server.fetch(new Request('https://a.example/mcp', init))).status).toBe(429)
      expect(limit).not.toHaveBeenCalled()
      expect(String(onError.mock.lastCall?.[0])).toContain('MAYFLY_STAGE names production')
    } finally {
      vi.unstubAllEnvs()
    }
  })

  it('that comes after the names were made without it → TypeError', () => {
    const owner = createStoreOwner('shop')
    owner.see({})
    expect(owner.name()).toBe('mayfly_shop')
    // Each time, since the next request would use the places of production.
    for (let calls = 0; calls < 2; calls++) expect(() => owner.see(staged)).toThrow(/before it was known/)
  })

  it('another one after the first use is refused, each time', () => {
    const owner = createStoreOwner('shop')
    owner.see(staged)
    expect(owner.name()).toBe('mayfly_shop__staging')
    owner.see({ ...staged })
    owner.see({})
    const other = { MAYFLY_STAGE: 'qa' }
    for (let calls = 0; calls < 2; calls++) expect(() => owner.see(other)).toThrow(/before it was known/)
  })

  it('and the id are one tag together, which no other server has; without an @ it is what both say', () => {
    const ids = [
      'shop',
      'shop@staging',
      'shop@',
      '@staging',
      'shop@@staging',
      'shop@staging@staging',
      '@',
      'a%40b',
    ]
    const places = ids.flatMap((id) => [undefined, 'staging', 'qa'].map((stage) => ({ id, stage })))
    const tags = places.map(({ id, stage }) => {
      const owner = createStoreOwner(id)
      owner.see({ MAYFLY_STAGE: stage })
      return owner.tag()
    })
    expect(new Set(tags).size).toBe(tags.length)
    expect(tags.slice(0, 2)).toEqual(['shop', 'shop@staging'])
    expect(tags.at(-2)).toBe('a%40b@staging')
  })

  const staged = { MAYFLY_STAGE: 'staging' }
  const serverWith = (options: Partial<Parameters<typeof createTasks>[0]> = {}) => {
    const errors: string[] = []
    const server = new MCPServer({
      id: 'shop',
      name: 'Shop',
      version: '1.0.0',
      log: false,
      onError: (error) => errors.push(String(error)),
      tasks: createTasks({ store: createMemoryTaskStore(), ...options }),
    })
    return { server, errors }
  }
  const served = (server: MCPServer) => server.fetch(new Request('https://a.example/healthz'), staged)

  it('that only a message of a queue brings, before any request, is known then', async () => {
    const runner = queueRunner({ send: async () => {} })
    const { server, errors } = serverWith({ runner })
    const asked: string[] = []
    const body = { id: 'a'.repeat(32), at: 1, server: 'shop@staging' }
    const message = { body, attempts: 1, ack: () => asked.push('ack'), retry: () => asked.push('retry') }
    await runner.queue({ messages: [message] }, staged, { waitUntil() {} })
    expect(asked).toEqual(['ack'])
    expect((await served(server)).status).toBe(200)
    expect(errors).toEqual([])
  })

  it('that only a request of the task endpoint brings, before any other, is known then', async () => {
    const secret = 'a-secret-for-the-cron-of-40-characters!!'
    const operators = 'a-secret-for-operators-of-40-characters!'
    for (const [query, bearer] of [
      ['', secret],
      ['?list', operators],
    ]) {
      const { server, errors } = serverWith()
      const endpoint = createTaskEndpoint({ server, secret, admin: createTaskAdmin({ secret: operators }) })
      const request = new Request(`https://a.example/tasks${query}`, {
        headers: { authorization: `Bearer ${bearer}` },
      })
      expect((await endpoint.fetch(request, staged)).status).toBe(200)
      expect((await served(server)).status).toBe(200)
      expect(errors).toEqual([])
    }
  })
})
