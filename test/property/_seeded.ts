/**
 * Property tests that come out the same every time: `FAST_CHECK_SEED=<n>` explores others, and a failure prints its seed
 * and the shrunk counterexample. `FAST_CHECK_SHRINK=no` leaves it as it was found, which is faster.
 */
import fc from 'fast-check'

const SEED = Number(process.env.FAST_CHECK_SEED ?? 20260728)

const endOnFailure = process.env.FAST_CHECK_SHRINK === 'no'

export async function check<Values extends unknown[]>(
  property: fc.IAsyncProperty<Values> | fc.IProperty<Values>,
  numRuns: number,
): Promise<void> {
  await fc.assert(property as fc.IAsyncProperty<Values>, {
    seed: SEED,
    numRuns,
    endOnFailure,
  })
}
