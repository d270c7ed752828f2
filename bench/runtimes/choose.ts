/** What the words of a command line choose. */

/** All of them without `names`. @throws TypeError for a name that there is not. */
export function choose<T>(
  all: readonly T[],
  names: string | undefined,
  nameOf: (one: T) => string,
): readonly T[] {
  if (names === undefined || names === 'all') return all
  const wanted = names.split(',')
  const unknown = wanted.find((name) => !all.some((one) => nameOf(one) === name))
  if (unknown !== undefined) {
    const known = [...new Set(all.map(nameOf))].join(', ')
    throw new TypeError(
      `There is no "${unknown}" to measure: name some of ${known}, with commas and no spaces.`,
    )
  }
  return all.filter((one) => wanted.includes(nameOf(one)))
}
