/** What a call allocates: the collector's work, which a fast moment does not show. */
import { runChild } from './child.ts'
import { PEERS } from './peers/peers.ts'

export interface Allocation {
  readonly name: string
  readonly era: string
  /** On JavaScript's heap, from `new Request` to the text of the answer: the client's side is in it. */
  readonly bytesPerCall: number
}

export async function measureAllocations(): Promise<readonly Allocation[]> {
  const allocations: Allocation[] = []
  for (const [index, { name, dialect }] of PEERS.entries()) {
    const bytesPerCall = (await runChild('allocation-sample.ts', {
      args: [String(index)],
      nodeOptions: ['--expose-gc', '--min-semi-space-size=512', '--max-semi-space-size=512'],
      timeoutMs: 120_000,
    })) as number
    allocations.push({ name, era: dialect.era, bytesPerCall })
  }
  return allocations
}
