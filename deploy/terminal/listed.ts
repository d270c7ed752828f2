/** For messages: `/tasks`, `/tasks and /events`, or `a, b, and c`. */
export function listed(names: readonly string[]): string {
  return new Intl.ListFormat('en').format(names)
}
