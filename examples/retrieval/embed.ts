/**
 * An embedder that needs no model and no network: the words of a text and their parts, hashed into a vector. It finds texts that share
 * words with the question, also in another form, but no synonyms. With an account, pass a model instead:
 * `model: 'openai/text-embedding-3-small'`.
 */

const DIMENSIONS = 512

/** Words that say nothing about what a text is about. */
const STOP_WORDS = new Set(
  `a about all also an and any are as at be been but by can do does every for from has have how i if in into is it its make more my not of on
  one only or other set so than that the their them then there these they this to use used was what when where which who why will with
  without you your`.split(/\s+/),
)

/** How much the parts of a word count beside it: enough to find `deploying` by `deployment`. */
const PART_WEIGHT = 0.3

export default function embed(texts: readonly string[]): number[][] {
  return texts.map(embedText)
}

function embedText(text: string): number[] {
  const counts = new Map<string, number>()
  const add = (feature: string, weight: number): void =>
    void counts.set(feature, (counts.get(feature) ?? 0) + weight)
  const words = (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).filter((word) => !STOP_WORDS.has(word))
  for (const word of words) {
    add(stemOf(word), 1)
    for (let at = 0; at + 4 <= word.length; at++) add(`#${word.slice(at, at + 4)}`, PART_WEIGHT)
  }
  const vector = new Array<number>(DIMENSIONS).fill(0)
  for (const [feature, count] of counts) {
    const hash = hashOf(feature)
    // A sign by the hash, so that features in the same place do not only add up.
    vector[hash % DIMENSIONS]! += (hash >>> 31 === 0 ? 1 : -1) * (count < 1 ? count : 1 + Math.log(count))
  }
  return vector
}

/** `sessions` and `session`, `cached` and `caching`. */
function stemOf(word: string): string {
  return word.length < 5 ? word : word.replace(/(?:ies|ing|ed|es|s|ion|ions)$/, '')
}

/** FNV-1a, with a last mixing so that every bit counts. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  return (hash ^ (hash >>> 13)) >>> 0
}
