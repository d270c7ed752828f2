/**
 * Members of a JSON object as text, without the braces: `"tools":[…],"nextCursor":"…"`. Lists are compiled to them once, so that
 * a request only joins texts. Other strings do not have this type: they are made here alone.
 */
declare const brand: unique symbol
export type JsonMembers = string & { readonly [brand]: true }

export const NO_MEMBERS = '' as JsonMembers

export function toMembers(object: object): JsonMembers {
  return membersOf(JSON.stringify(object))
}

/** Of an object that is JSON already. */
export function membersOf(json: string): JsonMembers {
  return json.slice(1, -1) as JsonMembers
}

/** For text that is put together from JSON by hand. */
export function asMembers(text: string): JsonMembers {
  return text as JsonMembers
}
