/** What a tool or a store of tasks throws may be unreadable: the run still ends. */
import { expect, it, vi } from 'vitest'
import { createTool } from '../../../src/index.ts'
import { createMemoryTaskStore, createTasks } from '../../../src/tasks.ts'
import { escapedErrors, failing, VALUES } from '../_thrown.ts'
import { TaskClient } from './_tasks.ts'

const escaped = escapedErrors()

it.each(Object.entries(VALUES))('a tool that throws %s → the task ends', async (_what, make) => {
  vi.spyOn(console, 'error').mockImplementation(() => {})
  const one = createTool({ id: 'one', task: 'required', execute: failing(make, 'throws') })
  const client = new TaskClient({ tools: { one }, tasks: createTasks({ store: createMemoryTaskStore() }) })
  const { taskId } = await client.call('one')
  const ended = await client.until(taskId, 'completed', 'failed')
  expect(ended.status === 'failed' ? ended.error?.message : ended.result?.isError).toBeTruthy()
  expect(escaped).toEqual([])
})

// Each takes the least time of a run, in which its writes are repeated.
it.each(['a revoked Proxy', 'a Proxy of a ProtocolError that cannot be read'])(
  'a store that throws %s at the end of a run → the run ends',
  async (what) => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const memory = createMemoryTaskStore()
    let isDown = false
    const store = {
      ...memory,
      replace: async (...given: Parameters<typeof memory.replace>) =>
        isDown ? failing(VALUES[what]!, 'throws')() : memory.replace(...given),
    }
    const one = createTool({
      id: 'one',
      task: 'required',
      execute: () => {
        isDown = true
        return 'done'
      },
    })
    const client = new TaskClient({
      tools: { one },
      tasks: createTasks({ store, leaseMs: 2000, maxRunMs: 2000 }),
    })
    const { taskId } = await client.call('one')
    await vi.waitFor(() => expect(isDown).toBe(true))
    await client.settle()
    isDown = false
    expect(await client.get(taskId)).toMatchObject({ taskId })
    expect(escaped).toEqual([])
  },
)
