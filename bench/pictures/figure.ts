/** What was measured for one subject, and how it is written. */

export interface Figure {
  readonly label: string
  readonly median: number
  /** Half of the rounds were between these. Undefined where a run did not record them. */
  readonly quartiles?: readonly [number, number] | undefined
  /** The fastest round. */
  readonly fastest?: number | undefined
  readonly isOurs?: boolean
}

export function written(value: number): string {
  return value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(2)))
}

/** `mayfly 244 µs (215 to 290)`. */
export function described(figure: Figure, unit: string, spread?: Spread): string {
  const range = spread === undefined ? '' : ` (${spread.of(figure).map(written).join(' to ')})`
  return `${figure.label} ${written(figure.median)} ${unit}${range}`
}

/** How far the rounds were from each other: without it a median reads as exact. */
export interface Spread {
  readonly of: (figure: Figure) => readonly [number, number]
  /** In the description. */
  readonly name: string
  readonly note: string
}

/** Quartiles, or the fastest rounds where not all figures have them. Undefined where nothing was recorded. */
export function spreadOf(figures: readonly Figure[]): Spread | undefined {
  if (figures.every(({ quartiles }) => quartiles !== undefined)) {
    return {
      of: ({ quartiles }) => quartiles!,
      name: 'quartiles',
      note: 'Thin lines: the middle half of the measurements (quartiles).',
    }
  }
  if (figures.some(({ fastest }) => fastest === undefined)) return undefined
  return {
    of: ({ fastest, median }) => [fastest!, median],
    name: 'the fastest round and the median',
    note: 'Thin lines: from the fastest round to the median.',
  }
}
