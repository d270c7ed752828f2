/**
 * Random choices that a seed repeats (mulberry32).
 */

export interface Random {
  /** From 0 up to, and not including, `limit`. */
  int(limit: number): number
  pick<T>(list: readonly T[]): T
  /** True with this probability. */
  chance(probability: number): boolean
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const int = (limit: number): number => Math.floor(next() * limit)
  return { int, pick: (list) => list[int(list.length)]!, chance: (probability) => next() < probability }
}
