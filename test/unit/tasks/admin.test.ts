/** The operator's window: tasks listed, shown, tried again and cancelled, through the endpoint and in the process. */
import { describe, expect, test } from 'vitest'
import { createTool, jsonSchema, type MCPServerConfig } from '../../../src/index.ts'
import {
  createMemoryTaskStore,
  createTaskEndpoint,
  createTasks,
  type StoredTask,
  type TaskStore,
} from '../../../src/tasks.ts'
import { createTaskAdmin, type TaskDetails, type TaskSummary } from '../../../src/tasks-admin.ts'
import { secretOf } from '../../_secrets.ts'
import { TaskClient } from './_tasks.ts'

const cronSecret = 'a-secret-of-thirty-two-characters!'
const secret = 'another-one-of-thirty-two-characters'
const url = 'https://shop.example/tasks'

/** A store that counts what is asked of it. */
function counting(store: TaskStore): { store: TaskStore; asked: string[] } {
  const asked: string[] = []
  const counted = new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      return (...given: unknown[]) => {
        asked.push(String(name))
        return (member as (...given: unknown[]) => unknown).apply(target, given)
      }
    },
  })
  return { store: counted, asked }
}

function setUp(tools: NonNullable<MCPServerConfig['tools']>, memory: TaskStore = createMemoryTaskStore()) {
  const { store, asked } = counting(memory)
  const client = new TaskClient({ tools, tasks: createTasks({ store }) })
  const admin = createTaskAdmin({ secret })
  const endpoint = createTaskEndpoint({ server: client.server, url, secret: cronSecret, admin })
  const send = async (query: string, method = 'GET', authorization: string | null = `Bearer ${secret}`) => {
    const headers = authorization === null ? {} : { authorization }
    const response = await endpoint.fetch(new Request(`${url}?${query}`, { method, headers }))
    return { status: response.status, body: await response.json(), headers: response.headers }
  }
  const end = async (name: string, args: object = {}): Promise<string> => {
    const { taskId } = await client.call(name, args)
    await client.settle()
    return taskId
  }
  return { client, admin, endpoint, send, end, asked, memory, tasks: admin.of(client.server) }
}

/** A tool with two steps; the second fails as often as it is told to. */
function createCharging(failures: number) {
  const ran: string[] = []
  const keys: string[] = []
  const charge = createTool({
    id: 'charge',
    task: 'required',
    execute: async (input, ctx) => {
      const order = await ctx.step('load order', () => {
        ran.push('load order')
        return { total: 3, input }
      })
      await ctx.step('charge', ({ idempotencyKey }) => {
        ran.push('charge')
        keys.push(idempotencyKey)
        if (ran.filter((step) => step === 'charge').length <= failures) throw new Error('the bank is closed')
        return 'paid'
      })
      return `paid ${order.total}`
    },
  })
  return { charge, ran, keys }
}

const waiting = createTool({
  id: 'waiting',
  task: 'required',
  execute: async (_input, ctx) => `got ${await ctx.waitFor('paid')}`,
})

