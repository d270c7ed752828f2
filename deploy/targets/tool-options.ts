/** Options after `--`. If a deployment uses several tools or steps, each gets the options that it supports. */
import { UsageError } from '../terminal/cli-error.ts'

/** The options of `names` in `words`, each with its value, as written: `--region x` or `--region=x`. */
export function pickOptions(words: readonly string[], names: readonly string[]): string[] {
  return words.flatMap((word, at) => {
    const [name = ''] = word.split('=', 1)
    if (!names.includes(name)) return []
    const next = words[at + 1]
    return word === name && next !== undefined && !next.startsWith('-') ? [word, next] : [word]
  })
}

/** The value of the first option of `names` that is present. */
export function optionValue(words: readonly string[], names: readonly string[]): string | undefined {
  const [word = '', next] = pickOptions(words, names)
  return names.includes(word) ? next : word === '' ? undefined : word.slice(word.indexOf('=') + 1)
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
  const [given] = stage === undefined ? [] : pickOptions(extra, names)
  if (given === undefined) return
  const [option] = given.split('=', 1)
  throw new UsageError(`--stage ${stage} and ${option} both name a place: remove one of them`)
}
