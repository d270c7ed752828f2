/** The runners that leave messages: what they send, and what they do with what comes. That tasks end by them is shown on the platforms. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { queueRunner, type TaskMessage, workflowRunner } from '../../../adapters/cloudflare.ts'
import { durableRunner, sqsRunner } from '../../../adapters/lambda.ts'
import type { TaskControls } from '../../../src/tasks.ts'

const NOW = 1_800_000_000_000
const HOUR_MS = 3_600_000
const context = { waitUntil: () => {} }
const QUEUE = { queueUrl: 'https://sqs.example/1/tasks' }

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW })
  vi.spyOn(console, 'error').mockImplementation(() => {})
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** Tasks whose runs resolve with these times. */
function tasksDueAt(dueAt: number | null) {
  const run = vi.fn(async () => dueAt)
  return { run, runDue: async () => 0, send: async () => false } satisfies TaskControls
}

function openQueue(dueAt: number | null, send = vi.fn(async (_message: unknown, _options?: object) => {})) {
  const runner = queueRunner({ send })
  const tasks = tasksDueAt(dueAt)
  runner.attach!(tasks)
  const deliver = async (body: unknown, attempts = 1) => {
    const message = { body, attempts, ack: vi.fn(), retry: vi.fn() } satisfies TaskMessage
    await runner.queue({ messages: [message] }, { A: 1 }, context)
    return message
  }
  return { runner, tasks, send, deliver }
}

function openSqs(dueAt: number | null) {
  const client = {
    sendMessage: vi.fn(async (_input: object) => {}),
    changeMessageVisibility: vi.fn(async (_input: object) => {}),
  }
  const runner = sqsRunner(client, QUEUE)
  const tasks = tasksDueAt(dueAt)
  runner.attach!(tasks)
  const deliver = (body: unknown, attempts = 1) => {
    const attributes = { ApproximateReceiveCount: String(attempts) }
    const record = { messageId: 'm', receiptHandle: 'r', body: String(body), attributes }
    return runner.handler({ Records: [record] }, { getRemainingTimeInMillis: () => 60_000 })
  }
  return { runner, tasks, client, deliver }
}

