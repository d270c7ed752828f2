/** One bad task harms no other: what cannot run holds no place, and ends or is put off. */
import { afterEach, expect, test, vi } from 'vitest'
import * as z from 'zod'
import { createTool } from '../../../src/index.ts'
import {
  createMemoryTaskStore,
  createMemoryTasks,
  createTaskEndpoint,
  createTasks,
  type StoredTask,
  type TaskRunner,
  type TaskStore,
} from '../../../src/tasks.ts'
import { createCounted, TaskClient } from './_tasks.ts'

/** Nothing runs before `runDue`. */
const idle = { isPrompt: true, wake() {} }

const innocent = createTool({ id: 'innocent', task: 'required', execute: () => 'done' })

function spied(store: TaskStore): TaskStore & { kept: Map<string, StoredTask> } {
  const kept = new Map<string, StoredTask>()
  return {
    ...store,
    kept,
    async create(task, maxOpen) {
      const isCreated = await store.create(task, maxOpen)
      if (isCreated) kept.set(task.id, task)
      return isCreated
    },
    async replace(task) {
      const isReplaced = await store.replace(task)
      if (isReplaced) kept.set(task.id, task)
      return isReplaced
    },
  }
}

const small = (): ReturnType<typeof spied> => spied({ ...createMemoryTaskStore(), maxStateBytes: 20_000 })

test('members of the arguments that the schema does not know are not stored', async () => {
  const store = small()
  const job = createTool({
    id: 'job',
    inputSchema: z.object({ n: z.coerce.number().default(3) }),
    task: 'required',
    execute: ({ n }) => `got ${n + 1}`,
  })
  const client = new TaskClient({ tools: { job }, tasks: createTasks({ store, runner: idle }) })
  const { taskId } = await client.call('job', { padding: 'x'.repeat(30_000) })
  expect(store.kept.get(taskId)!.state).not.toContain('xxx')
  expect(JSON.parse(store.kept.get(taskId)!.state).arguments).toEqual({ n: 3 })
  await client.server.tasks.runDue()
  expect((await client.get(taskId)).result!.content[0]!.text).toBe('got 4')
})

test('arguments that the schema turns into something else are stored as they came', async () => {
  const store = small()
  const job = createTool({
    id: 'job',
    inputSchema: z.object({ names: z.string().transform((text) => text.split(',')) }),
    task: 'required',
    execute: ({ names }) => names.join('+'),
  })
  const client = new TaskClient({ tools: { job }, tasks: createTasks({ store, runner: idle }) })
  const { taskId } = await client.call('job', { names: 'a,b' })
  await client.server.tasks.runDue()
  expect((await client.get(taskId)).result!.content[0]!.text).toBe('a+b')
})

test('records of any size near the limit: each is refused or ends, and five innocent tasks end at once', async () => {
  const store = small()
  const loose = createTool({
    id: 'loose',
    inputSchema: z.looseObject({}),
    task: 'required',
    execute: () => 'done',
  })
  const client = new TaskClient({
    tools: { loose, innocent },
    tasks: createTasks({ store, runner: idle, maxOpenTasks: 1000 }),
    onError: () => {},
  })
  const call = (length: number) =>
    client.call('loose', { padding: 'x'.repeat(length) }).catch(() => undefined)
  const { taskId } = (await call(1))!
  const overhead = store.kept.get(taskId)!.state.length - 1
  const made: string[] = []
  for (let length = 20_000 - overhead - 1500; length <= 20_000 - overhead + 10; length += 10) {
    const task = await call(length)
    if (task !== undefined) made.push(task.taskId)
  }
  expect(made.length).toBeGreaterThan(10)
  const refused = client.call('loose', { padding: 'x'.repeat(20_000) })
  await expect(refused).rejects.toMatchObject({
    code: -32602,
    message: expect.stringMatching(/bytes of 18976/),
  })
  const good = await Promise.all(Array.from({ length: 5 }, () => client.call('innocent')))
  for (let calls = 0; calls < 10; calls++) await client.server.tasks.runDue()
  for (const { taskId } of good) expect(await client.get(taskId)).toMatchObject({ status: 'completed' })
  for (const id of made) expect(await client.get(id)).toMatchObject({ status: 'completed' })
})

