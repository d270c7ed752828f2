/** Retries whose writes are rejected, lost, late, repeated, or cut off by the end of the process: one new task, and no stored step runs again. */
import { expect, test } from 'vitest'
import { createTool, MCPServer } from '../../../src/index.ts'
import { createMemoryTaskStore, createTasks, type StoredTask, type TaskStore } from '../../../src/tasks.ts'
import { createTaskAdmin, type TaskOperations } from '../../../src/tasks-admin.ts'
import { secretOf } from '../../_secrets.ts'
import { FAULTS, Injector, Process } from '../../property/_faulty-store.ts'

const ran: string[] = []

function open(store: TaskStore): { server: MCPServer; tasks: TaskOperations } {
  const charge = createTool({
    id: 'charge',
    task: 'required',
    execute: async (_input, ctx) => {
      await ctx.step('load', () => void ran.push('load'))
      await ctx.step('charge', () => void ran.push('charge'))
      return 'paid'
    },
  })
  const tasks = createTasks({ store })
  const server = new MCPServer({
    id: 'shop',
    name: 'Shop',
    version: '1',
    log: false,
    tools: { charge },
    tasks,
  })
  return { server, tasks: createTaskAdmin({ secret: secretOf('x') }).of(server) }
}

/** A task that failed at its second step. */
function failedTask(): StoredTask {
  const error = { name: 'Error', message: 'closed' }
  const now = Date.now()
  const record = {
    seed: 'seed',
    tool: 'charge',
    arguments: {},
    principal: '',
    caller: { era: 'modern', protocolVersion: '2026-07-28', clientCapabilities: {} },
    createdAt: now,
    updatedAt: now,
    ttlMs: 3_600_000,
    pollIntervalMs: 1000,
    status: 'completed',
    result: { content: [], isError: true },
    isWhole: true,
    journal: {
      answers: {},
      refusals: {},
      unread: {},
      steps: { load: [] },
      errors: { charge: [error] },
      order: ['step load', 'step charge'],
    },
    questions: {},
    asked: 0,
    inbox: { answers: {}, events: {} },
    awaited: [],
    idleRuns: 0,
  }
  const times = { dueAt: null, expiresAt: now + 3_600_000 }
  return {
    id: 'failed',
    owner: 'ann',
    version: 1,
    isOpen: false,
    state: JSON.stringify(record),
    server: 'shop',
    ...times,
  }
}

const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

const writes = [0, 1]
const cases = FAULTS.filter((fault) => !/away|paused/.test(fault)).flatMap((fault) =>
  writes.map((at) => [fault, at] as const),
)

test.each(cases)(
  '%s at write %i of a retry, which is repeated until it is answered → one new task',
  async (fault, at) => {
    ran.length = 0
    const store = createMemoryTaskStore()
    await store.create(failedTask(), 10)
    const injector = new Injector([{ at, fault }])
    const first = open(new Process(store, injector, () => true, 0))
    const answers = await Promise.all(
      [first.tasks.retry('failed'), first.tasks.retry('failed')].map((one) =>
        Promise.race([one.catch(() => undefined), later(3000)]),
      ),
    )
    const { server, tasks } = open(store)
    const { taskId } = await tasks.retry('failed')
    await later(50)
    expect(await tasks.retry('failed')).toEqual({ taskId })
    for (const answer of answers) if (answer !== undefined) expect(answer).toEqual({ taskId })
    await server.tasks.runDue()
    const ids = (await store.list!({ limit: 10 })).tasks.map(({ id }) => id).sort()
    expect(ids).toEqual(['failed', taskId].sort())
    expect(await tasks.show(taskId)).toMatchObject({ status: 'completed' })
    expect(ran).toEqual(['charge'])
  },
)
