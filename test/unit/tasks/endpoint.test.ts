/** What calls tasks from outside: the cron, and URLs for events. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createTool } from '../../../src/index.ts'
import {
  createMemoryTaskStore,
  createTaskEndpoint,
  createTasks,
  type TaskEndpoint,
} from '../../../src/tasks.ts'
import { createTaskAdmin } from '../../../src/tasks-admin.ts'
import { secretOf } from '../../_secrets.ts'
import { TaskClient } from './_tasks.ts'

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const secret = 'a-secret-of-thirty-two-characters!'
const url = 'https://shop.example/tasks'

function setUp() {
  const job = createTool({
    id: 'job',
    task: 'required',
    execute: async (_input, ctx) => {
      const paid = await ctx.waitFor<{ amount: number } | null>('paid')
      await ctx.sleep('a moment', 5)
      return `paid ${paid?.amount}`
    },
  })
  const client = new TaskClient({ tools: { job }, tasks: createTasks({ store: createMemoryTaskStore() }) })
  return { client, endpoint: createTaskEndpoint({ server: client.server, url, secret }) }
}

const cron = (token: string, method = 'GET') =>
  new Request(url, { method, headers: { authorization: `Bearer ${token}` } })

test('a signed URL delivers its event once, and the cron runs what is due', async () => {
  const { client, endpoint } = setUp()
  const { taskId } = await client.call('job')
  await client.settle()
  const target = await endpoint.urlFor(taskId, 'paid')
  const post = (body: string) => endpoint.fetch(new Request(target, { method: 'POST', body }))
  expect((await post('{')).status).toBe(400)
  expect((await post('{"amount":3}')).status).toBe(202)
  expect((await post('{"amount":4}')).status).toBe(409)
  expect(await (await endpoint.fetch(cron(secret))).json()).toEqual({ run: 1 })
  await expect
    .poll(async () => {
      await endpoint.fetch(cron(secret, 'POST'))
      return (await client.get(taskId, { platform: {} })).result?.content[0]?.text
    })
    .toBe('paid 3')
})

test('two secrets, while they are rotated: each runs the cron and opens the URLs that it signed; the first signs', async () => {
  const [older, newer] = [secret, secretOf('b')]
  const { client, endpoint } = setUp()
  const { server } = client
  const { taskId } = await client.call('job')
  await client.settle()
  const byOlder = await endpoint.urlFor(taskId, 'paid')
  for (const given of [[newer, older], `${newer},${older}`]) {
    const rotating = createTaskEndpoint({ server, url, secret: given })
    for (const token of [older, newer, `${newer},${older}`])
      expect((await rotating.fetch(cron(token))).status).toBe(200)
    expect((await rotating.fetch(cron(secretOf('d')))).status).toBe(401)
    const byNewer = await rotating.urlFor(taskId, 'paid')
    const alone = createTaskEndpoint({ server, url, secret: newer })
    const post = (target: string) => alone.fetch(new Request(target, { method: 'POST', body: '{' }))
    expect([(await post(byOlder)).status, (await post(byNewer)).status]).toEqual([401, 400])
    expect((await rotating.fetch(new Request(byOlder, { method: 'POST', body: '{' }))).status).toBe(400)
  }
})

test('with a secret of their own, URLs outlive that of the cron', async () => {
  const { client } = setUp()
  const { server } = client
  const urlSecret = secretOf('u')
  const before = createTaskEndpoint({ server, url, secret, urlSecret })
  const after = createTaskEndpoint({ server, url, secret: secretOf('n'), urlSecret })
  const target = await before.urlFor('a', 'paid')
  expect((await after.fetch(new Request(target, { method: 'POST', body: '1' }))).status).toBe(409)
  expect((await after.fetch(cron(urlSecret))).status).toBe(401)
})

test('a URL expires: 410 afterwards, and 401 if the time is changed; one of a version without expiry is accepted', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const { client, endpoint } = setUp()
  const post = async (target: string) =>
    (await endpoint.fetch(new Request(target, { method: 'POST', body: '1' }))).status
  const { taskId } = await client.call('job')
  await client.settle()
  const short = await endpoint.urlFor(taskId, 'paid', { ttlMs: 1000 })
  const long = await endpoint.urlFor(taskId, 'paid')
  vi.setSystemTime(Date.now() + 1000)
  expect(await post(short)).toBe(410)
  const later = new URL(short)
  later.searchParams.set('expires', String(Date.now() + 5000))
  expect(await post(later.href)).toBe(401)
  later.searchParams.delete('expires')
  expect(await post(later.href)).toBe(401)
  vi.setSystemTime(Date.now() + 30 * 86_400_000 - 2000)
  expect(await post(long)).toBe(409)
  vi.setSystemTime(Date.now() + 1000)
  expect(await post(long)).toBe(410)

  const key = await crypto.subtle.importKey(
    'raw',
    Buffer.from(secret),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['sign'],
  )
  const old = Buffer.from(await crypto.subtle.sign('HMAC', key, Buffer.from('["a","paid"]'))).toString(
    'base64url',
  )
  expect(await post(`${url}?task=a&event=paid&signature=${old}`)).toBe(409)
})

test('an event of 64 levels is taken; a deeper one is refused, and its URL can still be used', async () => {
  const { client, endpoint } = setUp()
  const { taskId } = await client.call('job')
  await client.settle()
  const target = await endpoint.urlFor(taskId, 'paid')
  const post = (levels: number) =>
    endpoint.fetch(new Request(target, { method: 'POST', body: '['.repeat(levels) + ']'.repeat(levels) }))
  for (const levels of [65, 10_000]) {
    const refused = await post(levels)
    expect(refused.status).toBe(400)
    expect(await refused.json()).toEqual({ error: 'The body must be JSON, at most 64 levels deep.' })
  }
  expect((await post(64)).status).toBe(202)
})

test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])(
  'urlFor with ttlMs %d → a TypeError',
  async (ttlMs) => {
    await expect(setUp().endpoint.urlFor('a', 'paid', { ttlMs })).rejects.toThrow(/"ttlMs" of urlFor/)
  },
)

test.each([
  ['another secret', () => cron(secretOf('b'))],
  ['no secret', () => new Request(url)],
  [
    'a query that is not signed',
    () => new Request(`${url}?task=x&event=paid&signature=AAAA`, { method: 'POST' }),
  ],
  [
    'a signature for another event',
    (signed: string) => new Request(signed.replace('event=paid', 'event=other'), { method: 'POST' }),
  ],
])('%s → 401', async (_what, request) => {
  const { client, endpoint } = setUp()
  const { taskId } = await client.call('job')
  const signed = await endpoint.urlFor(taskId, 'paid')
  expect((await endpoint.fetch(request(signed))).status).toBe(401)
})

test.each([
  ['PUT', 405],
  ['DELETE', 405],
])('%s → %d', async (method, status) => {
  const { endpoint } = setUp()
  expect((await endpoint.fetch(cron(secret, method))).status).toBe(status)
})

test('a secret that is short, no URL, or no time for a step → a TypeError that says so', () => {
  const { client } = setUp()
  const hasty = { server: client.server, url, secret, maxDurationMs: 2999 }
  expect(() => createTaskEndpoint(hasty)).toThrow(/"maxDurationMs" must be 3000 or more/)
  expect(() => createTaskEndpoint({ server: client.server, url, secret: 'short' })).toThrow(/"secret"/)
  expect(() => createTaskEndpoint({ server: client.server, url: 'tasks', secret })).toThrow(/"url"/)
})

describe.each([undefined, ''])('with the secret %j, as from a variable that is not set', (unset) => {
  const admin = () => createTaskAdmin({ secret: unset })
  const lines = () => vi.mocked(console.error).mock.calls.map(([line]) => String(line))
  beforeEach(() => void vi.spyOn(console, 'error').mockReturnValue())

  test('the cron, events and the admin → 503 that says why, and one line in the log; the rest is served', async () => {
    const { client } = setUp()
    const { server } = client
    const endpoint = createTaskEndpoint({ server, url, secret: unset, admin: admin() })
    const served = endpoint.mount('/tasks')
    const asked = [
      cron(secret),
      cron('undefined'),
      new Request(url, { headers: { authorization: 'Bearer ' } }),
      new Request(`${url}?task=a&event=paid&signature=AAAA`, { method: 'POST', body: '1' }),
      new Request(`${url}?list`, { headers: cron(secret).headers }),
    ]
    for (const request of asked) {
      const refused = await served.fetch(request)
      expect(refused.status).toBe(503)
      expect((await refused.json()).error).toMatch(
        /^"secret" of create\w+ is not set: set the variable that it comes from/,
      )
    }
    expect(lines()).toHaveLength(2)
    expect(lines()[0]).toContain('CRON_SECRET')
    expect(lines()[1]).toContain('createTaskAdmin')
    await expect(endpoint.urlFor('a', 'paid')).rejects.toThrow(/"secret" of createTaskEndpoint/)

    expect(await (await served.fetch(new Request('https://shop.example/healthz'))).text()).toContain('ok')
    expect((await client.call('job')).taskId).toBeDefined()
  })

  test('each secret opens its own part alone', async () => {
    const { client } = setUp()
    const { server } = client
    const status = async (endpoint: TaskEndpoint, request: Request) => (await endpoint.fetch(request)).status
    const list = new Request(`${url}?list`, { headers: { authorization: `Bearer ${secret}` } })
    const withoutCron = createTaskEndpoint({ server, url, secret: unset, urlSecret: secretOf('u') })
    const event = await withoutCron.urlFor('a', 'paid')
    const post = () => new Request(event, { method: 'POST', body: '1' })
    expect([await status(withoutCron, cron(secretOf('u'))), await status(withoutCron, post())]).toEqual([
      503, 409,
    ])
    const withoutAdmin = createTaskEndpoint({ server, url, secret, admin: admin() })
    expect([await status(withoutAdmin, cron(secret)), await status(withoutAdmin, list)]).toEqual([200, 503])
    const withoutEvents = createTaskEndpoint({ server, url, secret, urlSecret: '' })
    expect([await status(withoutEvents, cron(secret)), await status(withoutEvents, post())]).toEqual([
      200, 503,
    ])
  })
})

test('code that passes no secret at all → a TypeError', () => {
  const { server } = setUp().client
  expect(() => createTaskEndpoint({ server } as never)).toThrow(/createTaskEndpoint needs "secret"/)
  expect(() => createTaskAdmin({} as never)).toThrow(/createTaskAdmin needs "secret"/)
})

test('mounted, it answers its own path alone', async () => {
  const { client } = setUp()
  const { taskId } = await client.call('job')
  await client.settle()
  const endpoint = createTaskEndpoint({ server: client.server, secret })
  const served = endpoint.mount('/tasks')
  const ask = (path: string, platform = {}) =>
    served.handle!(new Request(`https://shop.example${path}`, { headers: cron(secret).headers }), platform)
  expect(await (await ask('/tasks?now')).json()).toEqual({ run: 0 })
  expect(await (await ask('/functions/v1/shop/tasks', { prefix: '/functions/v1/shop' })).json()).toEqual({
    run: 0,
  })
  expect(await (await ask('/mcp/tasks')).text()).not.toContain('run')
  expect(await (await ask('/healthz')).text()).toContain('ok')
  await client.server.tasks.send(taskId, 'paid', { amount: 1 })
  expect(await (await served.fetch(cron(secret))).json()).toEqual({ run: 1 })
  expect(served.getToolListInfo!().tools).toHaveLength(3)
  await expect(endpoint.urlFor(taskId, 'paid')).rejects.toThrow(/"url"/)
})

test.each(['tasks', '/my tasks', '/', '/mcp', '//tasks', '/tasks?x', 'https://shop.example/tasks'])(
  'mount(%j) → a TypeError',
  (path) => {
    const { endpoint } = setUp()
    expect(() => endpoint.mount(path)).toThrow(/the path of the task endpoint/)
  },
)

test.each([
  { limit: 0 },
  { limit: Number.NaN },
  { maxBodyBytes: Number.NaN },
  { secret: `${secretOf('a')}\n` },
  { secret: [] },
  { secret: `${secretOf('a')},` },
  { secret: `${secretOf('a')}, ${secretOf('b')}` },
  { urlSecret: 'short' },
])('%j → a TypeError', (options) => {
  const { client } = setUp()
  expect(() => createTaskEndpoint({ server: client.server, secret, ...options })).toThrow(TypeError)
})

test('mounted before a server whose handle is wrapped, it promises no lean requests', () => {
  const { client } = setUp()
  const { server } = client
  const wrapped = {
    tasks: server.tasks,
    fetch: server.fetch.bind(server),
    leanHandle: server.leanHandle,
    handle: (...given: Parameters<typeof server.handle>) => server.handle(...given),
  }
  expect(createTaskEndpoint({ server, secret }).mount().leanHandle).toBeDefined()
  expect(createTaskEndpoint({ server: wrapped, secret }).mount().leanHandle).toBeUndefined()
})

test('calls of a cron with too little time for a step do not count as runs that finish none', async () => {
  const { client, endpoint } = setUp()
  const { taskId } = await client.call('job')
  await client.settle()
  await client.server.tasks.send(taskId, 'paid', { amount: 2 })
  const served = endpoint.mount()
  for (let time = 0; time < 10; time++) await served.handle!(cron(secret), { deadline: Date.now() + 1500 })
  await expect
    .poll(async () => {
      await endpoint.fetch(cron(secret))
      return (await client.get(taskId, { platform: {} })).result?.content[0]?.text
    })
    .toBe('paid 2')
})
