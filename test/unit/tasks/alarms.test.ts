/** The object of `alarmObject`, with a storage and alarms in memory: what it does when something dies. workerd runs it in test/runtimes. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { alarmObject, alarmRunner } from '../../../adapters/cloudflare.ts'
import type { SlicePlatform, TaskControls } from '../../../src/tasks.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] })
  vi.spyOn(console, 'error').mockImplementation(() => {})
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

type Run = TaskControls['run']
const EVENTS = { only: 'events', tag: () => 'shop', see() {}, isForeign: () => false }
const TASKS = { tag: () => 'shop', see() {}, isForeign: () => false }
const controls = (run: Run): TaskControls => ({ run, runDue: async () => 0, send: async () => false })

/** One object, whose alarms fire when the time is over. */
function createObject() {
  const stored = new Map<string, unknown>()
  let alarmAt: number | null = null
  const storage = {
    get: async (key: string) => structuredClone(stored.get(key)),
    put: async (key: string, value: unknown) => void stored.set(key, structuredClone(value)),
    deleteAll: async () => stored.clear(),
    getAlarm: async () => alarmAt,
    async setAlarm(at: number) {
      alarmAt = at
    },
    async deleteAlarm() {
      alarmAt = null
    },
  }
  const Alarms = alarmObject(() => runner)
  const start = () => new Alarms({ storage } as never, {})
  let instance = start()
  const runner = alarmRunner({
    idFromName: (name) => name,
    get: () => ({ fetch: (url, init) => instance.fetch(new Request(url, init)) }),
  })
  const until = async (at: number): Promise<void> => {
    await vi.advanceTimersByTimeAsync(Math.max(0, at - Date.now()))
  }
  return {
    runner,
    stored,
    /** Fires what is due within this time, one alarm after the other. */
    async pass(ms: number) {
      const endsAt = Date.now() + ms
      while (alarmAt !== null && alarmAt <= endsAt) {
        await until(alarmAt)
        alarmAt = null
        let isOver = false
        void instance.alarm().then(() => {
          isOver = true
        })
        do await vi.advanceTimersByTimeAsync(1)
        while (!isOver && Date.now() < endsAt)
        if (!isOver) return
      }
      await until(endsAt)
    },
    /** The process ends. Then each attempt to start it fails, after which workerd sets no alarm again. */
    dieWithAlarm() {
      instance = start()
      alarmAt = null
    },
  }
}

it('a run that died, and whose alarm is lost, is followed by another when the object is told of the next time', async () => {
  const { runner, stored, pass, dieWithAlarm } = createObject()
  const run = vi.fn<Run>(() => new Promise(() => {}))
  runner.attach!(controls(run), EVENTS)
  await runner.wake('events', Date.now())
  await pass(1000)
  expect(run).toHaveBeenCalledOnce()

  dieWithAlarm()
  run.mockResolvedValue(null)
  await runner.wake('events', Date.now() + 60_000)
  await pass(61_000)
  expect(run.mock.calls.length).toBeGreaterThanOrEqual(2)
  expect(stored.size).toBe(0)
})

it('Events run at each time up to the latest that was asked for, also after an earlier one; a task only when it is due', async () => {
  const { runner, stored, pass } = createObject()
  const run = vi.fn<Run>(async () => null)
  runner.attach!(controls(run), EVENTS)
  // One process relies on this time and tells of no other before it. Another one has something that is due earlier.
  await runner.wake('events', Date.now() + 60_000)
  await runner.wake('events', Date.now() + 5000)
  await pass(6000)
  expect(run).toHaveBeenCalledOnce()
  await pass(60_000)
  expect(run).toHaveBeenCalledTimes(2)
  expect(stored.size).toBe(0)

  runner.attach!(controls(run), TASKS)
  await runner.wake('a', Date.now() + 60_000)
  await runner.wake('a', Date.now() + 5000)
  await pass(6000)
  expect(run).toHaveBeenCalledTimes(3)
  expect(stored.size).toBe(0)
})

it('work of waitUntil that never ends delays the next run by half a minute, not by the quarter of an hour of an alarm', async () => {
  const { runner, pass } = createObject()
  const run = vi.fn(async (_id: string, { waitUntil }: SlicePlatform = {}) => {
    waitUntil?.(new Promise(() => {}))
    return null
  })
  runner.attach!(controls(run), TASKS)
  await runner.wake('a', Date.now())
  await pass(1000)
  await runner.wake('a', Date.now() + 2000)
  await pass(0)
  expect(run).toHaveBeenCalledOnce()
  await vi.advanceTimersByTimeAsync(31_000)
  await pass(1000)
  expect(run).toHaveBeenCalledTimes(2)
})

it('one runner serves the tasks and the Events of a server', async () => {
  const { runner, pass } = createObject()
  const tasks = vi.fn<Run>(async () => null)
  const events = vi.fn<Run>(async () => null)
  runner.attach!(controls(tasks), TASKS)
  runner.attach!(controls(events), EVENTS)
  expect(() => runner.attach!(controls(tasks), TASKS)).toThrow('call alarmRunner for each server')
  await runner.wake('a', Date.now())
  await pass(1000)
  expect([tasks, events].map(({ mock }) => mock.calls.length)).toEqual([1, 0])
  await runner.wake('events', Date.now())
  await pass(1000)
  expect([tasks, events].map(({ mock }) => mock.calls.length)).toEqual([1, 1])
})

it('a run of Events by the runner of tasks, which share a class → not taken for a task that is gone: tried again, and reported', async () => {
  const { runner, stored, pass } = createObject()
  const run = vi.fn<Run>(async () => null)
  runner.attach!(controls(run), TASKS)
  await runner.wake('events', Date.now())
  await pass(1000)
  expect(run).not.toHaveBeenCalled()
  expect(stored.size).toBe(1)
  expect(console.error).toHaveBeenCalledWith(expect.stringContaining('No server uses this runner'))
})
