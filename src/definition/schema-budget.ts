/**
 * A limit for the work of validating one value. A schema that refers to itself may look at each part of a value once for each way that
 * leads to it, of which there are exponentially many: two branches that both descend make 2ⁿ at depth n.
 */

/** Reads that any value may take, and how many more for each of its members (and for each 100 characters of a string). */
const FREE_READS = 10_000
const READS_PER_MEMBER = 16

/**
 * A copy of a JSON value that counts how often its members are read, so that time grows no faster than the value.
 *
 * @returns the copy, which throws at the limit.
 */
export function metered(value: unknown): unknown {
  let left = FREE_READS
  const spend = (reads: number): void => {
    left -= reads
    if (left < 0) throw new Error('Validating takes too long.')
  }
  const copy = (node: unknown): unknown => {
    left += READS_PER_MEMBER * costOf(node)
    if (node === null || typeof node !== 'object') return node
    const own: object = Array.isArray(node)
      ? node.map(copy)
      : Object.fromEntries(Object.entries(node).map(([name, child]) => [name, copy(child)]))
    return new Proxy(own, {
      get(target, name): unknown {
        const member: unknown = Reflect.get(target, name)
        spend(costOf(member))
        return member
      },
      ownKeys(target) {
        const names = Reflect.ownKeys(target)
        spend(names.length)
        return names
      },
    })
  }
  return copy(value)
}

function costOf(member: unknown): number {
  return 1 + (typeof member === 'string' ? member.length / 100 : 0)
}
