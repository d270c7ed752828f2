/**
 * Members of a JSON object as text, without the braces: `"tools":[…],"nextCursor":"…"`. Lists are compiled to this form once, so
 * that a request only joins strings. A branded type: only the functions here create it.
 */
declare const brand: unique symbol
export type JsonMembers = string & { readonly [brand]: true }

export const NO_MEMBERS = '' as JsonMembers

export function toMembers(object: object): JsonMembers {
  return JSON.stringify(object).slice(1, -1) as JsonMembers
}

/** Removes the braces of a JSON object. */
export function membersOf(json: string): JsonMembers {
  return json.slice(1, -1) as JsonMembers
}

/** Marks text that was assembled from JSON as members. */
export function asMembers(text: string): JsonMembers {
  return text as JsonMembers
}
