/** Options that do not exist, of a configuration without a compiler beside it. */

/** The first member of `given` that is not in `known`: misspelt, or another kit's. */
export function unknownOption(given: object, known: object): string | undefined {
  return Object.keys(given).find((option) => !Object.hasOwn(known, option))
}