test('a record of the version before, without room for a lease → failed, and says so', async () => {
  const store = small()
  const client = new TaskClient({
    tools: { innocent },
    tasks: createTasks({ store, runner: idle }),
    onError: () => {},
  })
  const { taskId } = await client.call('innocent')
  const task = store.kept.get(taskId)!
  const filler = 'x'.repeat(20_000 - task.state.length - 30)
  const state = JSON.stringify({ ...JSON.parse(task.state), returned: { filler } })
  await store.replace({ ...task, version: 2, state: state.padEnd(20_000) })
  await client.server.tasks.runDue()
  const ended = await client.get(taskId)
  expect(ended).toMatchObject({ status: 'failed', error: { code: -32603 } })
  expect(ended.error!.message).toMatch(/does not fit in its store.*\d+ bytes.*20000/)
})

test('a record that cannot be read holds no place, and is reported once a minute', async () => {
  const store = small()
  const reported: unknown[] = []
  const client = new TaskClient({
    tools: { innocent },
    tasks: createTasks({ store, runner: idle }),
    onError: (error) => void reported.push(error),
  })
  const bad = Array.from({ length: 30 }, (_, index) => `bad-${index}`)
  for (const id of bad)
    await store.create(
      { id, owner: 'x', version: 1, isOpen: true, dueAt: 1, expiresAt: null, state: '{"half' },
      1000,
    )
  const { taskId } = await client.call('innocent')
  for (let calls = 0; calls < 3; calls++) await client.server.tasks.runDue()
  expect(await client.get(taskId)).toMatchObject({ status: 'completed' })
  expect(reported).toHaveLength(1)
  expect(String(reported[0])).toMatch(/"bad-\d+" cannot be read/)
  expect(await store.due(Date.now(), 10)).toEqual([])
  expect(await store.read('bad-0')).toMatchObject({ isOpen: true, state: '{"half' })
})

test('a smaller step after a larger one that does not fit → the new one is named, at once', async () => {
  const store = small()
  let writes = 0
  const counted: TaskStore = {
    ...store,
    replace(task) {
      writes++
      return store.replace(task)
    },
  }
  const job = createTool({
    id: 'job',
    task: 'required',
    execute: async (_input, ctx) => {
      await ctx.step('large', () => 'x'.repeat(12_000))
      const second = await ctx.step('second', () => 'y'.repeat(9000)).catch((error: Error) => error.message)
      return second as string
    },
  })
  const client = new TaskClient({ tools: { job }, tasks: createTasks({ store: counted, maxRunMs: 5000 }) })
  const { taskId } = await client.call('job')
  await client.settle()
  const ended = await client.get(taskId)
  expect(ended.result!.content[0]!.text).toMatch(/^The result of step "second" does not fit in the task/)
  expect(writes).toBeLessThan(5)
})

const job = createTool({ id: 'job', task: 'required', execute: () => 'done' })

afterEach(() => {
  vi.useRealTimers()
})

const pass = (ms: number): void => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms })
}

test('a setup that rejects for a second → the task ends when it is back, and this is reported once', async () => {
  const reported: unknown[] = []
  let isDown = true
  const setup = () => {
    if (isDown) throw new Error('the directory is down')
  }
  const store = small()
  const tasks = createTasks({ store, runner: idle })
  const client = new TaskClient({ tools: { job }, tasks, onError: (error) => void reported.push(error) })
  const made = await Promise.all(Array.from({ length: 20 }, () => client.call('job')))
  const withSetup = new TaskClient({
    tools: { job },
    tasks: createTasks({ store, runner: idle }),
    setup,
    onError: (error) => void reported.push(error),
  })
  const delays: number[] = []
  for (let round = 0; round < 12; round++) {
    await withSetup.server.tasks.runDue()
    const { dueAt } = (await store.read(made[0]!.taskId))!
    delays.push(Math.round((dueAt! - Date.now()) / 1000))
    pass(dueAt! - Date.now() + 500)
  }
  expect(delays).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300])
  expect(reported.length).toBeLessThan(9)
  expect(String(reported[0])).toBe('Error: the directory is down')
  isDown = false
  await withSetup.server.tasks.runDue()
  for (const { taskId } of made) expect(await client.get(taskId)).toMatchObject({ status: 'completed' })
})

test('a setup that never ends → released like one that rejects', async () => {
  const store = small()
  const client = new TaskClient({ tools: { job }, tasks: createTasks({ store, runner: idle }) })
  const { taskId } = await client.call('job')
  const hanging = new TaskClient({
    tools: { job },
    tasks: createTasks({ store, runner: idle, maxIdleRuns: 1 }),
    setup: () => new Promise(() => {}),
    onError: () => {},
  })
  for (let round = 0; round < 2; round++) {
    await hanging.server.tasks.run(taskId, { deadline: Date.now() + 2050 })
    pass(4000)
  }
  await client.server.tasks.runDue()
  expect(await client.get(taskId)).toMatchObject({ status: 'completed' })
})

