/** A deterministic embedder for tests: words, hashed into a vector. */
export const DIMENSION = 64

export function embedText(text: string): number[] {
  const vector = new Array<number>(DIMENSION).fill(0)
  for (const word of text.toLowerCase().match(/[a-z0-9]+/g) ?? []) {
    let hash = 2166136261
    for (const character of word) hash = Math.imul(hash ^ character.charCodeAt(0), 16777619) >>> 0
    vector[hash % DIMENSION]! += 1
  }
  return vector
}

export const embed = (texts: readonly string[]): number[][] => texts.map(embedText)
