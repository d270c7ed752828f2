/** Times of a server, as text. */
import { element } from './dom.ts'
import { clip } from './json.ts'

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
] as const
/** The farthest time that a date can have (ECMA-262 §21.4.1.1). */
const MAX_TIME = 8.64e15

/** Milliseconds since the epoch, of an ISO 8601 time or a number. Undefined for what is neither. */
export function timeOf(value: unknown): number | undefined {
  const at = typeof value === 'string' ? Date.parse(value.slice(0, 100)) : value
  return typeof at === 'number' && Math.abs(at) <= MAX_TIME ? at : undefined
}

/** Such as `3 minutes ago` or `in 2 hours`; the value itself if it is not a time. */
export function fromNow(value: unknown, now: number): string {
  const at = timeOf(value)
  if (at === undefined) return value === undefined || value === null ? 'never' : clip(String(value), 100)
  const [unit, length] = UNITS.find(([, ms]) => Math.abs(at - now) >= ms) ?? UNITS[3]
  return new Intl.RelativeTimeFormat('en').format(Math.round((at - now) / length), unit)
}

/** The time in full, in UTC, and how far away it is. */
export function timeElement(value: unknown): HTMLElement {
  const at = timeOf(value)
  const away = fromNow(value, Date.now())
  if (at === undefined) return element('span', {}, away)
  const iso = new Date(at).toISOString()
  return element('time', { datetime: iso }, `${iso.replace('T', ' ').replace('Z', ' UTC')} (${away})`)
}
