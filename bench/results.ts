/** Everything one run measured, and how to look it up. */
import type { Allocation } from './allocation.ts'
import type { AskingTiming } from './asking.ts'
import type { Bundle, WorkerId } from './bundle.ts'
import type { ColdStart } from './cold-start.ts'
import type { Timing, ToolCount } from './in-process.ts'
import type { MemoryUse } from './memory.ts'
import type { Peer } from './peers/peer.ts'
import type { Era, Method } from './requests.ts'
import type { SdkTiming } from './sdk-servers.ts'

export interface Results {
  readonly peers: readonly Peer[]
  readonly timings: readonly Timing[]
  readonly sdkServers: readonly SdkTiming[]
  readonly asking: readonly AskingTiming[]
  readonly bundles: readonly Bundle[]
  readonly coldStarts: readonly ColdStart[]
  readonly memory: readonly MemoryUse[]
  readonly allocations: readonly Allocation[]
  readonly settings: { readonly rounds: number; readonly coldStarts: number; readonly memoryRequests: number }
}

/** Microseconds per request, one sample a round. */
export function samplesOf(
  { timings }: Results,
  name: string,
  era: Era,
  method: Method,
  toolCount: ToolCount,
): readonly number[] {
  const timing = timings.find(
    (entry) =>
      entry.peer.name === name &&
      entry.peer.dialect.era === era &&
      entry.method === method &&
      entry.toolCount === toolCount,
  )
  return found(timing, `${name} (${era})`).samples
}

/** Microseconds of the processor for each call, one sample a round. */
export function sdkServerOf({ sdkServers }: Results, name: string): readonly number[] {
  return found(
    sdkServers.find((timing) => timing.name === name),
    name,
  ).samples
}

export function coldStartOf({ coldStarts }: Pick<Results, 'coldStarts'>, id: WorkerId): ColdStart {
  return found(
    coldStarts.find(({ bundle }) => bundle.id === id),
    id,
  )
}

export function bundleOf({ bundles }: Results, id: WorkerId): Bundle {
  return found(
    bundles.find((bundle) => bundle.id === id),
    id,
  )
}

export function memoryOf({ memory }: Results, subject: MemoryUse['subject']): MemoryUse {
  return found(
    memory.find((use) => use.subject === subject),
    subject,
  )
}

function found<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`Nothing was measured for ${what}.`)
  return value
}
