/** Options after `--`. If a deployment uses several tools or steps, each gets the options that it supports. */
import { UsageError } from '../terminal/cli-error.ts'

/** The options of `names` in `words`, each with its value, as written: `--region x`, `--region=x`, `-s x` or `-sx`. */
export function pickOptions(words: readonly string[], names: readonly string[]): string[] {
  return words.flatMap((word, at) => {
    const name = nameIn(word, names)
    if (name === undefined) return []
    const next = words[at + 1]
    return word === name && next !== undefined && !next.startsWith('-') ? [word, next] : [word]
  })
}

/** The value of the last option of `names` that is present, which is the one that the tools use. */
export function optionValue(words: readonly string[], names: readonly string[]): string | undefined {
  const picked = pickOptions(words, names)
  const at = picked.findLastIndex((word) => nameIn(word, names) !== undefined)
  const word = picked[at] ?? ''
  const name = nameIn(word, names) ?? ''
  return word === name ? picked[at + 1] : word.slice(name.length).replace(/^=/, '')
}

/** The option that a word is. A single letter may have its value attached. */
function nameIn(word: string, names: readonly string[]): string | undefined {
  const [whole = ''] = word.split('=', 1)
  if (names.includes(whole)) return whole
  const letter = /^-[A-Za-z]/.exec(word)?.[0]
  return letter !== undefined && names.includes(letter) ? letter : undefined
}

/** The other words. */
export function withoutOptions(words: readonly string[], names: readonly string[]): string[] {
  const picked = pickOptions(words, names)
  return words.filter((word) => {
    if (picked[0] !== word) return true
    picked.shift()
    return false
  })
}

/** Throws `UsageError` if an option for the tool names a place, which `--stage` does. */
export function refusePlaceOptions(
  stage: string | undefined,
  extra: readonly string[],
  names: readonly string[],
): void {
  if (stage === undefined) return
  const option = extra.flatMap((word) => nameIn(word, names) ?? groupedIn(word, names) ?? []).at(0)
  if (option === undefined) return
  throw new UsageError(`--stage ${stage} and ${option} both name a place: remove one of them`)
}

/** Several letters in one word, such as `-op`, may be as many options. Which of them have values is the tool's to know. */
function groupedIn(word: string, names: readonly string[]): string | undefined {
  const letters = /^-([A-Za-z]{2,})/.exec(word)?.[1] ?? ''
  return [...letters].map((letter) => `-${letter}`).find((option) => names.includes(option))
}
