/** How long a fresh isolate takes to its first answer: each bundle in turn, each time in a fresh process. */
import type { Bundle } from './bundle.ts'
import { runChild } from './child.ts'

export interface ColdStart {
  readonly bundle: Bundle
  /** Milliseconds of `import`, one sample a process. */
  readonly importMs: readonly number[]
  /** Milliseconds from the start of `import` to the first answered `tools/call`, one sample a process. */
  readonly totalMs: readonly number[]
}

interface Sample {
  readonly importMs: number
  readonly totalMs: number
}

/** @throws Error when a first answer is wrong. */
export async function measureColdStart(
  bundles: readonly Bundle[],
  rounds: number,
): Promise<readonly ColdStart[]> {
  const samples = bundles.map((bundle) => ({ bundle, taken: [] as Sample[] }))
  for (let round = 0; round < rounds; round++) {
    for (const { bundle, taken } of samples) {
      const args = [bundle.path, JSON.stringify(bundle.dialect)]
      taken.push((await runChild('cold-start-sample.ts', { args, timeoutMs: 30_000 })) as Sample)
    }
  }
  return samples.map(({ bundle, taken }) => ({
    bundle,
    importMs: taken.map(({ importMs }) => importMs),
    totalMs: taken.map(({ totalMs }) => totalMs),
  }))
}
