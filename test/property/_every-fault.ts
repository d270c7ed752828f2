/** Runs a scenario once for each of its writes and each fault. The runs share the clock, and go on at the same time. */
import type { Scenario } from './_decisions.ts'
import { type FaultRun, runWithFault, type Surroundings } from './_fault-run.ts'
import { FAULTS, type PlannedFault } from './_faulty-store.ts'

/** `MAYFLY_FAULTS=2` has each fault at any two writes. */
const COUNT = Number(process.env.MAYFLY_FAULTS ?? 1)

/** Runs at the same time. */
const AT_ONCE = 1000

export interface EveryFault {
  readonly runs: number
  readonly found: readonly string[]
}

/** @param surroundings of each run. */
export async function runWithEveryFault(
  scenarios: { readonly [name: string]: Scenario },
  surroundings: () => Surroundings,
): Promise<EveryFault> {
  const plain = await Promise.all(
    Object.entries(scenarios).map(async ([name, scenario]) => {
      // What a run does for the first time takes real time, and on a busy machine two events then need a write more than ever after.
      const first = await runWithFault(scenario, surroundings())
      const second = await runWithFault(scenario, surroundings())
      const faults = [...first.faults, ...second.faults]
      const writes = Math.min(first.writes, second.writes)
      return { name, scenario, writes, found: faults.map((one) => `${name}: ${one}`) }
    }),
  )
  const left = plain.flatMap(({ name, scenario, writes }) =>
    plansOf(writes).map((planned) => ({ name, scenario, planned })),
  )
  const runs = left.length
  const found = plain.flatMap((one) => one.found)
  const work = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const { name, scenario, planned } = next
      const run = await runWithFault(scenario, surroundings(), planned)
      const where = planned.map(({ at, fault }) => `${fault} at ${at}`).join(', ')
      found.push(...faultsOf(run, planned).map((one) => `${name}, ${where}: ${one}`))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return { runs, found }
}

function plansOf(writes: number): readonly (readonly PlannedFault[])[] {
  const firsts = FAULTS.flatMap((fault) =>
    Array.from({ length: writes }, (_, at): PlannedFault[] => [{ at, fault }]),
  )
  if (COUNT === 1) return firsts
  return firsts.flatMap(([first]) => {
    const { at, fault } = first!
    return Array.from({ length: writes - at - 1 }, (_, more) => [first!, { at: at + 1 + more, fault }])
  })
}

/** A second fault may find its write gone. */
function faultsOf({ faults, happened }: FaultRun, planned: readonly PlannedFault[]): readonly string[] {
  return happened > 0 || planned.length === 0 ? faults : [...faults, 'the fault has not happened']
}
