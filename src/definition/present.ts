/** Removes undefined members from objects, so that an undefined option counts as omitted. */

/** A copy with the members that are not undefined. */
export function present<Whole extends object>(
  members: { [Key in keyof Whole]: Whole[Key] | undefined },
): Whole {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Whole
}
