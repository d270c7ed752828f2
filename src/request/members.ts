/** Members of a context besides its own, which tools written for another framework read. */
import type { Context } from './context.ts'

/** What reading each member returns. */
export type Members = { readonly [name: string]: (this: Context) => unknown }

/** Adds the members to a context. Those that it has already are kept: a caller has set them. */
export function addMembers(context: Context, members: Members): void {
  for (const [name, get] of Object.entries(members)) {
    // The same getters for every context, so that all of them share a hidden class. Not enumerable, as those of the class.
    if (!Object.hasOwn(context, name)) Object.defineProperty(context, name, { get, configurable: true })
  }
}