describe('authorization', () => {
  test.each([
    ['nothing', null],
    ['the cron’s secret', `Bearer ${cronSecret}`],
    ['another secret', `Bearer ${secretOf('x')}`],
    ['a part of it', `Bearer ${secret.slice(0, -1)}`],
    ['more than it', `Bearer ${secret}x`],
    ['it in capitals', `Bearer ${secret.toUpperCase()}`],
    ['it as Basic', `Basic ${secret}`],
    ['it as a password', `Basic ${btoa(`admin:${secret}`)}`],
    ['it alone', secret],
    ['a list without it', `Bearer ${cronSecret},${secretOf('y')}`],
  ])('%s → 401 for each action, and nothing is read', async (_what, authorization) => {
    const { send, end, asked } = setUp({ waiting })
    const id = await end('waiting')
    asked.length = 0
    for (const [query, method] of [
      ['list', 'GET'],
      [`show=${id}`, 'GET'],
      [`retry=${id}`, 'POST'],
      [`cancel=${id}`, 'POST'],
      [`list&secret=${secret}&authorization=Bearer%20${secret}`, 'GET'],
      ['list&wrong', 'DELETE'],
    ] as const)
      expect(await send(query, method, authorization)).toMatchObject({ status: 401 })
    expect(asked).toEqual([])
  })

  test('each of several secrets, and one of a list as a platform may send it', async () => {
    const { client } = setUp({ waiting })
    const other = secretOf('z')
    for (const given of [[other, secret], `${other},${secret}`]) {
      const admin = createTaskAdmin({ secret: given })
      const endpoint = createTaskEndpoint({ server: client.server, secret: cronSecret, admin })
      for (const token of [secret, other, `${secretOf('w')},${other}`]) {
        const headers = { authorization: `bearer ${token}` }
        expect((await endpoint.fetch(new Request(`${url}?list`, { headers }))).status).toBe(200)
      }
    }
  })

  test('the secret of operators does not run the cron, and without an admin there is nothing to open', async () => {
    const { client, send } = setUp({ waiting })
    expect(await send('', 'GET')).toMatchObject({ status: 401 })
    const endpoint = createTaskEndpoint({ server: client.server, secret: cronSecret })
    const headers = { authorization: `Bearer ${secret}` }
    expect((await endpoint.fetch(new Request(`${url}?list`, { headers }))).status).toBe(401)
  })

  test.each([
    [{ secret }, { secret: cronSecret, urlSecret: secret }],
    [{ secret: [secret, cronSecret] }, { secret: cronSecret }],
    [{ secret: `${secret},${cronSecret}` }, { secret: [cronSecret] }],
  ])('a secret that the endpoint also has → a TypeError', (given, others) => {
    const { client } = setUp({ waiting })
    const admin = createTaskAdmin(given)
    expect(() => createTaskEndpoint({ server: client.server, admin, ...others })).toThrow(/must differ from/)
  })

  test.each(['short', ['x'.repeat(31)], [], `${secret},`, `${secret} x`])(
    'the secret %j → a TypeError',
    (given) => {
      expect(() => createTaskAdmin({ secret: given })).toThrow(/createTaskAdmin needs "secret"/)
    },
  )

  test('answers are not cached', async () => {
    const { send } = setUp({ waiting })
    expect((await send('list')).headers.get('cache-control')).toBe('no-store')
  })
})

