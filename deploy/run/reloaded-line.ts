/** What `mayfly dev` says of a change that it has taken. */
import { duration } from '../terminal/styles.ts'

export interface Reloaded {
  /** As a user would type them. */
  readonly files: readonly string[]
  readonly ms: number
  /** Undefined if they are unknown. */
  readonly tools: number | undefined
  /** How many there were before. */
  readonly before: number | undefined
}

/** `reloaded src/server.ts · 84 ms · 3 tools (+1)` */
export function reloadedLine({ files, ms, tools, before }: Reloaded): string {
  const [first, ...others] = files
  const what =
    first === undefined ? '' : ` ${first}${others.length === 0 ? '' : ` and ${others.length} more`}`
  return [`reloaded${what}`, duration(ms), ...(tools === undefined ? [] : [counted(tools, before)])].join(
    ' · ',
  )
}

function counted(tools: number, before = tools): string {
  const difference = tools - before
  const told = difference === 0 ? '' : ` (${difference > 0 ? '+' : '-'}${Math.abs(difference)})`
  return `${tools} ${tools === 1 ? 'tool' : 'tools'}${told}`
}
