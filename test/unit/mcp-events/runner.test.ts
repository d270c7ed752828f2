/** What causes deliveries that are due later. */
import { afterEach, expect, it, vi } from 'vitest'
import { createMemoryEvents } from '../../../src/mcp-events.ts'
import type { TaskRunner } from '../../../src/tasks.ts'
import { createEventServer } from './_events.ts'

afterEach(() => void vi.useRealTimers())

type Attach = NonNullable<TaskRunner['attach']>

function createRunner(isPrompt = false) {
  const woken: number[] = []
  let tasks: Parameters<Attach>[0] | undefined
  const runner: TaskRunner = {
    isPrompt,
    wake: (_id, at) => void woken.push(at - Date.now()),
    attach: (given) => {
      tasks = given
    },
  }
  return { runner, woken, run: () => tasks!.run('events') }
}

it('a runner of tasks is asked for a run after each event, and after a delivery that failed', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const { runner, woken, run } = createRunner()
  const { subscribe, endpoints, emit } = createEventServer({ runner })
  await subscribe()
  endpoints.answer = () => ({ status: 500 })
  await emit()
  const [died, retry] = woken
  expect(died).toBe(60_000)
  expect(retry).toBeGreaterThanOrEqual(4000)
  expect(retry).toBeLessThanOrEqual(6000)

  endpoints.answer = () => ({ status: 200 })
  vi.setSystemTime(Date.now() + 6000)
  expect(await run()).toBeNull()
  expect(endpoints.received).toHaveLength(2)
})

it('a prompt runner delivers new events itself', async () => {
  const { runner, woken, run } = createRunner(true)
  const { subscribe, endpoints, emit } = createEventServer({ runner })
  await subscribe()
  await emit()
  expect(endpoints.received).toEqual([])
  expect(woken[0]).toBeLessThanOrEqual(0)
  expect(await run()).toBeNull()
  expect(endpoints.received).toHaveLength(1)
})

it('a runner that fails is reported, and the event is delivered', async () => {
  const runner: TaskRunner = { wake: () => Promise.reject(new Error('no queue')) }
  const { subscribe, endpoints, emit, errors } = createEventServer({ runner })
  await subscribe()
  await emit()
  expect(endpoints.received).toHaveLength(1)
  expect(errors).toMatchObject([{ message: 'no queue' }])
})

it('in one process, timers try again', async () => {
  vi.useFakeTimers()
  const { subscribe, endpoints, emit } = createEventServer({}, createMemoryEvents())
  await subscribe()
  endpoints.answer = () => ({ status: 500 })
  await emit()
  endpoints.answer = () => ({ status: 200 })
  await vi.advanceTimersByTimeAsync(6100)
  await vi.waitFor(() => expect(endpoints.received).toHaveLength(2))
})

it('while the store is down, a run says that it could do nothing, and asks for no other', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const { runner, woken, run } = createRunner()
  const inner = createMemoryEvents()
  const down = async (): Promise<never> => {
    throw new Error('the store is down')
  }
  const { server } = createEventServer({ runner }, { ...inner, list: down })
  for (let count = 0; count < 3; count++) expect(await run()).toBeLessThanOrEqual(Date.now())
  expect(woken).toEqual([])
  // Nobody repeats a run of one's own.
  await server.events.run()
  await server.events.run()
  expect(woken).toEqual([5000])
})

it('in one process, timers try again after the store was down', async () => {
  vi.useFakeTimers()
  const inner = createMemoryEvents()
  let isDown = false
  const list: typeof inner.list = (options) =>
    isDown ? Promise.reject(new Error('the store is down')) : inner.list(options)
  const { subscribe, endpoints, emit } = createEventServer({}, { ...inner, list })
  await subscribe()
  endpoints.answer = () => ({ status: 500 })
  await emit()
  endpoints.answer = () => ({ status: 200 })
  isDown = true
  await vi.advanceTimersByTimeAsync(60_000)
  expect(endpoints.received).toHaveLength(1)
  isDown = false
  await vi.advanceTimersByTimeAsync(20_000)
  await vi.waitFor(() => expect(endpoints.received).toHaveLength(2))
})

it('a run that had no time for all says when the next one begins, and asks for it once', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const { runner, woken, run } = createRunner(true)
  const { subscribe, endpoints, emit } = createEventServer({ runner })
  await subscribe()
  for (let count = 0; count < 3; count++) await emit()
  woken.length = 0
  endpoints.answer = () => {
    vi.setSystemTime(Date.now() + 60_000)
    return { status: 200 }
  }
  const next = await run()
  expect(endpoints.received).toHaveLength(1)
  expect(woken).toEqual([next! - Date.now()])
  expect(next).toBeGreaterThan(Date.now())
})