describe('list', () => {
  test('what each task is, and waits for', async () => {
    const { send, end, client } = setUp({ waiting, charge: createCharging(1).charge })
    const [open, failed] = [await end('waiting'), await end('charge')]
    const { body } = await send('list')
    const { tasks } = body as { tasks: TaskSummary[] }
    expect(tasks.map(({ taskId }) => taskId).sort()).toEqual([open, failed].sort())
    expect(tasks.find(({ taskId }) => taskId === open)).toEqual({
      taskId: open,
      status: 'working',
      tool: 'waiting',
      toolVersion: 1,
      createdAt: expect.stringMatching(/^2\d{3}-.*Z$/),
      lastUpdatedAt: expect.any(String),
      dueAt: null,
      expiresAt: expect.any(String),
      bytes: expect.any(Number),
      idleRuns: 0,
      crashes: 0,
      loneCrashes: 0,
      releases: 0,
      awaits: { events: ['paid'], questions: 0 },
    })
    expect(tasks.find(({ taskId }) => taskId === failed)).toMatchObject({
      status: 'completed',
      isError: true,
    })
    expect(client.server.id).toBe('test')
  })

  test('by status, tool and age; "failed" includes what completed with an error', async () => {
    const { send, end } = setUp({ waiting, charge: createCharging(1).charge })
    const [open, failed, paid] = [await end('waiting'), await end('charge'), await end('charge')]
    const ids = async (query: string) =>
      ((await send(`list&${query}`)).body as { tasks: TaskSummary[] }).tasks
        .map(({ taskId }) => taskId)
        .sort()
    expect(await ids('status=failed')).toEqual([failed])
    expect(await ids('status=completed')).toEqual([failed, paid].sort())
    expect(await ids('status=working')).toEqual([open])
    expect(await ids('status=cancelled')).toEqual([])
    expect(await ids('tool=charge')).toEqual([failed, paid].sort())
    expect(await ids('tool=charge&status=working')).toEqual([])
    expect(await ids('olderThanMs=60000')).toEqual([])
    expect(await ids('youngerThanMs=60000')).toHaveLength(3)
  })

  test('pages have at most the limit, and together each task once', async () => {
    const { send, end } = setUp({ waiting })
    const ids: string[] = []
    for (let index = 0; index < 45; index++) ids.push(await end('waiting'))
    const seen: string[] = []
    for (let after = ''; ; ) {
      const { body } = await send(`list&limit=20${after}`)
      const page = body as { tasks: TaskSummary[]; next?: string }
      expect(page.tasks.length).toBeLessThanOrEqual(20)
      seen.push(...page.tasks.map(({ taskId }) => taskId))
      if (page.next === undefined) break
      after = `&after=${page.next}`
    }
    expect(seen.sort()).toEqual(ids.sort())
  })

  test('a call reads a bounded number of tasks, however few are listed', async () => {
    const memory = createMemoryTaskStore()
    for (let index = 0; index < 3000; index++) await memory.create(stored({ id: `task-${index}` }), 5000)
    const { send, asked } = setUp({ waiting }, memory)
    let pages = 0
    for (let after = ''; ; pages++) {
      asked.length = 0
      const { body } = await send(`list&status=cancelled${after}`)
      const page = body as { tasks: TaskSummary[]; next?: string }
      expect(page.tasks).toEqual([])
      expect(asked.filter((name) => name === 'list').length).toBeLessThanOrEqual(25)
      if (page.next === undefined) break
      after = `&after=${page.next}`
    }
    expect(pages).toBe(5)
  })

  test('large tasks: a call reads some megabytes at most', async () => {
    const memory = createMemoryTaskStore()
    const arguments_ = 'x'.repeat(900_000)
    for (let index = 0; index < 40; index++)
      await memory.create(stored({ id: `task-${index}` }, { arguments: arguments_ }), 5000)
    const { send } = setUp({ waiting }, memory)
    const { body } = await send('list')
    const { tasks, next } = body as { tasks: TaskSummary[]; next?: string }
    expect(tasks).toHaveLength(20)
    expect(next).toBeDefined()
    expect(JSON.stringify(body).length).toBeLessThan(20_000)
  })

  test.each([
    'list&status=broken',
    'list&limit=0',
    'list&limit=201',
    'list&limit=1.5',
    'list&limit=',
    'list&limit=1e1',
    'list&olderThanMs=-1',
    'list&after=',
    'list&after=%00',
    `list&after=${'x'.repeat(4097)}`,
    'list&state=failed',
    'list&list',
    'list&limit=1&limit=2',
    'list&show=a',
    'show=a&retry=a',
  ])('?%s → 400 in one line, and nothing is read', async (query) => {
    const { send, asked } = setUp({ waiting })
    const { status, body } = await send(query)
    expect([status, (body as { error: string }).error]).toEqual([400, expect.stringMatching(/^.{10,300}$/)])
    expect(asked).toEqual([])
  })

  test.each([
    ['list', 'POST', 'GET'],
    ['show=a', 'POST', 'GET'],
    ['retry=a', 'GET', 'POST'],
    ['cancel=a', 'GET', 'POST'],
    ['cancel=a', 'DELETE', 'POST'],
  ])('?%s with %s → 405, and nothing is read', async (query, method, allow) => {
    const { send, asked } = setUp({ waiting })
    const { status, headers } = await send(query, method)
    expect([status, headers.get('allow')]).toEqual([405, allow])
    expect(asked).toEqual([])
  })

  test('a store without a list → a typed refusal, and the rest works', async () => {
    const { list: _list, ...memory } = createMemoryTaskStore()
    const { send, end, tasks } = setUp({ waiting }, memory)
    const id = await end('waiting')
    expect(await send('list')).toMatchObject({ status: 501, body: { code: 'CANNOT_LIST' } })
    await expect(tasks.list()).rejects.toMatchObject({ name: 'TaskAdminError', code: 'CANNOT_LIST' })
    expect(await send(`show=${id}`)).toMatchObject({ status: 200, body: { taskId: id } })
    expect(await send(`cancel=${id}`, 'POST')).toMatchObject({ status: 200, body: { cancelled: true } })
  })

  test('a task that cannot be read stands in the list, and keeps no other out', async () => {
    const memory = createMemoryTaskStore()
    for (const state of ['{', 'null', '{"tool":"a","journal":{}}', '{"tool":"a","journal":null}'])
      await memory.create({ ...stored(), state }, 10)
    const { send, end, tasks } = setUp({ waiting }, memory)
    await end('waiting')
    const { tasks: listed } = (await send('list')).body as { tasks: TaskSummary[] }
    expect(listed.map(({ status }) => status).sort()).toEqual([...Array(4).fill('unreadable'), 'working'])
    const broken = listed.find(({ status }) => status === 'unreadable')!.taskId
    for (const act of [tasks.show, tasks.retry, tasks.cancel])
      await expect(act(broken)).rejects.toMatchObject({ code: 'UNREADABLE' })
  })

  test('the store is down → 503 that says to try again', async () => {
    const down = { ...createMemoryTaskStore(), list: () => Promise.reject(new Error('no connection')) }
    const { send } = setUp({ waiting }, down)
    expect(await send('list')).toMatchObject({
      status: 503,
      body: { error: expect.stringContaining('later') },
    })
  })
})

