/** The parts of `mayfly check`: probes, grouped by topic. */
import type { Endpoint } from './endpoint.ts'
import type { Outcome } from './outcome.ts'

export interface Probe {
  /** Stable, for scripts: `<topic>.<what>`. */
  readonly id: string
  /** The claim that the probe tests: `an unknown method is refused`. */
  readonly title: string
  /** The section of the specification that requires it. */
  readonly spec: string
  /** Changes nothing on the server. May throw `Stop`. */
  run(endpoint: Endpoint): Outcome | Promise<Outcome>
}

export interface Topic {
  readonly title: string
  /** Whether it runs alone, after all others, because it measures time or checks the others' answers. */
  readonly runs: 'together' | 'alone'
  readonly probes: readonly Probe[]
}
