/** What `mayfly check` is made of: probes, grouped by topic. */
import type { Endpoint } from './endpoint.ts'
import type { Outcome } from './outcome.ts'

export interface Probe {
  /** Stable, for scripts: `<topic>.<what>`. */
  readonly id: string
  /** The claim that is tried: `an unknown method is refused`. */
  readonly title: string
  /** The section that says so. */
  readonly spec: string
  /** Changes nothing on the server. May throw `Stop`. */
  run(endpoint: Endpoint): Outcome | Promise<Outcome>
}

export interface Topic {
  readonly title: string
  /** Alone: after all others and one by one, since it measures, or judges what the others saw. */
  readonly runs: 'together' | 'alone'
  readonly probes: readonly Probe[]
}