test('tasks of another server do not exist', async () => {
  const memory = createMemoryTaskStore()
  await memory.create(stored({ id: 'theirs', server: 'bank' }), 10)
  const { send } = setUp({ waiting }, memory)
  expect((await send('list')).body).toEqual({ tasks: [] })
  for (const [query, method] of [
    ['show=theirs', 'GET'],
    ['retry=theirs', 'POST'],
    ['cancel=theirs', 'POST'],
    ['show=unknown', 'GET'],
    ['show=', 'GET'],
    ['show=%00', 'GET'],
  ] as const)
    expect(await send(query, method)).toMatchObject({ status: 404, body: { code: 'UNKNOWN_TASK' } })
  expect((await memory.read('theirs'))!.version).toBe(1)
})

describe('show', () => {
  test('what was decided, in its order, with the keys of steps', async () => {
    const { charge, keys } = createCharging(1)
    const { send, end } = setUp({ charge })
    const id = await end('charge', { order: 7 })
    const { body } = await send(`show=${id}`)
    expect(body).toMatchObject({
      taskId: id,
      status: 'completed',
      isError: true,
      arguments: { json: '{"order":7}', bytes: 11 },
      journal: [
        { at: 0, kind: 'step', name: 'load order', value: { json: '{"total":3,"input":{"order":7}}' } },
        {
          at: 1,
          kind: 'step',
          name: 'charge',
          key: keys[0],
          error: { name: 'Error', message: 'the bank is closed' },
        },
      ],
      questions: [],
      inbox: { answers: [], events: [] },
      result: { json: expect.stringContaining('the bank is closed') },
      caller: { era: 'modern', clientInfo: { name: 'unit', version: '1.0.0' }, owner: expect.any(String) },
    })
  })

  test('sleeps, waits, time-outs, questions and attempts', async () => {
    const all = createTool({
      id: 'all',
      task: 'required',
      execute: async (_input, ctx) => {
        await ctx.sleep('a moment', 1)
        await ctx.waitFor('never', { timeoutMs: 1 }).catch(() => {})
        const answer = await ctx.elicit(
          'Which?',
          jsonSchema({ type: 'object', properties: { size: { type: 'string' } } }),
        )
        await Promise.all([
          ctx.waitFor('paid', { timeoutMs: 3_600_000 }),
          ctx.sleep('a day', 86_400_000),
          ctx.step('flaky', () => Promise.reject(new Error('no')), { retries: 3, backoffMs: 600_000 }),
        ])
        return answer
      },
    })
    const { client, end, tasks } = setUp({ all })
    const id = await end('all')
    const asked = await client.until(id, 'input_required')
    const shown = await tasks.show(id)
    expect(shown.questions).toMatchObject([
      {
        key: Object.keys(asked.inputRequests!)[0],
        method: 'elicitation/create',
        params: { json: expect.stringContaining('Which?') },
      },
    ])
    expect(shown.journal).toMatchObject([
      { at: 0, kind: 'sleep', name: 'a moment', until: expect.any(String) },
      { at: 1, kind: 'wait', name: 'never', error: { name: 'TimeoutError' } },
    ])
    await client.update(id, { [shown.questions[0]!.key]: { action: 'accept', content: { size: 'L' } } })
    await client.settle()
    const later = await tasks.show(id)
    expect(later.journal.slice(2)).toMatchObject([
      { kind: 'question', value: { json: '{"action":"accept","content":{"size":"L"}}' } },
      { kind: 'wait', name: 'paid', isPending: true },
      { kind: 'sleep', name: 'a day', isPending: true },
      { kind: 'attempt', name: 'flaky', attempts: 1, isPending: true },
    ])
    expect(Date.parse(later.journal[4]!.until!)).toBeGreaterThan(Date.now() + 86_000_000)
    expect(later.awaits.events).toEqual(['paid'])
  })

  test('values are cut, with their size; names that hide something are shown as they are, for the terminal to escape', async () => {
    const large = createTool({
      id: 'large',
      task: 'required',
      execute: async (_input, ctx) => {
        await ctx.step('large', () => '🦋'.repeat(20_000))
        await ctx.step('x'.repeat(5000), () => 1)
        await ctx.waitFor('\u001b[2J')
      },
    })
    const { end, tasks } = setUp({ large })
    const id = await end('large', { text: 'y'.repeat(50_000) })
    const details: TaskDetails = await tasks.show(id)
    expect(details.arguments).toMatchObject({ bytes: 50_011, isCut: true })
    expect(details.journal[0]!.value).toMatchObject({ bytes: 80_002, isCut: true })
    expect(details.journal[1]!.name.length).toBeLessThan(400)
    expect(details.awaits.events).toEqual(['\u001b[2J'])
    expect(JSON.stringify(details).length).toBeLessThan(20_000)
  })

  test('a journal of many thousand entries: the last 1000', async () => {
    const memory = createMemoryTaskStore()
    const names = Array.from({ length: 10_000 }, (_, index) => `s${index}`)
    const journal = {
      answers: {},
      refusals: {},
      unread: {},
      steps: Object.fromEntries(names.map((name) => [name, [1]])),
      order: names.map((name) => `step ${name}`),
    }
    await memory.create(stored({ id: 'long' }, { journal }), 10)
    const { tasks } = setUp({ waiting }, memory)
    const shown = await tasks.show('long')
    expect(shown.journal).toHaveLength(1000)
    expect(shown.journal.at(-1)).toMatchObject({ at: 9999, name: 's9999' })
  })
})

