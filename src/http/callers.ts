/** Who calls, and how often: made at its first use, and never for a server that neither knows nor limits its callers. */
import { withPart } from '../definition/part.ts'
import type { Checkpoint } from '../protocol/engine-options.ts'
import type { AdmissionOptions } from './admission.ts'
import type { AdmitCaller } from './admit-caller.ts'
import { loadCallers } from './load-callers.ts'
import type { Traffic, TrafficOptions } from './traffic.ts'

export interface Callers {
  readonly traffic: Traffic
  readonly gate: Pick<Checkpoint, 'count' | 'enter'>
  readonly admit: AdmitCaller
}

/** Calls `use`, the first time after the code was loaded. @throws PartError as `part`. */
export type WithCallers = <Result>(
  use: (callers: Callers) => Result | Promise<Result>,
) => Result | Promise<Result>

export function createCallers(options: AdmissionOptions & TrafficOptions): WithCallers {
  let made: Callers | undefined
  return (use) =>
    made !== undefined
      ? use(made)
      : withPart(loadCallers, ({ createAdmitCaller, createGate, createTraffic }) => {
          if (made === undefined) {
            const traffic = createTraffic(options)
            made = { traffic, gate: createGate(traffic), admit: createAdmitCaller(options, traffic) }
          }
          return use(made)
        })
}

/** Whether calls are neither counted nor limited, on any deployment. */
export function isUnlimited({ rateLimiterFor, maxConcurrentCalls }: TrafficOptions): boolean {
  return rateLimiterFor === undefined && maxConcurrentCalls === Number.POSITIVE_INFINITY
}