test('a process that does not know the tool leaves 20 of 20 to one that does, and says so once', async () => {
  const store = small()
  const reported: unknown[] = []
  const client = new TaskClient({ tools: { job }, tasks: createTasks({ store, runner: idle }) })
  const made = await Promise.all(Array.from({ length: 20 }, () => client.call('job')))
  const old = new TaskClient({
    tools: { innocent },
    tasks: createTasks({ store, runner: idle }),
    onError: (error) => void reported.push(error),
  })
  await old.server.tasks.runDue()
  expect(reported.map(String)).toEqual([expect.stringMatching(/no tool "job", which waiting tasks call/)])
  pass(1500)
  await client.server.tasks.runDue()
  for (const { taskId } of made) expect(await client.get(taskId)).toMatchObject({ status: 'completed' })
})

test('a task that kills its process: it fails after its crashes alone, and its neighbours end', async () => {
  const store = small()
  const runs = new Map<string, number>()
  let kill = (): void => {}
  const step = createTool({
    id: 'step',
    inputSchema: z.object({ name: z.string() }),
    task: 'required',
    execute: async ({ name }, ctx) => {
      runs.set(name, (runs.get(name) ?? 0) + 1)
      await ctx.step('one', async () => {
        await new Promise((resolve) => setTimeout(resolve, 10))
        if (name === 'poison') kill()
      })
      return 'done'
    },
  })
  const never = () => new Promise<never>(() => {})
  /** A process: when it is killed, nothing of it settles. */
  const startProcess = (runner: TaskRunner = { wake() {} }) => {
    let isDead = false
    let die = (): void => {}
    const death = new Promise<void>((resolve) => {
      die = resolve
    })
    const own: TaskStore = {
      ...store,
      create: (...args) => (isDead ? never() : store.create(...args)),
      read: (id) => (isDead ? never() : store.read(id)),
      replace: (task) => (isDead ? never() : store.replace(task)),
      due: (...args) => (isDead ? never() : store.due(...args)),
    }
    const client = new TaskClient({ tools: { step }, tasks: createTasks({ store: own, runner }) })
    const runDue = async (): Promise<void> => {
      kill = () => {
        isDead = true
        die()
      }
      await Promise.race([client.server.tasks.runDue(), death])
    }
    return { client, runDue }
  }
  const first = startProcess(idle)
  const made: { [name: string]: string } = {}
  for (const name of ['one', 'two', 'poison', 'three', 'four', 'five'])
    made[name] = (await first.client.call('step', { name })).taskId
  await first.runDue()
  for (let restarts = 0; restarts < 8; restarts++) {
    pass(600_000)
    await startProcess().runDue()
  }
  const { client } = startProcess()
  for (const [name, taskId] of Object.entries(made)) {
    const { status, error } = await client.get(taskId)
    expect([name, status]).toEqual([name, name === 'poison' ? 'failed' : 'completed'])
    if (name === 'poison') expect(error!.message).toMatch(/4 consecutive runs ended with their process/)
    // Once beside it, and once more.
    expect(runs.get(name)).toBeLessThanOrEqual(name === 'poison' ? 4 : 2)
  }
})

test('at most maxConcurrentRuns run at once in a process, and all end', async () => {
  let [now, most] = [0, 0]
  const busy = createTool({
    id: 'busy',
    task: 'required',
    execute: async (_input, ctx) => {
      most = Math.max(most, ++now)
      await ctx.step('wait', () => new Promise<void>((resolve) => setTimeout(resolve, 20)))
      now--
      return 'done'
    },
  })
  const tasks = createMemoryTasks({ maxConcurrentRuns: 3 })
  const client = new TaskClient({ tools: { busy }, tasks })
  const made = await Promise.all(Array.from({ length: 30 }, () => client.call('busy')))
  for (const { taskId } of made) await client.until(taskId, 'completed')
  expect(most).toBe(3)
})