describe('retry', () => {
  test('a failed task → a new one that repeats only the failed step, with the same key; the old one stays as it is', async () => {
    const { charge, ran, keys } = createCharging(1)
    const { client, send, end, tasks } = setUp({ charge })
    const id = await end('charge')
    const before = await client.get(id)
    const { status, body } = await send(`retry=${id}`, 'POST')
    const { taskId } = body as { taskId: string }
    expect(status).toBe(200)
    expect(taskId).not.toBe(id)
    await client.server.tasks.runDue()
    expect((await client.until(taskId, 'completed')).result!.content[0]!.text).toBe('paid 3')
    expect(ran).toEqual(['load order', 'charge', 'charge'])
    expect(new Set(keys).size).toBe(1)
    const { lastUpdatedAt: _at, ...same } = before as never as Record<string, unknown>
    expect(await client.get(id)).toMatchObject({ ...same, ttlMs: expect.any(Number) })
    expect(await tasks.show(id)).toMatchObject({ retriedAs: taskId })
    expect(await tasks.show(taskId)).toMatchObject({ retryOf: id })
  })

  test('again and again, and at once → one new task', async () => {
    const { charge, ran } = createCharging(1)
    const { client, end, tasks } = setUp({ charge })
    const id = await end('charge')
    const made = await Promise.all(Array.from({ length: 20 }, () => tasks.retry(id)))
    made.push(await tasks.retry(id))
    await client.server.tasks.runDue()
    expect(new Set(made.map(({ taskId }) => taskId)).size).toBe(1)
    expect(ran).toEqual(['load order', 'charge', 'charge'])
    expect((await tasks.list()).tasks).toHaveLength(2)
  })

  test('a retry that failed, too, is itself retried', async () => {
    const { charge, ran } = createCharging(3)
    const { client, end, tasks } = setUp({ charge })
    let id = await end('charge')
    for (let again = 0; again < 3; again++) {
      ;({ taskId: id } = await tasks.retry(id))
      await client.server.tasks.runDue()
    }
    expect(await tasks.show(id)).toMatchObject({ status: 'completed', tool: 'charge' })
    expect((await tasks.show(id)).isError).toBeUndefined()
    expect(ran).toEqual(['load order', 'charge', 'charge', 'charge', 'charge'])
  })

  test('an error that the tool went on after stays recorded: what it undid is not done again', async () => {
    const ran: string[] = []
    const saga = createTool({
      id: 'saga',
      task: 'required',
      execute: async (_input, ctx) => {
        await ctx.step('reserve', () => void ran.push('reserve'))
        try {
          await ctx.step('charge', () => {
            ran.push('charge')
            throw new Error('no')
          })
        } catch (error) {
          await ctx.step('release', () => void ran.push('release'))
          throw error
        }
      },
    })
    const { client, end, tasks } = setUp({ saga })
    const id = await end('saga')
    const { taskId } = await tasks.retry(id)
    await client.server.tasks.runDue()
    expect(await tasks.show(taskId)).toMatchObject({ status: 'completed', isError: true })
    expect(ran).toEqual(['reserve', 'charge', 'release'])
  })

  test('the undoing of an error failed, too: only that runs again', async () => {
    const ran: string[] = []
    let fails = true
    const order = createTool({
      id: 'order',
      task: 'required',
      execute: async (_input, ctx) => {
        const step = (name: string) =>
          ctx.step(name, () => {
            ran.push(name)
            if (fails) throw new Error('the answer was lost')
          })
        try {
          await step('charge')
        } catch {
          await step('refund')
          return 'refunded'
        }
        await step('ship')
        return 'shipped'
      },
    })
    const { client, end, tasks } = setUp({ order })
    const id = await end('order')
    fails = false
    const { taskId } = await tasks.retry(id)
    await client.server.tasks.runDue()
    expect((await client.get(taskId)).result!.content[0]!.text).toBe('refunded')
    expect(ran).toEqual(['charge', 'refund', 'refund'])
  })

  test('a time-out after which a step failed stays one, though the event arrives', async () => {
    let fails = true
    const order = createTool({
      id: 'order',
      task: 'required',
      execute: async (_input, ctx) => {
        const paid = await ctx.waitFor('paid', { timeoutMs: 1 }).then(
          () => true,
          () => false,
        )
        await ctx.step('release', () => (fails ? Promise.reject(new Error('lost')) : 1))
        return paid ? 'shipped' : 'closed'
      },
    })
    const { client, end, tasks } = setUp({ order })
    const id = await end('order')
    await client.until(id, 'completed')
    fails = false
    const { taskId } = await tasks.retry(id)
    await client.server.tasks.send(taskId, 'paid', 1)
    await client.server.tasks.runDue()
    expect((await client.until(taskId, 'completed')).result!.content[0]!.text).toBe('closed')
  })

  test('what crashed after an error keeps the error, and begins alone', async () => {
    const memory = createMemoryTaskStore()
    const journal = {
      answers: {},
      refusals: {},
      unread: {},
      steps: {},
      errors: { charge: [{ name: 'Error', message: 'no' }] },
      order: ['step charge'],
    }
    const error = { code: -32603, message: 'The task failed: 4 consecutive runs ended with their process.' }
    await memory.create(
      stored(
        { id: 'crashed', server: 'test', isOpen: false },
        { status: 'failed', isWhole: true, error, journal, crashes: 4, loneCrashes: 3 },
      ),
      10,
    )
    const { tasks } = setUp({ waiting }, memory)
    const { taskId } = await tasks.retry('crashed')
    expect(await tasks.show(taskId)).toMatchObject({
      crashes: 1,
      loneCrashes: 0,
      journal: [{ name: 'charge', error: { message: 'no' } }],
    })
  })

  test('again after the retry has ended: a failed one is retried, a completed or cancelled one is named', async () => {
    const { charge } = createCharging(2)
    const { client, end, tasks } = setUp({ charge })
    const id = await end('charge')
    const { taskId: second } = await tasks.retry(id)
    await client.server.tasks.runDue()
    const made = await Promise.all(Array.from({ length: 5 }, () => tasks.retry(id)))
    const third = made[0]!.taskId
    expect(new Set(made.map(({ taskId }) => taskId))).toEqual(new Set([third]))
    expect(third).not.toBe(second)
    expect(await tasks.show(third)).toMatchObject({ retryOf: second })
    await client.server.tasks.runDue()
    await expect(tasks.retry(id)).rejects.toMatchObject({
      code: 'COMPLETED',
      message: expect.stringContaining(third),
    })
    const other = setUp({ charge: createCharging(1).charge })
    const failed = await other.end('charge')
    const { taskId } = await other.tasks.retry(failed)
    await other.tasks.cancel(taskId)
    await expect(other.tasks.retry(failed)).rejects.toMatchObject({
      code: 'CANCELLED',
      message: expect.stringContaining(taskId),
    })
  })

  test('of two steps that failed beside each other only the last runs again', async () => {
    const ran: string[] = []
    const beside = createTool({
      id: 'beside',
      task: 'required',
      execute: async (_input, ctx) => {
        const step = (name: string) =>
          ctx.step(name, () => {
            ran.push(name)
            throw new Error(name)
          })
        const [one] = await Promise.allSettled([step('one'), step('two')])
        throw (one as PromiseRejectedResult).reason
      },
    })
    const { client, end, tasks } = setUp({ beside })
    const { taskId } = await tasks.retry(await end('beside'))
    await client.server.tasks.runDue()
    expect(await tasks.show(taskId)).toMatchObject({ isError: true })
    // Their keys are made beside each other: either may be first.
    expect(ran.slice(0, 2).sort()).toEqual(['one', 'two'])
    expect(ran.slice(2)).toEqual([ran[1]])
  })

  test('an event that did not arrive in time is waited for again; one that has arrived since counts', async () => {
    const late = createTool({
      id: 'late',
      task: 'required',
      execute: async (_input, ctx) => `got ${await ctx.waitFor('paid', { timeoutMs: 20 })}`,
    })
    const { client, end, tasks } = setUp({ late })
    const id = await end('late')
    await client.until(id, 'completed')
    expect(await tasks.show(id)).toMatchObject({ isError: true })
    const { taskId } = await tasks.retry(id)
    await client.server.tasks.send(taskId, 'paid', 5)
    await client.server.tasks.runDue()
    expect((await client.until(taskId, 'completed')).result!.content[0]!.text).toBe('got 5')
  })

  test('a task that ended by a protocol error or too many runs keeps its steps, its caller and its count', async () => {
    const memory = createMemoryTaskStore()
    const { charge, ran } = createCharging(0)
    const { client, end, tasks } = setUp({ charge }, memory)
    const journal = {
      answers: {},
      refusals: {},
      unread: {},
      steps: { 'load order': [{ total: 9 }] },
      order: ['step load order'],
    }
    await memory.create(
      stored({ id: 'stuck', dueAt: 1, server: 'test' }, { tool: 'charge', journal, idleRuns: 5 }),
      10,
    )
    await client.server.tasks.runDue()
    expect(await tasks.show('stuck')).toMatchObject({ status: 'failed', error: { code: -32603 } })
    const { taskId } = await tasks.retry('stuck')
    await client.server.tasks.runDue()
    expect((await memory.read(taskId))!.state).toContain('paid 9')
    expect(ran).toEqual(['charge'])
    expect(end).toBeDefined()
  })

  test('a task that waits, sleeps or backs off runs now, and stays one task', async () => {
    let runs = 0
    const flaky = createTool({
      id: 'flaky',
      task: 'required',
      execute: async (_input, ctx) => {
        runs++
        await ctx.step('flaky', () => (runs < 2 ? Promise.reject(new Error('no')) : 'ok'), {
          retries: 3,
          backoffMs: 3_600_000,
        })
        return 'done'
      },
    })
    const { client, end, tasks, send } = setUp({ flaky, waiting })
    const id = await end('flaky')
    expect((await tasks.show(id)).journal).toMatchObject([{ kind: 'attempt', attempts: 1 }])
    expect(await send(`retry=${id}`, 'POST')).toMatchObject({ status: 200, body: { taskId: id } })
    await client.server.tasks.runDue()
    expect((await client.get(id)).result!.content[0]!.text).toBe('done')
    const other = await end('waiting')
    expect(await tasks.retry(other)).toEqual({ taskId: other })
    await client.server.tasks.runDue()
    expect(await tasks.show(other)).toMatchObject({
      status: 'working',
      dueAt: null,
      awaits: { events: ['paid'] },
    })
  })

  test('a task whose run is alive goes on: only its failures are forgotten', async () => {
    const memory = createMemoryTaskStore()
    const until = Date.now() + 60_000
    const run = { id: 'a', until, lookAt: until }
    await memory.create(
      stored({ id: 'alive', dueAt: until, server: 'test' }, { run, idleRuns: 4, crashes: 2 }),
      10,
    )
    const dead = { id: 'b', until: 5, lookAt: 5 }
    await memory.create(
      stored({ id: 'dead', dueAt: until, server: 'test' }, { run: dead, releases: 9, crashes: 2 }),
      10,
    )
    const { tasks } = setUp({ waiting }, memory)
    expect(await tasks.retry('alive')).toEqual({ taskId: 'alive' })
    expect(await tasks.show('alive')).toMatchObject({
      run: {},
      idleRuns: 0,
      crashes: 1,
      dueAt: new Date(until).toISOString(),
    })
    expect(await tasks.retry('dead')).toEqual({ taskId: 'dead' })
    const shown = await tasks.show('dead')
    expect(shown).toMatchObject({ releases: 0, crashes: 1 })
    expect(Date.parse(shown.dueAt!)).toBeLessThanOrEqual(Date.now())
    expect(shown.run).toBeUndefined()
  })

  test('what completed or was cancelled is refused, and so is a call that still goes on', async () => {
    const memory = createMemoryTaskStore()
    const { client, end, send } = setUp({ waiting, charge: createCharging(0).charge }, memory)
    const [paid, open] = [await end('charge'), await end('waiting')]
    await client.cancel(open)
    await memory.create(stored({ id: 'call', server: 'test' }, { isUnconfirmed: true }), 10)
    await memory.create(
      stored(
        { id: 'older', server: 'test', isOpen: false },
        { status: 'failed', error: { code: 1, message: 'no' } },
      ),
      10,
    )
    for (const [id, code] of [
      [paid, 'COMPLETED'],
      [open, 'CANCELLED'],
      ['call', 'UNCONFIRMED'],
      ['older', 'NOT_KEPT'],
    ])
      expect(await send(`retry=${id}`, 'POST')).toMatchObject({ status: 409, body: { code } })
    expect(JSON.parse((await memory.read(paid))!.state)).not.toHaveProperty('arguments')
    expect(JSON.parse((await memory.read(open))!.state)).not.toHaveProperty('arguments')
  })

  test('a failed task whose steps do not fit beside its error keeps the error, and says so', async () => {
    const full = createTool({
      id: 'full',
      task: 'required',
      execute: async (_input, ctx) => {
        await ctx.step('large', () => 'x'.repeat(998_000 - 1500))
        throw new Error('y'.repeat(3000))
      },
    })
    const { end, tasks } = setUp({ full })
    const id = await end('full')
    expect(await tasks.show(id)).toMatchObject({ status: 'completed', isError: true, journal: [] })
    await expect(tasks.retry(id)).rejects.toMatchObject({ code: 'NOT_KEPT' })
  })
})

