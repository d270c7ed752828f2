/**
 * Objects without the members that are undefined: what a user left out is left out.
 */

/** Its members, where they are not undefined. */
export function present<Whole extends object>(
  members: { [Key in keyof Whole]: Whole[Key] | undefined },
): Whole {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Whole
}
