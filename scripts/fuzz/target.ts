/**
 * A fuzz target: a function that runs an input, and rejects if one of our promises is broken.
 */
import type { Random } from './random.ts'

/** Fields of text. If a field represents bytes, each character is one byte (Latin-1). */
export type Input = readonly string[]

export interface Target {
  readonly name: string
  /** The inputs that fuzzing starts from. */
  readonly seeds: readonly Input[]
  /** A new input by the grammar of the target. */
  generate(random: Random): Input
  /** A changed `input`, perhaps with parts of `other`. */
  mutate(input: Input, other: Input, random: Random): Input
  /**
   * The outcome, in words that do not come from the input: a new outcome counts like new code reached.
   *
   * @throws Finding if a promise is broken. Anything else that is thrown is a finding, too.
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

/** Decodes these UTF-8 bytes; invalid bytes become U+FFFD. */
export function fromBytes(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('utf8')
}
