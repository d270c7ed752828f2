/** Machines whose clocks differ: the store's decides. */
import { describe, expect, it, vi } from 'vitest'
import { createTool } from '../../../../src/index.ts'
import { createTasks, type TaskStore } from '../../../../src/tasks.ts'
import { eventually } from '../../../_eventually.ts'
import { TaskClient } from '../../../unit/tasks/_tasks.ts'
import { HOUR_MS, kept, newTask, type Stores } from './_tasks.ts'

export function clockScenarios(stores: Stores): void {
  const { connect, connectTwo } = stores
  describe('clocks', () => {
    /** A machine whose clock differs from now on. It runs on. */
    const skew = (ms: number): void => {
      vi.useRealTimers()
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms, shouldAdvanceTime: true })
    }

    it.each([HOUR_MS, -HOUR_MS])('a machine that is %d ms ahead learns it from the store', async (ms) => {
      const store = await connect()
      if (store.clockOffsetMs === undefined) return
      skew(ms)
      await kept(store, newTask())
      const offsetMs = await store.clockOffsetMs()
      expect(Math.abs(offsetMs + ms)).toBeLessThan(2000)
    })

    it.each([
      [0, HOUR_MS],
      [-HOUR_MS, 0],
      [HOUR_MS, -HOUR_MS],
    ])(
      'a task of a machine that is %d ms ahead is not run again by one that is %d ms ahead [tasks.clocks]',
      async (first, second) => {
        const [here, there] = await connectTwo()
        if (here.clockOffsetMs === undefined) return
        const begun = vi.fn()
        let finish = (_said: string): void => {}
        const done = new Promise<string>((resolve) => {
          finish = resolve
        })
        const machine = (store: TaskStore, charged: string | Promise<string>) => {
          const job = createTool({
            id: 'job',
            task: 'required',
            execute: async (_input, ctx) => {
              await ctx.sleep('nothing', 0)
              return ctx.step('charge', () => {
                begun()
                return charged
              })
            },
          })
          // Requests run its tasks, and nothing else.
          const tasks = createTasks({ store, runner: { wake: () => {} } })
          return new TaskClient({ tools: { job }, tasks })
        }
        skew(first)
        // An object tells its time with each answer.
        if (stores.backend.wakesItself) await kept(here, newTask())
        const one = machine(here, done)
        const { taskId } = await one.call('job')
        await eventually(() => expect(begun).toHaveBeenCalledOnce())

        skew(second)
        if (stores.backend.wakesItself) await kept(there, newTask())
        const other = machine(there, 'charged again')
        await other.server.tasks.runDue()
        await other.server.tasks.run(taskId)
        await other.get(taskId)
        await other.settle()
        expect(begun).toHaveBeenCalledOnce()

        skew(first)
        finish('charged')
        expect((await one.until(taskId, 'completed')).result!.content[0]!.text).toBe('charged')
      },
    )

    it('a sleep of one machine is as long on another [tasks.clocks]', async () => {
      const [here, there] = await connectTwo()
      if (here.clockOffsetMs === undefined) return
      const machine = (store: TaskStore) => {
        const job = createTool({
          id: 'job',
          task: 'required',
          execute: async (_input, ctx) => {
            await ctx.sleep('long', HOUR_MS / 2)
            return 'slept'
          },
        })
        return new TaskClient({ tools: { job }, tasks: createTasks({ store, runner: { wake: () => {} } }) })
      }
      if (stores.backend.wakesItself) await kept(here, newTask())
      const one = machine(here)
      const { taskId } = await one.call('job')
      await one.settle()
      skew(HOUR_MS)
      if (stores.backend.wakesItself) await kept(there, newTask())
      const other = machine(there)
      const dueAt = await other.server.tasks.run(taskId)
      expect(dueAt! - Date.now()).toBeGreaterThan(HOUR_MS / 2 - 60_000)
      // Half an hour later.
      vi.setSystemTime(Date.now() + HOUR_MS / 2 + 1000)
      await other.server.tasks.run(taskId)
      expect((await other.get(taskId)).status).toBe('completed')
    })
  })
}
