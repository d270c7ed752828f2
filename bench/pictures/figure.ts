/** What was measured for one subject, and how it is written. */

export interface Figure {
  readonly label: string
  readonly median: number
  /** Half of the rounds were between these. Undefined where a run did not record them. */
  readonly quartiles?: readonly [number, number] | undefined
  readonly isOurs?: boolean
}

export function written(value: number): string {
  return value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(2)))
}

/** `mayfly 244 µs (215 to 290)`. */
export function described({ label, median, quartiles }: Figure, unit: string): string {
  const range = quartiles === undefined ? '' : ` (${quartiles.map(written).join(' to ')})`
  return `${label} ${written(median)} ${unit}${range}`
}

export const QUARTILES = 'Thin lines: the middle half of the measurements (quartiles).'
