/**
 * What every runner must do, with a store that knows nothing of runners. Nobody asks for a task here until it has ended, since every
 * `tasks/get` would run what is due.
 */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { TaskWire } from '../_wire.ts'
import { LEASE_MS } from './_job.ts'
import { type StoreServer, startStoreServer } from './_store-server.ts'

export interface Running {
  readonly wire: TaskWire
  /** Sends the event `go` to a task. */
  go(taskId: string): Promise<unknown>
  /** The times that the runner was told of so far. */
  wakes(): Promise<readonly { readonly id: string; readonly at: number }[]>
  /** Has the runner called for a task, as by a message that comes twice. */
  call(wake: { readonly id: string; readonly at: number }): Promise<unknown>
  /** Whether steps say in which process they run, as `<process> <name> <step>`: it may be killed. */
  readonly hasProcesses?: boolean
  stop(): Promise<unknown>
}

const TIMEOUT_MS = 90_000

export function runnerSuite(name: string, start: (storeUrl: string) => Promise<Running>): void {
  describe(name, { timeout: TIMEOUT_MS + 10_000 }, () => {
    let keeper: StoreServer
    let running: Running
    beforeAll(async () => {
      keeper = await startStoreServer()
      running = await start(keeper.url)
    }, TIMEOUT_MS)
    afterAll(async () => {
      await running?.stop()
      keeper?.stop()
    })

    const didOf = (name: string): string[] =>
      keeper.did.flatMap((line) => (line.startsWith(`${name} `) ? line.slice(name.length + 1) : []))
    const until = (claim: () => unknown): Promise<unknown> =>
      vi.waitFor(claim, { timeout: TIMEOUT_MS, interval: 50 })
    const ended = async (taskId: string, name: string): Promise<void> => {
      await until(async () => expect(await keeper.store.read(taskId)).toMatchObject({ isOpen: false }))
      expect(await running.wire.get(taskId)).toMatchObject({
        status: 'completed',
        result: { content: [{ text: `done ${name}` }] },
      })
    }

    it('a task that sleeps goes on when it is due, with no request and no recorded step again [tasks.runners]', async () => {
      const { taskId } = await running.wire.call('job', { name: 'sleeper', sleepMs: 2500 })
      const startedAt = Date.now()
      await ended(taskId, 'sleeper')
      expect(Date.now() - startedAt).toBeGreaterThan(2000)
      expect(didOf('sleeper')).toEqual(['one', 'two'])
    })

    it('a task that is due earlier than was thought goes on then', async () => {
      const { taskId } = await running.wire.call('job', { name: 'waiter', waits: true })
      const isWaiting = async () =>
        expect(
          (await running.wakes()).some(({ id, at }) => id === taskId && at > Date.now() + 3_000_000),
        ).toBe(true)
      await until(isWaiting)
      await running.go(taskId)
      await ended(taskId, 'waiter')
      expect(didOf('waiter')).toEqual(['one', 'two'])
    })

    it('a run that takes longer than its lease is looked at each time the lease would end, and not doubled', async () => {
      const { taskId } = await running.wire.call('job', { name: 'long', slowMs: 4 * LEASE_MS })
      await ended(taskId, 'long')
      expect(didOf('long')).toEqual(['one', 'slow', 'two'])
      const looks = (await running.wakes()).filter(({ id }) => id === taskId).length
      expect(looks).toBeGreaterThanOrEqual(2)
      expect(looks).toBeLessThanOrEqual(8)
    })

    it('a run that is cut off from its store for more than two leases ends its step, or another does, once the store is back', async () => {
      const { taskId } = await running.wire.call('job', { name: 'cut', sleepMs: 500, slowMs: 1500 })
      await until(() => expect(didOf('cut')).toContain('slow'))
      keeper.isDown = true
      await new Promise((resolve) => setTimeout(resolve, 2.5 * LEASE_MS))
      keeper.isDown = false
      await ended(taskId, 'cut')
      const did = didOf('cut')
      expect(did.filter((step) => step === 'one')).toHaveLength(1)
      expect(did).toContain('slow')
      expect(did.filter((step) => step === 'two')).toHaveLength(1)
    })

    it('a run whose process is killed is followed by another', async ({ skip }) => {
      if (!running.hasProcesses) skip()
      const { taskId } = await running.wire.call('job', { name: 'killed', sleepMs: 500, slowMs: 1500 })
      const pidOf = () => keeper.did.find((line) => /^\d+ killed slow$/.test(line))?.split(' ')[0]
      await until(() => expect(pidOf()).toBeDefined())
      process.kill(Number(pidOf()), 'SIGKILL')
      await ended(taskId, 'killed')
      expect(didOf('killed')).toEqual(['one', 'slow', 'slow', 'two'])
    })

    it('a message that comes too early, twice or for a task that is gone does no harm', async () => {
      const { taskId } = await running.wire.call('job', { name: 'early', sleepMs: 3000 })
      const at = Date.now() + 3000
      await Promise.all([
        running.call({ id: taskId, at }),
        running.call({ id: taskId, at: Date.now() }),
        running.call({ id: 'unknown', at: Date.now() }),
      ])
      await ended(taskId, 'early')
      await running.call({ id: taskId, at: Date.now() })
      expect(didOf('early')).toEqual(['one', 'two'])
    })
  })
}