test('one cron call runs all that is due, and a long task keeps no page waiting', async () => {
  let release = (): void => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  let ended = 0
  const tool = createTool({
    id: 'tool',
    inputSchema: z.object({ isLong: z.boolean() }),
    task: 'required',
    execute: async ({ isLong }, ctx) => {
      await ctx.step('work', () => (isLong ? held : undefined))
      if (++ended === 120) release()
      return 'done'
    },
  })
  const client = new TaskClient({
    tools: { tool },
    tasks: createTasks({ store: createMemoryTaskStore(), runner: idle, maxOpenTasks: 1000 }),
  })
  const secret = 'a-secret-of-thirty-two-characters!'
  const endpoint = createTaskEndpoint({ server: client.server, secret })
  for (let n = 0; n < 121; n++) await client.call('tool', { isLong: n === 0 })
  const cron = new Request('https://a.example/tasks', { headers: { authorization: `Bearer ${secret}` } })
  expect(await (await endpoint.fetch(cron)).json()).toEqual({ run: 121 })
})

test('two servers in one store leave the tasks of each other alone, and say so once', async () => {
  const store = small()
  const reported: { [id: string]: string[] } = { shop: [], bank: [] }
  const start = (id: string) =>
    new TaskClient({
      id,
      tools: { job },
      tasks: createTasks({ store, runner: idle }),
      onError: (error) => void reported[id]!.push(String(error)),
    })
  const [shop, bank] = [start('shop'), start('bank')]
  const made = await Promise.all(Array.from({ length: 20 }, () => shop.call('job')))
  const [{ taskId } = { taskId: '' }] = made
  for (let rounds = 0; rounds < 3; rounds++) expect(await bank.server.tasks.runDue()).toBe(0)
  expect(await bank.server.tasks.run(taskId)).toBe(null)
  await expect(bank.get(taskId)).rejects.toMatchObject({ code: -32602 })
  expect(await bank.server.tasks.send(taskId, 'paid', 1)).toBe(false)
  expect(await shop.server.tasks.send(taskId, 'paid', 1)).toBe(true)
  expect(reported.bank).toEqual([expect.stringMatching(/some of server "shop": this server, "bank"/)])
  await shop.server.tasks.runDue()
  for (const { taskId } of made) expect(await shop.get(taskId)).toMatchObject({ status: 'completed' })
  expect(reported.shop).toEqual([])
})

test('a waiting task of the version before goes on', async () => {
  const store = small()
  const client = new TaskClient({ tools: { job }, tasks: createTasks({ store, runner: idle }) })
  const { taskId } = await client.call('job')
  const { server: _server, ...task } = store.kept.get(taskId)!
  const run = { id: 'dead', until: Date.now() - 1, lookAt: Date.now() - 1 }
  const record = { ...JSON.parse(task.state), arguments: { unknown: true }, idleRuns: 3, run }
  await store.replace({ ...task, version: 2, state: JSON.stringify(record) })
  await client.server.tasks.runDue()
  expect(await client.get(taskId)).toMatchObject({ status: 'completed' })
})

test('one owner with hundreds of due tasks takes a quarter of a page while others wait', async () => {
  const store = small()
  const client = new TaskClient({ tools: { job }, tasks: createTasks({ store, runner: idle }) })
  const { taskId } = await client.call('job')
  const task = store.kept.get(taskId)!
  const add = (id: string, owner: string, dueAt: number) =>
    store.create({ ...task, id, owner, dueAt, version: 1 }, 1000)
  for (let n = 0; n < 300; n++) await add(`many-${n}`, 'many', n)
  for (let n = 0; n < 15; n++) await add(`other-${n}`, `owner ${n}`, 1000 + n)
  expect(await client.server.tasks.runDue()).toBe(20)
  const open = [...store.kept.values()].filter(({ isOpen }) => isOpen).map(({ id }) => id)
  expect(open.filter((id) => id.startsWith('other'))).toEqual([])
})

test('a task that loses its lease again and again in a living process → failed, and not started forever', async () => {
  const store = small()
  const { job, runs } = createCounted(() => new Promise(() => {}))
  const tasks = createTasks({ store, runner: idle, maxCrashes: 1 })
  const client = new TaskClient({ tools: { job }, tasks })
  const { taskId } = await client.call('job')
  for (let round = 0; round < 15; round++) {
    const before = (await store.read(taskId))!.version
    void client.server.tasks.runDue()
    await vi.waitFor(async () => expect((await store.read(taskId))!.version).toBeGreaterThan(before))
    if ((await client.get(taskId)).status === 'failed') break
    pass(1_000_000)
  }
  expect(await client.get(taskId)).toMatchObject({ status: 'failed' })
  expect(runs()).toBe(10)
})
