/** Names derived from content: equal arguments, in any order of their members, have equal names. */
import { canonicalJson } from '../definition/canonical-json.ts'
import { digest, sha256 } from '../definition/digest.ts'
import { isObject } from '../definition/is-object.ts'

/** Characters of a digest in a key: 132 bits. */
const LENGTH = 22

export async function shortDigest(text: string): Promise<string> {
  return (await digest(text)).slice(0, LENGTH)
}

/**
 * Of a subscription: the same for the same caller, URL, event and arguments, at any time and in any process. The arguments are those that
 * were sent, not those that the schema returned: the specification compares them as JSON ("Subscription Identity"), so a client finds its
 * subscription again also after the schema has changed. What a schema drops or adds makes another subscription, within the quota.
 */
export async function subscriptionIdOf(
  owner: string,
  principal: string,
  url: string,
  name: string,
  args: unknown,
): Promise<string> {
  const text = JSON.stringify([owner, principal, url, name, canonicalJson(args)])
  const hash = await sha256(text)
  const hex = Array.from(hash.subarray(0, 16), (byte) => byte.toString(16).padStart(2, '0'))
  return `sub_${hex.join('')}`
}

/** Of subscriptions that want everything of an event. */
export const ALL = '-'

/** Of the arguments that are in the index: which of them are given, and their values. */
export async function patternOf(index: readonly string[], args: unknown): Promise<string> {
  const given = isObject(args) ? args : {}
  return toPattern(index.flatMap((name) => (given[name] == null ? [] : [[name, given[name]] as const])))
}

/** The patterns of all subscriptions that may want an event with this data: 2 to the power of the names in the index, at most. */
export async function patternsFor(index: readonly string[], data: unknown): Promise<string[]> {
  const given = isObject(data) ? data : {}
  let subsets: (readonly (readonly [string, unknown])[])[] = [[]]
  for (const name of index)
    if (given[name] != null)
      subsets = subsets.flatMap((subset) => [subset, [...subset, [name, given[name]] as const]])
  return Promise.all(subsets.map(toPattern))
}

/** Whether arguments and data have the same pattern, as far as the arguments are given. */
export function isInIndex(index: readonly string[], args: unknown, data: unknown): boolean {
  const [given, sent] = [isObject(args) ? args : {}, isObject(data) ? data : {}]
  return index.every(
    (name) => given[name] == null || canonicalJson(given[name]) === canonicalJson(sent[name] ?? null),
  )
}

async function toPattern(members: readonly (readonly [string, unknown])[]): Promise<string> {
  return members.length === 0 ? ALL : shortDigest(canonicalJson(members))
}
