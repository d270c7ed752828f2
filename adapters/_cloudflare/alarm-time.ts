/** When an alarm can fire. */

/** An alarm that fires early is set again. */
const LATEST_ALARM_MS = 365 * 86_400_000

/** workerd refuses the year 1970 and times too far in the future. */
export function toAlarm(at: number): number {
  return Math.max(Math.min(at, Date.now() + LATEST_ALARM_MS), 1)
}
