/** Finds options that do not exist. */

/** The first member of `given` that is not in `known`: misspelt, or from another framework. */
export function unknownOption(given: object, known: object): string | undefined {
  return Object.keys(given).find((option) => !Object.hasOwn(known, option))
}