describe('a queue', () => {
  it.each([
    [-5000, 0],
    [1, 1],
    [90_000, 90],
    [24 * HOUR_MS, 43_200],
  ])('of Cloudflare: a task due in %i ms → a message delayed by %i seconds', async (ms, delaySeconds) => {
    const { runner, send } = openQueue(null)
    await runner.wake('a', NOW + ms)
    expect(send).toHaveBeenCalledWith({ id: 'a', at: NOW + ms }, { delaySeconds })
  })

  it.each([
    [-5000, 0],
    [24 * HOUR_MS, 900],
  ])('of SQS: a task due in %i ms → a message delayed by %i seconds', async (ms, DelaySeconds) => {
    const { runner, client } = openSqs(null)
    await runner.wake('a', NOW + ms)
    const MessageBody = JSON.stringify({ id: 'a', at: NOW + ms })
    const sent = { QueueUrl: 'https://sqs.example/1/tasks', MessageBody, DelaySeconds }
    expect(client.sendMessage).toHaveBeenCalledWith(sent)
  })

  it('a message of another server, which shares the queue → not run, delivered again, and reported by the server', async () => {
    const owner = {
      tag: () => 'shop',
      see() {},
      isForeign: vi.fn((tag: string | undefined) => tag === 'bank'),
    }
    const tasks = tasksDueAt(null)
    const cloudflare = queueRunner({ send: async () => {} })
    cloudflare.attach!(tasks, owner)
    const sqs = sqsRunner({ sendMessage: async () => {}, changeMessageVisibility: async () => {} }, QUEUE)
    sqs.attach!(tasks, owner)
    const body = { id: 'a', at: NOW - 1, server: 'bank' }

    const message = { body, attempts: 1, ack: vi.fn(), retry: vi.fn() } satisfies TaskMessage
    await cloudflare.queue({ messages: [message] }, {}, context)
    const attributes = { ApproximateReceiveCount: '1' }
    const record = { messageId: 'm', receiptHandle: 'r', body: JSON.stringify(body), attributes }
    const result = await sqs.handler({ Records: [record] }, { getRemainingTimeInMillis: () => 60_000 })

    expect(message.ack).not.toHaveBeenCalled()
    expect(message.retry).toHaveBeenCalledOnce()
    expect(result.batchItemFailures).toEqual([{ itemIdentifier: 'm' }])
    expect(tasks.run).not.toHaveBeenCalled()
    expect(owner.isForeign).toHaveBeenCalledTimes(2)
  })

  it('a message of a version that did not name the server → run', async () => {
    const { tasks, deliver } = openSqs(null)
    expect(await deliver(JSON.stringify({ id: 'a', at: NOW - 1 }))).toEqual({ batchItemFailures: [] })
    expect(tasks.run).toHaveBeenCalledOnce()
  })

  it('a message that comes early → sent again, and nothing runs', async () => {
    const { tasks, send, deliver } = openQueue(null)
    const message = await deliver({ id: 'a', at: NOW + 13 * HOUR_MS })
    expect(send).toHaveBeenCalledWith({ id: 'a', at: NOW + 13 * HOUR_MS }, { delaySeconds: 43_200 })
    expect(message.ack).toHaveBeenCalledOnce()
    expect(tasks.run).not.toHaveBeenCalled()
  })

  it('a message on time → the task runs with bindings and a deadline within 15 minutes', async () => {
    const { tasks, send, deliver } = openQueue(null)
    const message = await deliver({ id: 'a', at: NOW })
    const deadline = NOW + 900_000 - 2000
    expect(tasks.run).toHaveBeenCalledWith('a', { env: { A: 1 }, deadline, waitUntil: expect.any(Function) })
    expect(message.ack).toHaveBeenCalledOnce()
    expect(send).not.toHaveBeenCalled()
  })

  it.each([
    [1, 2],
    [3, 8],
    [50, 900],
  ])('a run that could not begin, attempt %i → again after %i seconds', async (attempts, delaySeconds) => {
    const { deliver } = openQueue(NOW)
    const message = await deliver({ id: 'a', at: NOW }, attempts)
    expect(message.retry).toHaveBeenCalledWith({ delaySeconds })
    expect(message.ack).not.toHaveBeenCalled()
    const { client, deliver: deliverSqs } = openSqs(NOW)
    const { batchItemFailures } = await deliverSqs(JSON.stringify({ id: 'a', at: NOW }), attempts)
    expect(batchItemFailures).toEqual([{ itemIdentifier: 'm' }])
    expect(client.changeMessageVisibility.mock.calls).toMatchObject([
      [{ ReceiptHandle: 'r', VisibilityTimeout: delaySeconds }],
    ])
  })

  it('a task that is due later: a first message ends there, a later one, whose first may have died, is passed on', async () => {
    const { send, deliver } = openQueue(NOW + 60_000)
    expect((await deliver({ id: 'a', at: NOW })).ack).toHaveBeenCalledOnce()
    expect(send).not.toHaveBeenCalled()
    expect((await deliver({ id: 'a', at: NOW }, 2)).ack).toHaveBeenCalledOnce()
    expect(send).toHaveBeenCalledWith({ id: 'a', at: NOW + 60_000 }, { delaySeconds: 60 })
  })

  it.each([null, 'text', 5, {}, { id: 'a' }, { id: '../a', at: 1 }, { id: 'a', at: '1' }])(
    'a message of somebody else, %j → dropped, reported, and no task runs',
    async (body) => {
      const { tasks, deliver } = openQueue(null)
      expect((await deliver(body)).ack).toHaveBeenCalledOnce()
      const sqs = openSqs(null)
      expect(await sqs.deliver(typeof body === 'string' ? body : JSON.stringify(body))).toEqual({
        batchItemFailures: [],
      })
      expect(tasks.run).not.toHaveBeenCalled()
      expect(sqs.tasks.run).not.toHaveBeenCalled()
      expect(console.error).toHaveBeenCalledTimes(2)
    },
  )

  it('that refuses a message → wake rejects; one that comes early comes again', async () => {
    const { runner, deliver } = openQueue(
      null,
      vi.fn(async () => Promise.reject(new Error('down'))),
    )
    await expect(runner.wake('a', NOW)).rejects.toThrow('down')
    expect((await deliver({ id: 'a', at: NOW + 1000 })).retry).toHaveBeenCalledOnce()
  })
})

describe('a workflow', () => {
  const taken = () => Promise.reject(new Error('(instance.already_exists)'))

  it('is created once for a time: that it is there already is no failure', async () => {
    const runner = workflowRunner({ create: taken, get: async () => ({}) })
    await expect(runner.wake('a', NOW)).resolves.toBeUndefined()
  })

  it('that can be neither created nor found → wake rejects with why it was not created', async () => {
    const gone = () => Promise.reject(new Error('instance.not_found'))
    const runner = workflowRunner({ create: taken, get: gone })
    await expect(runner.wake('a', NOW)).rejects.toThrow('already_exists')
  })
})

describe('a runner', () => {
  it('without a binding, a URL or a name → TypeError that names it', () => {
    expect(() => queueRunner(undefined as never)).toThrow(/\[\[queues.producers\]\]/)
    expect(() => workflowRunner(undefined as never)).toThrow(/\[\[workflows\]\]/)
    expect(() => sqsRunner({} as never, { queueUrl: '' })).toThrow(/"queueUrl"/)
    expect(() => durableRunner({} as never, { functionName: '' })).toThrow(/"functionName"/)
  })

  it('of two servers → TypeError; of none → its messages come again', async () => {
    const { runner, tasks } = openQueue(null)
    expect(() => runner.attach!(tasks)).toThrow(/queueRunner for each server/)
    const message = { body: { id: 'a', at: NOW }, attempts: 1, ack: vi.fn(), retry: vi.fn() }
    await queueRunner({ send: async () => {} }).queue({ messages: [message] }, {}, context)
    expect(message.retry).toHaveBeenCalledOnce()
  })
})
