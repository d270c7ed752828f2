/** Medians and minima: both shrug off the one round in which the machine was busy elsewhere. */

export interface Spread {
  readonly median: number
  readonly min: number
}

export function spread(samples: readonly number[]): Spread {
  const sorted = [...samples].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const median = sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
  return { median, min: sorted[0]! }
}

/** The median of `samples[i] / others[i]`: what was measured in one round is compared with its neighbour only. */
export function pairedRatio(samples: readonly number[], others: readonly number[]): Spread {
  return spread(samples.map((sample, index) => sample / others[index]!))
}

/** The median of the slopes between all pairs of points (Theil and Sen). */
export function robustSlope(points: readonly { readonly x: number; readonly y: number }[]): number {
  const slopes = points.flatMap((from, index) =>
    points.slice(index + 1).map((to) => (to.y - from.y) / (to.x - from.x)),
  )
  return spread(slopes).median
}

/** The smallest sample that is not exceeded by this share of them. */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)]!
}

/** Half of the samples are between these. */
export function quartiles(samples: readonly number[]): readonly [number, number] {
  return [percentile(samples, 0.25), percentile(samples, 0.75)]
}
