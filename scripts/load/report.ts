/**
 * What came of a load, and whether that is good enough.
 */
import type { Tally } from './client.ts'
import type { Memory } from './targets.ts'

/** p99 of plain calls may be so many times their p50. */
const MAX_SPREAD = 20

/** The memory at the end may be so many times that at a third of the time. */
const MAX_GROWTH = 1.25

/** In less, memory still grows to what the load needs, and its growth is shown but not judged. */
const MIN_SECONDS = 30

export interface Sample extends Memory {
  /** Seconds since the load began. */
  readonly at: number
}

export interface Outcome {
  readonly target: string
  readonly seconds: number
  readonly clients: number
  readonly tally: Tally
  /** At a sixth, a third and a half of the time, and at the end. */
  readonly samples: readonly Sample[]
  /** Calls that the server still waits in, once everybody has gone. */
  readonly stillWaiting: number
  /** Milliseconds by which the clients' own event loop was late, for the 99th of 100 turns: part of every p99 above it. */
  readonly clientLagMs: number
}

/** What is wrong with it; empty where nothing is. */
export function failures({ tally, samples, stillWaiting, seconds }: Outcome): string[] {
  const { wrong, errors, plainMs } = tally
  const [p50, p99] = [percentile(plainMs, 50), percentile(plainMs, 99)]
  const growth = growthOf(samples)
  return [
    ...(wrong.length > 0 ? [`${wrong.length} wrong answers, such as ${wrong[0]}`] : []),
    ...(errors.length > 0 ? [`${errors.length} errors, such as ${errors[0]}`] : []),
    ...(plainMs.length === 0 ? ['no plain call was answered'] : []),
    ...(p99 > MAX_SPREAD * p50
      ? [`p99 is ${(p99 / p50).toFixed(1)} times p50, more than ${MAX_SPREAD}`]
      : []),
    ...(growth > MAX_GROWTH && seconds >= MIN_SECONDS
      ? [`memory has grown ${growth.toFixed(2)} times, more than ${MAX_GROWTH}`]
      : []),
    ...(stillWaiting > 0 ? [`${stillWaiting} calls still wait for clients that have gone`] : []),
  ]
}

/** The heap where it is known, since what the process holds is the allocator's business. */
export function sizeOf({ heapUsed, rss }: Memory): number {
  return heapUsed ?? rss
}

/** From a third of the time to the end. */
function growthOf([, early, , late]: readonly Sample[]): number {
  return sizeOf(late!) / sizeOf(early!)
}

export function describe(outcome: Outcome): string {
  const { target, seconds, clients, tally, samples, clientLagMs, stillWaiting } = outcome
  const { calls, plainMs, wrong, errors, aborted } = tally
  const total = [...calls.values()].reduce((sum, count) => sum + count, 0)
  const at = (share: number): string => `${percentile(plainMs, share).toFixed(1)} ms`
  const megabytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MB`
  const spread = percentile(plainMs, 99) / percentile(plainMs, 50)
  return [
    `${target}: ${clients} clients for ${seconds} s`,
    `  calls       ${total} (${Math.round(total / seconds)}/s), ${aborted} of them aborted`,
    ...[...calls].sort().map(([kind, count]) => `    ${kind.padEnd(26)}${count}`),
    `  wrong       ${wrong.length}`,
    `  errors      ${errors.length}`,
    `  plain calls p50 ${at(50)}, p95 ${at(95)}, p99 ${at(99)} (${spread.toFixed(1)} × p50), max ${at(100)}`,
    `              the clients' own event loop: p99 ${clientLagMs.toFixed(1)} ms late`,
    ...samples.map(
      ({ at, rss, heapUsed }) =>
        `  at ${`${Math.round(at)} s`.padEnd(8)} rss ${megabytes(rss)}${heapUsed === undefined ? '' : `, heap after collection ${megabytes(heapUsed)}`}`,
    ),
    `  growth      ${growthOf(samples).toFixed(2)} × from ${Math.round(samples[1]!.at)} s to the end`,
    `  still waiting for clients that have gone: ${stillWaiting}`,
  ].join('\n')
}

/** NaN where there are no samples. */
function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil((share / 100) * sorted.length) - 1)] ?? Number.NaN
}
