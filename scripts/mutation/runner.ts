/** Runs tests in processes that are ended when a mutant makes them hang. */
import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import type { Ran, Run, Start } from './process.ts'

/** `hung`: the process gave no answer in time, and was ended. */
export type Outcome = Ran | 'hung'

export interface Runner {
  run(run: Run, timeoutMs: number): Promise<Outcome>
  close(): void
}

export function createRunner(start: Start): Runner {
  let current: ChildProcess | undefined

  async function started(): Promise<ChildProcess> {
    if (current) return current
    const child = fork(join(import.meta.dirname, 'process.ts'), {
      // Warnings of Node, and of vitest about a thread that a mutant has broken.
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      // Tests read some of them; none is for the servers under test.
      env: { ...process.env, NODE_ENV: 'test', FAST_CHECK_SHRINK: 'no' },
    })
    child.once('exit', () => {
      if (current === child) current = undefined
    })
    child.send(start)
    if ((await answer(child)) === 'hung')
      throw new Error('vitest did not start: see `npx vitest run test/unit`.')
    current = child
    return child
  }

  function end(): void {
    current?.kill('SIGKILL')
    current = undefined
  }

  return {
    async run(run, timeoutMs) {
      const child = await started()
      const timeout = setTimeout(end, timeoutMs)
      child.send(run)
      const outcome = await answer(child)
      clearTimeout(timeout)
      return outcome as Outcome
    },
    close: end,
  }
}

/** The next message of a process; `hung` where it ends before, as it does when it is ended or memory runs out. */
function answer(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve) => {
    const onMessage = (message: unknown) => settle(message)
    const onExit = () => settle('hung')
    const settle = (outcome: unknown) => {
      child.off('message', onMessage)
      child.off('exit', onExit)
      resolve(outcome)
    }
    child.on('message', onMessage)
    child.on('exit', onExit)
  })
}
