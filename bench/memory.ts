/** Whether the heap stays flat over many requests, aborted ones and calls that never settle included. */
import { runChild } from './child.ts'
import { robustSlope } from './statistics.ts'

export interface MemoryUse {
  readonly subject: 'mayfly' | 'control'
  /** Heap in use after collection (`y`, bytes) once so many requests were served (`x`). */
  readonly points: readonly { readonly x: number; readonly y: number }[]
  /** The slope of `points` by Theil and Sen, which neither late compilation nor a noisy sample can tilt. */
  readonly bytesPerRequest: number
}

/** @throws Error when a call that should be answered is not. */
export async function measureMemory(requests: number): Promise<readonly MemoryUse[]> {
  const uses: MemoryUse[] = []
  for (const subject of ['mayfly', 'control'] as const) {
    const points = (await runChild('memory-sample.ts', {
      args: [subject, String(requests)],
      // Compiled code is part of the heap, and discarding what is old would look like the opposite of a leak.
      nodeOptions: ['--expose-gc', '--no-flush-bytecode'],
      timeoutMs: 300_000,
    })) as MemoryUse['points']
    uses.push({ subject, points, bytesPerRequest: robustSlope(points) })
  }
  return uses
}
