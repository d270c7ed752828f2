/** What fuzzing has found worth keeping, sent again: `npm run fuzz` looks for more. */
import { expect, it } from 'vitest'
import { readCorpus } from '../../scripts/fuzz/corpus.ts'
import { execute } from '../../scripts/fuzz/execute.ts'
import { TARGETS } from '../../scripts/fuzz/targets.ts'

it.each(TARGETS.map((target) => [target.name, target] as const))(
  '%s: seeds, corpus and findings of the past → every promise holds',
  async (_name, target) => {
    const { kept, regressions } = readCorpus(target)
    expect(kept.length).toBeGreaterThan(0)
    for (const input of [...target.seeds, ...regressions, ...kept]) {
      await expect(execute(target, input), JSON.stringify(input)).resolves.toBeTypeOf('string')
    }
  },
  60_000,
)
