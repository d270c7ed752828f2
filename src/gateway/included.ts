/** Whether an item of a server behind is served at all. */
import { isA } from '../definition/error-text.ts'
import type { GatewayItem } from './options.ts'
import type { Upstream } from './upstream.ts'

/** @throws TypeError if `include` returns neither true nor false: the item is left out, since nobody can tell whether it is meant. */
export function isIncluded({ server: { include } }: Upstream, item: GatewayItem): boolean {
  if (include === undefined) return true
  const answer: unknown = include(item)
  if (isA(answer, Promise)) answer.catch(() => {})
  if (typeof answer !== 'boolean') throw new TypeError('"include" returned neither true nor false')
  return answer
}
