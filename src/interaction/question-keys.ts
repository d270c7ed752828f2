/** The keys of the questions of one call: names on the wire that are the same in every round. */
import { digest } from '../definition/digest.ts'

/** Characters of the digest in a question's key: more than 128 bits. */
const KEY_LENGTH = 22

/** The end of every key that we create. */
const OUR_KEY = /[\w-]{22}/

/** Whether we may have created it; responses under other keys are ignored. */
export function isOurKey(key: string): boolean {
  return OUR_KEY.test(key.slice(-KEY_LENGTH))
}

/**
 * Resolves with the key of a question on the wire, from its content and how often that was asked before. An answer only counts for its own
 * question, and the order of questions does not matter.
 *
 * @throws TypeError for a key that was already used.
 */
export type KeyOf = (key: string | undefined, text: string) => Promise<string>

/** @param during Does work during which the call is not suspended. */
export function createQuestionKeys(during: (work: () => Promise<string>) => Promise<string>): KeyOf {
  const used = new Set<string>()
  /** How often each question was asked, by its content. */
  const occurrences = new Map<string, number>()
  let lastDigest: Promise<unknown> = Promise.resolve()
  return async (key, text) => {
    if (key !== undefined) {
      if (used.has(key))
        throw new TypeError(
          `Question "${key}" was already asked in this call: give each question a different key.`,
        )
      used.add(key)
    }
    const occurrence = occurrences.get(text) ?? 0
    occurrences.set(text, occurrence + 1)
    // One after another, so that a tool continues in the same order in every round.
    const digested = lastDigest.then(() => digest(text))
    lastDigest = digested
    const name = (await during(() => digested)).slice(0, KEY_LENGTH)
    if (key !== undefined) return `${key}-${name}`
    return occurrence === 0 ? name : `${name}-${occurrence}`
  }
}
