/**
 * Changes to text and to JSON, as American Fuzzy Lop does them, with the protocol's words among what is put in.
 */
import { JSON_VALUES, KEYS, WORDS } from './dictionary.ts'
import type { Random } from './random.ts'

/** Longer fields are cut: they find nothing more, and people read the corpus. */
const MAX_CHARACTERS = 6000

type Change = (text: string, other: string, random: Random) => string

const CHANGES: readonly Change[] = [
  // A bit.
  (text, _other, random) => {
    if (text === '') return '\0'
    const at = random.int(text.length)
    const turned = text.charCodeAt(at) ^ (1 << random.int(8))
    return text.slice(0, at) + String.fromCharCode(turned) + text.slice(at + 1)
  },
  // A character.
  (text, _other, random) => {
    const at = random.int(text.length + 1)
    return text.slice(0, at) + String.fromCharCode(random.int(256)) + text.slice(at + random.int(2))
  },
  // Less.
  (text, _other, random) => {
    const at = random.int(text.length + 1)
    return text.slice(0, at) + text.slice(at + 1 + random.int(random.chance(0.5) ? 4 : text.length + 1))
  },
  // A word.
  (text, _other, random) => {
    const at = random.int(text.length + 1)
    return text.slice(0, at) + random.pick(WORDS) + text.slice(at + random.pick([0, 0, 1, 4]))
  },
  // More of the same.
  (text, _other, random) => {
    const at = random.int(text.length + 1)
    const part = text.slice(at, at + 1 + random.int(16))
    return text.slice(0, at) + part.repeat(1 + random.int(random.chance(0.1) ? 200 : 4)) + text.slice(at)
  },
  // A splice.
  (text, other, random) =>
    text.slice(0, random.int(text.length + 1)) + other.slice(random.int(other.length + 1)),
  // A number.
  (text, _other, random) =>
    text.replace(/\d+/, () =>
      random.pick(['0', '-1', '00', '1e400', '4294967296', '9007199254740993', '0.1']),
    ),
]

/** One to four changes. */
export function mutateText(text: string, other: string, random: Random): string {
  let changed = text
  for (let count = 1 + random.int(4); count > 0; count--)
    changed = random.pick(CHANGES)(changed, other, random)
  return changed.slice(0, MAX_CHARACTERS)
}

/** The same, where each character is a byte. */
export function mutateBytes(text: string, other: string, random: Random): string {
  const changed = mutateText(text, other, random)
  return /^[\0-\xff]*$/.test(changed) ? changed : Buffer.from(changed, 'utf8').toString('latin1')
}

/** JSON text, generated; `depth` is how much deeper it may go. */
export function generateJson(random: Random, depth = 3): string {
  if (depth === 0 || random.chance(0.5)) return random.pick(JSON_VALUES)
  const length = random.int(4)
  if (random.chance(0.3))
    return `[${Array.from({ length }, () => generateJson(random, depth - 1)).join(',')}]`
  const members = Array.from(
    { length },
    () => `${JSON.stringify(random.pick(KEYS))}:${generateJson(random, depth - 1)}`,
  )
  return `{${members.join(',')}}`
}

/** One JSON value in the text: a string, number, word, or an object or array without further nesting. */
const PIECE = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null|\{[^{}[\]]*\}|\[[^{}[\]]*\]/g

/** Puts another value, key or member into JSON text. The result is mostly still JSON. */
export function mutateJson(text: string, other: string, random: Random): string {
  const pieces = [...text.matchAll(PIECE)]
  if (pieces.length === 0) return generateJson(random)
  const { 0: piece, index } = random.pick(pieces)
  const before = text.slice(0, index)
  const after = text.slice(index + piece.length)
  const isKey = piece.startsWith('"') && after.startsWith(':')
  const others = other.match(PIECE) ?? ['null']
  if (isKey) {
    const key = JSON.stringify(random.pick(KEYS))
    return random.pick([
      `${before}${key}${after}`,
      `${before}${key}:${generateJson(random, 2)},${piece}${after}`,
      `${before}${piece}:${random.pick(others)},${piece}${after}`,
    ])
  }
  return random.pick([
    `${before}${generateJson(random, 2)}${after}`,
    `${before}${random.pick(others)}${after}`,
    `${before}[${piece}]${after}`,
    `${before}{"${random.pick(KEYS)}":${piece}}${after}`,
    `${before}${piece.startsWith('"') ? JSON.stringify(random.pick(WORDS)) : random.pick(JSON_VALUES)}${after}`,
  ])
}
