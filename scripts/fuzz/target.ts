/**
 * What is fuzzed: a function from an input to nothing, which rejects where a promise of ours is broken.
 */
import type { Random } from './random.ts'

/** Fields of text. Where a field stands for bytes, each of its characters is one (Latin-1). */
export type Input = readonly string[]

export interface Target {
  readonly name: string
  /** What fuzzing starts from. */
  readonly seeds: readonly Input[]
  /** A new input by the grammar of the target. */
  generate(random: Random): Input
  /** A changed `input`, perhaps with parts of `other`. */
  mutate(input: Input, other: Input, random: Random): Input
  /**
   * What came of it, in words that do not come from the input: a new outcome is as good as new code reached.
   *
   * @throws Finding where what was promised does not hold. Anything else that is thrown is a finding too.
   */
  run(input: Input): Promise<string> | string
}

/** A promise that was broken. */
export class Finding extends Error {
  override readonly name = 'Finding'
}

/** @throws Finding unless `isTrue`. */
export function promise(isTrue: boolean, broken: string): asserts isTrue {
  if (!isTrue) throw new Finding(broken)
}

/** UTF-8 bytes, one character each. */
export function toBytes(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1')
}

/** The text whose UTF-8 bytes these are; what is no UTF-8 comes out as U+FFFD. */
export function fromBytes(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('utf8')
}
