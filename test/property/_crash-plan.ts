/** A ten-step task with questions and sleeps, what becomes of it, and what must never be seen. Also for workerd. */
import * as z from 'zod'
import { createTool } from '../../src/index.ts'
import type { StoredTask } from '../../src/tasks.ts'

export const STEPS = 10

/** What happens in one seed. */
export interface Plan {
  /** The writes at which a process dies, one for each process: how many it does before, and whether the last one is kept. */
  readonly deaths: readonly { readonly afterWrites: number; readonly isKept: boolean }[]
  /** By step: what the tool does after it. */
  readonly between: readonly ('nothing' | 'sleep' | 'ask' | 'ask twice')[]
}

/** Everything seen of one task. */
export class Witness {
  /** Of the task, where it is looked for by that. */
  id: string | undefined
  readonly recorded = new Set<string>()
  readonly faults: string[] = []
  deaths = 0
  /** The messages that were answered. */
  readonly #answered = new Set<string>()
  /** By version: the run that the task had after the write. */
  readonly #runs: [version: number, run: string | undefined][] = []

  /** A question is asked once more only if its answer was lost. */
  answers(message: string): void {
    if (this.#answered.has(message)) this.faults.push(`"${message}" was asked again after its answer`)
    this.#answered.add(message)
  }

  /** A run that has lost its place to another has written since. */
  overlaps(): string[] {
    const runs = this.#runs.sort(([one], [other]) => one - other).map(([, run]) => run)
    const changes = runs.filter((run, index) => run !== undefined && run !== runs[index - 1])
    return changes
      .filter((run, index) => changes.indexOf(run) !== index)
      .map((run) => `two runs wrote: ${run}`)
  }

  ran(n: number): void {
    if (this.recorded.has(`step ${n}`)) this.faults.push(`step ${n} ran again after it was recorded`)
    if (n > 0 && !this.recorded.has(`step ${n - 1}`))
      this.faults.push(`step ${n} began before step ${n - 1} was recorded`)
  }

  saw({ state, version }: StoredTask): void {
    const { journal, status, run } = JSON.parse(state) as {
      journal: { steps: object }
      status: string
      run?: { id: string }
    }
    this.#runs.push([version, run?.id])
    if (status === 'completed') return
    for (const step of Object.keys(journal.steps)) this.recorded.add(step)
  }
}

/**
 * @param find the plan and the witness of a call, by its argument.
 * @param wait lets `ms` pass on the clock of this run.
 */
export function createJob(
  find: (name: string) => { readonly plan: Plan; readonly witness: Witness },
  wait: (ms: number) => Promise<void>,
) {
  return createTool({
    id: 'job',
    inputSchema: z.object({ name: z.string().default('') }),
    task: 'required',
    execute: async ({ name }, ctx) => {
      const { plan, witness } = find(name)
      const said: string[] = []
      const ask = async (message: string): Promise<string> => {
        const answer = await ctx.elicit(message, z.object({ text: z.string() }))
        return answer.action === 'accept' ? answer.content.text : answer.action
      }
      for (let n = 0; n < STEPS; n++) {
        const step = async (): Promise<string> => {
          witness.ran(n)
          await wait(1)
          return `s${n}`
        }
        said.push(await ctx.step(`step ${n}`, step))
        const what = plan.between[n]
        if (what === 'sleep') await ctx.sleep(`sleep ${n}`, 40)
        if (what === 'ask') said.push(await ask(`ask ${n}`))
        if (what === 'ask twice') said.push(...(await Promise.all([ask(`ask ${n}a`), ask(`ask ${n}b`)])))
      }
      return said.join(' ')
    },
  })
}

/** The result of the task, however often it died. */
export function expected({ between }: Plan): string {
  const said = Array.from({ length: STEPS }, (_, n) => {
    if (between[n] === 'ask') return [`s${n}`, `<ask ${n}>`]
    return between[n] === 'ask twice' ? [`s${n}`, `<ask ${n}a>`, `<ask ${n}b>`] : [`s${n}`]
  })
  return said.flat().join(' ')
}
