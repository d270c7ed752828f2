/**
 * The results of a load, and whether they are good enough.
 */
import type { Tally } from './client.ts'
import type { Memory } from './targets.ts'

/**
 * Limit of p99 of plain calls, as a multiple of their p50. The median window counts: other work on the machine makes some windows
 * bad, a slow server makes them all bad.
 */
const MAX_SPREAD = 20

/** Limit of the memory at the end, as a multiple of that after a third of the time. */
const MAX_GROWTH = 1.25

/** In a shorter run, memory still grows to what the load needs: growth is shown but not judged. */
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
  /** Calls that still wait at the server after all clients have gone. */
  readonly stillWaiting: number
  /** Parts of the time that the server's main thread ran, and that it waited for a processor. */
  readonly cpu: { readonly ran: number; readonly waited: number }
  /** Milliseconds by which the clients' own event loop was late, for the 99th of 100 turns: part of every p99 above it. */
  readonly clientLagMs: number
}

/** What is wrong with it; empty if nothing is. */
export function failures({ tally, samples, stillWaiting, seconds }: Outcome): string[] {
  const { wrong, errors, plainMs } = tally
  const spread = medianSpread(tally)
  const growth = growthOf(samples)
  return [
    ...(wrong.length > 0 ? [`${wrong.length} wrong answers, such as ${wrong[0]}`] : []),
    ...(errors.length > 0 ? [`${errors.length} errors, such as ${errors[0]}`] : []),
    ...(plainMs.size === 0 ? ['no plain call was answered'] : []),
    ...(spread > MAX_SPREAD ? [`p99 is ${spread.toFixed(1)} times p50, more than ${MAX_SPREAD}`] : []),
    ...(growth > MAX_GROWTH && seconds >= MIN_SECONDS
      ? [`memory has grown ${growth.toFixed(2)} times, more than ${MAX_GROWTH}`]
      : []),
    ...(stillWaiting > 0 ? [`${stillWaiting} calls still wait for clients that have gone`] : []),
  ]
}

/** Of the heap after a collection, from a third of the time to the end: the memory of the process depends on the allocator. */
function growthOf([, early, , late]: readonly Sample[]): number {
  return late!.heapUsed / early!.heapUsed
}

export function describe(outcome: Outcome): string {
  const { target, seconds, clients, tally, samples, clientLagMs, stillWaiting, cpu } = outcome
  const { calls, plainMs, wrong, errors, aborted } = tally
  const total = [...calls.values()].reduce((sum, count) => sum + count, 0)
  const all = [...plainMs.values()].flat()
  const at = (share: number): string => `${percentile(all, share).toFixed(1)} ms`
  const megabytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MB`
  const spread = percentile(all, 99) / percentile(all, 50)
  return [
    `${target}: ${clients} clients for ${seconds} s`,
    `  calls       ${total} (${Math.round(total / seconds)}/s), ${aborted} of them aborted`,
    ...[...calls].sort().map(([kind, count]) => `    ${kind.padEnd(26)}${count}`),
    `  wrong       ${wrong.length}`,
    `  errors      ${errors.length}`,
    `  plain calls p50 ${at(50)}, p95 ${at(95)}, p99 ${at(99)}, max ${at(100)}`,
    `              p99 is ${spread.toFixed(1)} × p50, and ${medianSpread(tally).toFixed(1)} × in the median of ${plainMs.size} windows`,
    `              the clients' own event loop: p99 ${clientLagMs.toFixed(1)} ms late`,
    `              the server ran ${percent(cpu.ran)} of the time, and waited for a processor ${percent(cpu.waited)} of it`,
    ...samples.map(
      ({ at, rss, heapUsed }) =>
        `  at ${`${Math.round(at)} s`.padEnd(8)} rss ${megabytes(rss)}, heap after collection ${megabytes(heapUsed)}`,
    ),
    `  growth      ${growthOf(samples).toFixed(2)} × from ${Math.round(samples[1]!.at)} s to the end`,
    `  still waiting for clients that have gone: ${stillWaiting}`,
  ].join('\n')
}

function medianSpread({ plainMs }: Tally): number {
  const spreads = [...plainMs.values()].map((took) => percentile(took, 99) / percentile(took, 50))
  return percentile(spreads, 50)
}

function percent(part: number): string {
  return `${Math.round(part * 100)} %`
}

/** NaN where there are no samples. */
function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil((share / 100) * sorted.length) - 1)] ?? Number.NaN
}