describe('cancel', () => {
  test('as a client’s: the task ends, its run is aborted; again → still cancelled; a completed one stays', async () => {
    const { client, end, send } = setUp({ waiting, charge: createCharging(0).charge })
    const [open, paid] = [await end('waiting'), await end('charge')]
    for (let again = 0; again < 2; again++)
      expect(await send(`cancel=${open}`, 'POST')).toMatchObject({ status: 200, body: { cancelled: true } })
    expect((await client.get(open)).status).toBe('cancelled')
    expect(await send(`cancel=${paid}`, 'POST')).toMatchObject({ status: 200, body: { cancelled: false } })
    expect((await client.get(paid)).status).toBe('completed')
  })
})

test('a server without tasks of this package → a TypeError', () => {
  const { admin } = setUp({ waiting })
  expect(() => admin.of({ tasks: {} as never })).toThrow(/of needs a server/)
})

test('options of list that are unknown or wrong → a TypeError', async () => {
  const { tasks } = setUp({ waiting })
  for (const wrong of [
    { state: 'failed' },
    { limit: 0 },
    { limit: 1.5 },
    { status: 'broken' },
    { after: ' ' },
  ])
    await expect(tasks.list(wrong as never)).rejects.toThrow(TypeError)
})

function stored(more: Partial<StoredTask> = {}, record: object = {}): StoredTask {
  const state = {
    seed: 'seed',
    tool: 'waiting',
    arguments: {},
    principal: '',
    caller: { era: 'modern', protocolVersion: '2026-07-28', clientCapabilities: {} },
    createdAt: Date.now(),
    updatedAt: Date.now(),
    ttlMs: 3_600_000,
    pollIntervalMs: 1000,
    status: 'working',
    journal: { answers: {}, steps: {}, refusals: {}, unread: {} },
    questions: {},
    asked: 0,
    inbox: { answers: {}, events: {} },
    awaited: [],
    idleRuns: 0,
    ...record,
  }
  return {
    id: crypto.randomUUID(),
    owner: crypto.randomUUID(),
    version: 1,
    isOpen: true,
    dueAt: null,
    expiresAt: null,
    state: JSON.stringify(state),
    ...more,
  }
}
